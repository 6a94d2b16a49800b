import { walkList } from "@xdstp/core/wire";
import { cluster, envoyTypes, lbEndpoint, listener } from "@xdstp/resource-types";
import { readRedirect } from "@xdstp/protos/xds";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { Answer } from "../harness/answer.ts";
import type { World } from "../harness/create-world.ts";
import { inlineEntry, listOf, locatorEntry, locatorOf } from "../harness/list-payloads.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { payloadOf } from "../harness/payload.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, isDelta } from "../harness/variant.ts";

const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";
const reads = {
  node: {
    id: "n",
    clientFeatures: [
      "xds.config.supports-resource-in-sotw",
      "xds.endpoint.supports_lb_endpoint_collection",
    ],
  },
};
const forEnvoy = { types: envoyTypes };
const collectionType = "type.googleapis.com/envoy.config.listener.v3.ListenerCollection";
const listName = "xdstp://a/envoy.config.listener.v3.ListenerCollection/all?some=thing";
const listed = (name: string): Uint8Array => inlineEntry(name, listener.typeUrl, payloadOf(name));
const located = locatorEntry("b", "envoy.config.listener.v3.Listener", "far");

function putList(world: World, ...entries: readonly Uint8Array[]): void {
  world.cache.put({ typeUrl: collectionType, name: listName, value: listOf(...entries) });
}

/** Returns the entries of the list in the only resource of an answer. */
function listedIn({ resources }: Answer): readonly string[] {
  const listed: string[] = [];
  const fault = walkList(
    resources[0]?.payload ?? new Uint8Array([255]),
    listener.typeUrl,
    (entry) => {
      listed.push(entry.kind === "inline" ? entry.name : entry.kind);
      return undefined;
    },
  );
  return fault === undefined ? listed : [fault.text];
}

/** A member of a glob, which its list has too. */
const member = (id: string): string => `xdstp://a/envoy.config.listener.v3.Listener/x/${id}`;
const glob = member("*");

runCases("list collections", [
  ...[listener, cluster, lbEndpoint].flatMap(({ typeUrl, collectionTypeUrl = "" }) =>
    [1, 3].map((count) => ({
      rules: ["B-LIST-1", "S-LIST-2", "S-LIST-10"],
      title: `serves a ${collectionTypeUrl.slice("type.googleapis.com/".length)} of ${count} as it is, under the very name that was asked`,
      world: forEnvoy,
      run(world: World) {
        const type = collectionTypeUrl.slice("type.googleapis.com/".length);
        const asked = `xdstp://a/${type}/all?b=2&a=1`;
        const entries = Array.from({ length: count }, (_, n) =>
          inlineEntry(`e${n}`, typeUrl, payloadOf(`e${n}`)),
        );
        world.cache.put({
          typeUrl: collectionTypeUrl,
          name: `xdstp://a/${type}/all?a=1&b=2`,
          value: listOf(...entries),
        });
        if (typeUrl === lbEndpoint.typeUrl && world.variant === "sotw/per-type") return; // there is no such method (B-STREAM-2)
        for (const askedAs of [typeUrl, collectionTypeUrl]) {
          const [answer] = begin(world, world.connect(reads).of(askedAs), asked);
          expect(answer).toMatchObject({
            typeUrl: askedAs,
            resources: [
              {
                name: asked,
                wrapped: true,
                payloadTypeUrl: collectionTypeUrl,
                payload: listOf(...entries),
              },
            ],
            removed: [],
          });
        }
      },
    })),
  ),
  {
    rules: ["S-LIST-10", "B-LIST-3"],
    title: "sends the whole list with each change of one entry, be entries inline or located",
    world: forEnvoy,
    run(world) {
      putList(world, listed("a"), listed("b"));
      const client = world.connect(reads).of(listener.typeUrl);
      expect(begin(world, client, listName).map(listedIn)).toEqual([["a", "b"]]);
      putList(world, listed("a"), located, listed("c"));
      expect(acceptAll(world, client).map(listedIn)).toEqual([["a", "locator", "c"]]);
    },
  },
  {
    rules: ["S-LIST-11"],
    title: "says that a list is gone by its name, and that it is empty by a list without members",
    variants: deltaVariants,
    world: forEnvoy,
    run(world) {
      putList(world, listed("a"));
      const client = world.connect(reads).of(listener.typeUrl);
      begin(world, client, listName);
      putList(world);
      const [empty] = acceptAll(world, client);
      expect(empty).toMatchObject({
        names: [listName],
        removed: [],
        resources: [{ hasBody: true }],
      });
      expect(empty === undefined ? [] : listedIn(empty)).toEqual([]);
      world.remove(collectionType, listName);
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [listName] }]);
    },
  },
  ...[
    {
      rule: "B-LIST-3",
      fault: "an entry that is neither a locator nor inline",
      entries: [new Uint8Array([10, 0])],
      says: "is neither a locator nor inline",
    },
    {
      rule: "B-LIST-4",
      fault: "a name twice",
      entries: [listed("a"), listed("a")],
      says: "for a second time",
    },
    {
      rule: "B-LIST-4",
      fault: "an entry of another type",
      entries: [inlineEntry("a", cluster.typeUrl, payloadOf("a"))],
      says: "has a payload of type",
    },
  ].map(({ rule, fault, entries, says }) => ({
    rules: [rule],
    title: `rejects a list with ${fault}, and goes on serving what was there`,
    world: forEnvoy,
    run(world: World) {
      putList(world, listed("good"));
      expect(() => {
        putList(world, ...entries);
      }).toThrow(says);
      expect(
        begin(world, world.connect(reads).of(listener.typeUrl), listName).map(listedIn),
      ).toEqual([["good"]]);
    },
  })),
  {
    rules: ["S-GLOB-12", "S-LIST-10"],
    title: "offers the same resources as a list and as a glob, side by side",
    world: forEnvoy,
    run(world) {
      for (const id of ["1", "2"]) world.put(listener.typeUrl, member(id));
      putList(
        world,
        ...["1", "2"].map((id) => inlineEntry(id, listener.typeUrl, payloadOf(member(id)))),
      );
      const client = world.connect(reads).of(listener.typeUrl);
      const [both] = begin(world, client, glob, listName);
      expect([...(both?.names ?? [])].sort()).toEqual([member("1"), member("2"), listName].sort());
      world.put(listener.typeUrl, member("3"));
      const [third] = acceptAll(world, client);
      expect(third?.names).toContain(member("3"));
      if (isDelta(world.variant)) expect(third?.names).toEqual([member("3")]);
    },
  },
]);

const redirect = (id: string): Uint8Array => locatorOf("b", "test.Part", id);

runCases("redirects", [
  ...[PART, FULL].map((typeUrl) => ({
    rules: ["S-REDIR-7"],
    title: `serves a redirect of a ${typeUrl} as an ordinary resource with a version of its own, and several names may lead to one`,
    run(world: World) {
      for (const name of ["one", "two"])
        world.cache.put({
          typeUrl,
          name,
          value: redirect("there"),
          payloadTypeUrl: REDIRECT,
          version: `${name} v1`,
        });
      const client = world.connect(reads).of(typeUrl);
      const [answer] = begin(world, client, "one", "two");
      expect(
        answer?.resources.map(({ name, version, payloadTypeUrl }) => [
          name,
          version,
          payloadTypeUrl,
        ]),
      ).toEqual([
        ["one", "one v1", REDIRECT],
        ["two", "two v1", REDIRECT],
      ]);
      expect(answer?.resources.map(({ payload }) => readRedirect(payload))).toMatchObject([
        { ok: true },
        { ok: true },
      ]);
      world.cache.put({
        typeUrl,
        name: "one",
        value: redirect("elsewhere"),
        payloadTypeUrl: REDIRECT,
        version: "one v2",
      });
      const [moved] = acceptAll(world, client);
      expect(moved?.resources.filter(({ version }) => version !== "two v1")).toMatchObject([
        { name: "one", version: "one v2", payload: redirect("elsewhere") },
      ]);
      world.put(typeUrl, "one", "here");
      expect(
        acceptAll(world, client)[0]?.resources.filter(({ name }) => name === "one"),
      ).toMatchObject([{ payloadTypeUrl: typeUrl, text: "here" }]);
    },
  })),
  {
    rules: ["S-REDIR-7"],
    title: "says that a redirect is gone by its own name",
    variants: deltaVariants,
    run(world) {
      world.cache.put({
        typeUrl: PART,
        name: "one",
        value: redirect("there"),
        payloadTypeUrl: REDIRECT,
      });
      const client = world.connect().of(PART);
      begin(world, client, "one");
      world.remove(PART, "one");
      expect(acceptAll(world, client)).toMatchObject([{ removed: ["one"] }]);
    },
  },
  {
    rules: ["B-GLOB-11"],
    title: "may answer a glob with single members redirected; the glob itself can be none",
    run(world) {
      const [name, other] = ["1", "2"].map((id) => `xdstp://a/test.Full/x/${id}`);
      world.cache.put({
        typeUrl: FULL,
        name: name ?? "",
        value: locatorOf("b", "test.Full", "there"),
        payloadTypeUrl: REDIRECT,
      });
      world.put(FULL, other ?? "", "here");
      const [answer] = begin(world, world.connect(reads).of(FULL), "xdstp://a/test.Full/x/*");
      expect(answer?.resources).toMatchObject([
        { name, payloadTypeUrl: REDIRECT, wrapped: true },
        { name: other, text: "here" },
      ]);
      expect(() => {
        world.cache.put({
          typeUrl: FULL,
          name: "xdstp://a/test.Full/x/*",
          value: locatorOf("b", "test.Full", "y/*"),
          payloadTypeUrl: REDIRECT,
        });
      }).toThrow("makes it a glob");
    },
  },
]);
