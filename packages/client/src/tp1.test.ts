import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { encodeNode } from "@xdstp/bootstrap";
import { createCache } from "@xdstp/cache";
import { createFederation, createSources } from "@xdstp/federation";
import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";
import {
  CollectionEntrySchema,
  ListCollectionSchema,
  ResourceLocatorSchema,
} from "@xdstp/protos/xds";
import { createServer } from "@xdstp/server";
import type { RawServer } from "@xdstp/testing";
import {
  messageFromLocator,
  nameFromMessage,
  parseLocator,
  parseName,
  printName,
  sameName,
} from "@xdstp/uri";
import { describe, expect, it, onTestFinished } from "vitest";

import { turn, useDeltaScript, type Script, type ScriptOptions } from "../test/use-script.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import { createChannels, parseBootstrap } from "./index.ts";

// The sections of TP1, "xdstp:// structured resource naming, caching and federation support", with
// the titles of TP1.

const listenerUrl = "type.googleapis.com/envoy.config.listener.v3.Listener";
const listUrl = "type.googleapis.com/envoy.config.listener.v3.ListenerCollection";
const endpointsUrl = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const redirectUrl = "type.googleapis.com/xds.core.v3.ResourceLocator";
const listener = (id: string): string =>
  `xdstp://some-authority/envoy.config.listener.v3.Listener/${id}`;
const list = (id: string): string =>
  `xdstp://some-authority/envoy.config.listener.v3.ListenerCollection/${id}`;

/** Creates one server for each authority. */
function useAuthorities(
  authorities: readonly string[],
  options: ScriptOptions = {},
): Script<RawServer<"delta">> {
  const plain = (index: number): object => ({
    xds_servers: [{ server_uri: `s${String(index)}`, channel_creds: [{ type: "insecure" }] }],
  });
  return useDeltaScript(
    {
      ...options,
      bootstrapMore: {
        authorities: Object.fromEntries(
          authorities.map((authority, index) => [authority, plain(index)]),
        ),
      },
    },
    authorities.length,
  );
}

/** Returns the names that were subscribed and unsubscribed since the previous call. */
async function asked(server: RawServer<"delta"> | undefined): Promise<readonly string[]> {
  await turn();
  return (
    server
      ?.rest()
      .flatMap(({ resourceNamesSubscribe, resourceNamesUnsubscribe }) => [
        ...resourceNamesSubscribe,
        ...resourceNamesUnsubscribe.map((name) => `-${name}`),
      ]) ?? []
  );
}

interface Given {
  readonly name: string;
  readonly version: string;
  readonly typeUrl: string;
  readonly value: Uint8Array;
}
let nonce = 0;

async function give(
  server: RawServer<"delta"> | undefined,
  typeUrl: string,
  resources: readonly Given[],
  removedResources: readonly string[] = [],
): Promise<void> {
  nonce++;
  server?.send({
    typeUrl,
    nonce: String(nonce),
    removedResources: [...removedResources],
    resources: resources.map(({ name, version, typeUrl: payload, value }) => ({
      name,
      version,
      resource: { typeUrl: payload, value },
    })),
  });
  await turn();
}

function ofListener(id: string, version = "1", query = ""): Given {
  return {
    name: `${listener(id)}${query}`,
    version,
    typeUrl: listenerUrl,
    value: toBinary(ListenerSchema, create(ListenerSchema, { name: id })),
  };
}

function ofEndpoints(name: string, clusterName: string): Given {
  return {
    name,
    version: "1",
    typeUrl: endpointsUrl,
    value: toBinary(
      ClusterLoadAssignmentSchema,
      create(ClusterLoadAssignmentSchema, { clusterName }),
    ),
  };
}

function locatorMessage(to: string): MessageInitShape<typeof ResourceLocatorSchema> {
  const parsed = parseLocator(to);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const {
    id = "",
    authority = "",
    resourceType = "",
    exactContext,
  } = messageFromLocator(parsed.value);
  return {
    id,
    authority,
    resourceType,
    contextParamSpecifier: { case: "exactContext", value: { params: { ...exactContext?.params } } },
  };
}

type Entry =
  | { readonly locator: string }
  | { readonly name?: string; readonly version: string; readonly id: string };

function ofList(id: string, version: string, entries: readonly Entry[]): Given {
  const messages = entries.map((entry) =>
    create(CollectionEntrySchema, {
      resourceSpecifier:
        "locator" in entry
          ? { case: "locator", value: locatorMessage(entry.locator) }
          : {
              case: "inlineEntry",
              value: {
                name: entry.name ?? "",
                version: entry.version,
                resource: { typeUrl: listenerUrl, value: ofListener(entry.id).value },
              },
            },
    }),
  );
  return {
    name: list(id),
    version,
    typeUrl: listUrl,
    value: toBinary(ListCollectionSchema, create(ListCollectionSchema, { entries: messages })),
  };
}

describe("TP1: xdstp:// structured resource naming, caching and federation support", () => {
  describe("Background", () => {
    it("Caching & Scalability", async () => {
      const { client, server } = useAuthorities(["some-authority"]);
      const seen: string[] = [];
      for (const attempt of [1, 2])
        void (async () => {
          for await (const { version } of client.watch(ListenerSchema, listener("foo")))
            seen.push(`${String(attempt)}: ${version}`);
        })();
      expect(await asked(server)).toEqual([listener("foo")]);
      await give(server, listenerUrl, [ofListener("foo", "42-a")]);
      expect(seen).toEqual(["1: 42-a", "2: 42-a"]);
    });

    it("Federation", async () => {
      const { client, servers } = useAuthorities(["cloud", "on-premise"]);
      const names = ["cloud", "on-premise"].map(
        (authority) => `xdstp://${authority}/envoy.config.endpoint.v3.ClusterLoadAssignment/foo`,
      );
      for (const name of names) client.watch(ClusterLoadAssignmentSchema, name);
      expect(await Promise.all(servers.map(asked))).toEqual(names.map((name) => [name]));
    });

    it("Aliasing", async () => {
      const { client, server } = useAuthorities(["some-authority"]);
      const reads = ["routeConfigA/foo.com", "routeConfigA/bar.com"].map((id) =>
        client.read(ListenerSchema, listener(id)),
      );
      await asked(server);
      const canonical = listener("canonical");
      const leads = ["foo.com", "bar.com"].map((host) => ({
        name: listener(`routeConfigA/${host}`),
        version: "1",
        typeUrl: redirectUrl,
        value: toBinary(
          ResourceLocatorSchema,
          create(ResourceLocatorSchema, locatorMessage(canonical)),
        ),
      }));
      await give(server, listenerUrl, leads);
      expect(await asked(server)).toEqual([canonical]);
      await give(server, listenerUrl, [ofListener("canonical")]);
      expect((await Promise.all(reads)).map(({ name, value }) => [name, value.name])).toEqual([
        [listener("routeConfigA/foo.com"), "canonical"],
        [listener("routeConfigA/bar.com"), "canonical"],
      ]);
    });
  });

  describe("Proposal", () => {
    const example =
      "xdstp://some.control.plane/envoy.config.route.v3.RouteConfiguration/foo/bar?shard_id=1234&direction=inbound";

    it("URI-based xDS resource names", () => {
      const parsed = parseName(example);
      expect(parsed.ok && parsed.value).toMatchObject({
        authority: "some.control.plane",
        resourceType: "envoy.config.route.v3.RouteConfiguration",
        id: "foo/bar",
        contextParams: new Map([
          ["shard_id", "1234"],
          ["direction", "inbound"],
        ]),
      });
      const locator = parseLocator(`${example}#entry=some_entry,alt=xdstp://other/t/x`);
      expect(locator.ok && locator.value.directives.map(({ kind }) => kind)).toEqual([
        "entry",
        "alt",
      ]);
      expect([
        parseName(`${example}#entry=n`).ok,
        parseLocator(`${example}#entry=n,entry=m`).ok,
      ]).toEqual([false, false]);
    });

    it("Proto3 expression", () => {
      const parsed = parseLocator(`${example}#alt=xdstp://other/t/x`);
      const message = parsed.ok ? messageFromLocator(parsed.value) : undefined;
      expect(message).toMatchObject({
        authority: "some.control.plane",
        resourceType: "envoy.config.route.v3.RouteConfiguration",
        id: "foo/bar",
        exactContext: { params: { shard_id: "1234", direction: "inbound" } },
        directives: [{ alt: { authority: "other" } }],
      });
      const back = nameFromMessage({
        authority: "a",
        resourceType: "t",
        id: "x",
        context: { params: { k: "v" } },
      });
      expect(back.ok && printName(back.value)).toBe("xdstp://a/t/x?k=v");
    });

    it("Normalization", () => {
      expect(
        sameName(
          example,
          "xdstp://some.control.plane/envoy.config.route.v3.RouteConfiguration/foo/bar?direction=inbound&shard_id=1234",
        ),
      ).toBe(true);
      expect(
        sameName(
          example,
          "xdstp://some.control.plane/envoy.config.route.v3.RouteConfiguration/foo/bar",
        ),
      ).toBe(false);
    });

    it("Context parameters", async () => {
      const { client, server } = useAuthorities(["some-authority"]);
      client.watch(ListenerSchema, `${listener("foo")}?bar=baz`, {
        attributes: { vip: "96.54.3.1" },
      });
      expect(await asked(server)).toEqual([
        `${listener("foo")}?bar=baz&xds.resource.vip=96.54.3.1`,
      ]);
      expect(() => client.watch(ListenerSchema, `${listener("foo")}?xds.bar=baz`)).toThrow(
        "reserved",
      );
    });

    describe("Collections", () => {
      it("List", async () => {
        const { client, server } = useAuthorities(["some-authority"]);
        const watch = client.watchList(ListenerSchema, `${list("foo")}?some=thing`);
        const changes = watch[Symbol.asyncIterator]();
        expect(await asked(server)).toEqual([`${list("foo")}?some=thing`]);
        await give(server, listUrl, [
          {
            ...ofList("foo", "1", [{ locator: listener("bar") }, { locator: listener("baz") }]),
            name: `${list("foo")}?some=thing`,
          },
        ]);
        expect(await asked(server)).toEqual([listener("bar"), listener("baz")]);
        await give(server, listenerUrl, [ofListener("bar"), ofListener("baz")]);
        let change = (await changes.next()).value;
        while (change?.complete === false) change = (await changes.next()).value;
        expect(change?.members.map(({ name, value }) => [name, value?.name])).toEqual([
          [listener("bar"), "bar"],
          [listener("baz"), "baz"],
        ]);
      });

      it("Glob", async () => {
        const { client, server } = useAuthorities(["some-authority"]);
        const changes = client
          .watchAll(ListenerSchema, listener("foo/*?some=thing"))
          [Symbol.asyncIterator]();
        client.watchAll(ListenerSchema, listener("some/longer/path/*"));
        expect(await asked(server)).toEqual([
          listener("foo/*?some=thing"),
          listener("some/longer/path/*"),
        ]);
        await give(server, listenerUrl, [
          ofListener("foo/bar", "1", "?some=thing"),
          ofListener("foo/bar", "1"),
        ]);
        expect((await changes.next()).value?.added.map(({ name }) => name)).toEqual([
          listener("foo/bar?some=thing"),
        ]);
        await give(server, listenerUrl, [], [listener("foo/*?some=thing")]);
        expect((await changes.next()).value).toMatchObject({
          removed: [listener("foo/bar?some=thing")],
          complete: true,
        });
      });
    });

    it("Transport network addressing", async () => {
      const { client, servers } = useAuthorities(["some-authority", "other-authority"]);
      client.watch(ListenerSchema, listener("foo"));
      client.watch(
        ClusterLoadAssignmentSchema,
        "xdstp://some-authority/envoy.config.endpoint.v3.ClusterLoadAssignment/foo",
      );
      client.watch(ListenerSchema, "xdstp://other-authority/envoy.config.listener.v3.Listener/foo");
      const unknown = client.read(
        ListenerSchema,
        "xdstp://unheard-of/envoy.config.listener.v3.Listener/foo",
      );
      await expect(unknown).rejects.toThrow(
        'no server is configured for the authority "unheard-of"',
      );
      await turn();
      expect(servers.map(({ streams }) => streams)).toEqual([1, 1]);
      expect((await asked(servers[0])).length).toBe(2);
    });

    it("Discovery request and responses", async () => {
      const { client, server } = useAuthorities(["some-authority"]);
      const changes = client.watchList(ListenerSchema, list("everything"))[Symbol.asyncIterator]();
      await asked(server);
      await give(server, listUrl, [
        ofList("everything", "1", [
          { name: "a", version: "1", id: "a" },
          { name: "b", version: "1", id: "b" },
        ]),
      ]);
      expect((await changes.next()).value?.members.map(({ value }) => value?.name)).toEqual([
        "a",
        "b",
      ]);
      await give(server, listUrl, [
        ofList("everything", "2", [
          { name: "a", version: "1", id: "a" },
          { name: "b", version: "2", id: "b2" },
        ]),
      ]);
      expect((await changes.next()).value).toMatchObject({
        added: [],
        removed: [],
        updated: [{ version: "2", value: { name: "b2" } }],
      });
    });

    it("Server redirects", async () => {
      const {
        client,
        servers: [one, other],
      } = useAuthorities(["some-authority", "other-authority"]);
      const there = "xdstp://other-authority/envoy.config.listener.v3.ListenerCollection/there";
      const changes = client.watchList(ListenerSchema, list("foo"))[Symbol.asyncIterator]();
      await asked(one);
      await give(one, listUrl, [
        {
          name: list("foo"),
          version: "1",
          typeUrl: redirectUrl,
          value: toBinary(
            ResourceLocatorSchema,
            create(ResourceLocatorSchema, locatorMessage(there)),
          ),
        },
      ]);
      expect(await asked(other)).toEqual([there]);
      await give(other, listUrl, [
        { ...ofList("foo", "1", [{ name: "a", version: "1", id: "a" }]), name: there },
      ]);
      expect((await changes.next()).value?.members.map(({ value }) => value?.name)).toEqual(["a"]);
      const glob = toBinary(
        ResourceLocatorSchema,
        create(ResourceLocatorSchema, locatorMessage(listener("ns/*"))),
      );
      client.watch(ListenerSchema, listener("x"));
      await asked(one);
      await give(one, listenerUrl, [
        { name: listener("x"), version: "1", typeUrl: redirectUrl, value: glob },
      ]);
      await turn();
      expect(one?.rest().map(({ errorDetail }) => errorDetail?.message)).toEqual([
        expect.stringContaining("its target is a glob"),
      ]);
    });

    describe("Examples", () => {
      it("Singleton resource request", async () => {
        const { client, server } = useAuthorities(["some-authority"]);
        const foo = "xdstp://some-authority/envoy.config.endpoint.v3.ClusterLoadAssignment/foo";
        const read = client.read(ClusterLoadAssignmentSchema, foo);
        expect(await asked(server)).toEqual([foo]);
        await give(server, endpointsUrl, [ofEndpoints(foo, "foo's")]);
        expect((await read).value.clusterName).toBe("foo's");
      });

      describe("Collection resource requests", () => {
        it("List collections", async () => {
          const { client, server } = useAuthorities(["some-authority"]);
          client.watchList(ListenerSchema, list("foo"));
          expect(await asked(server)).toEqual([list("foo")]);
          await give(server, listUrl, [
            ofList("foo", "1", [{ locator: listener("bar") }, { locator: listener("baz") }]),
          ]);
          expect(await asked(server)).toEqual([listener("bar"), listener("baz")]);
          await give(server, listUrl, [ofList("foo", "2", [{ locator: listener("baz") }])]);
          expect(await asked(server)).toEqual([`-${listener("bar")}`]);
        });

        it("List collections with inlining", async () => {
          const { client, server } = useAuthorities(["some-authority"]);
          const changes = client.watchList(ListenerSchema, list("foo"))[Symbol.asyncIterator]();
          const bar = client.read(ListenerSchema, `${list("foo")}#entry=bar`);
          expect(await asked(server)).toEqual([list("foo")]);
          await give(server, listUrl, [
            ofList("foo", "1", [
              { name: "bar", version: "8.5.4", id: "bar" },
              { version: "3.9.0", id: "baz" },
            ]),
          ]);
          expect(
            (await changes.next()).value?.members.map(({ version, value }) => [
              version,
              value?.name,
            ]),
          ).toEqual([
            ["8.5.4", "bar"],
            ["3.9.0", "baz"],
          ]);
          expect((await bar).value.name).toBe("bar");
          await expect(client.read(ListenerSchema, `${list("foo")}#entry=baz`)).rejects.toThrow(
            'has no inline entry "baz"',
          );
        });

        it("Glob collections", async () => {
          const { client, server } = useAuthorities(["some-authority"]);
          const glob = listener("my-listeners/*?node_type=ingress");
          const watch = client.watchAll(ListenerSchema, glob);
          const changes = watch[Symbol.asyncIterator]();
          expect(await asked(server)).toEqual([glob]);
          const lead = {
            name: listener("my-listeners/bar?node_type=ingress"),
            version: "42",
            typeUrl: redirectUrl,
            value: toBinary(
              ResourceLocatorSchema,
              create(ResourceLocatorSchema, locatorMessage(listener("baz"))),
            ),
          };
          await give(server, listenerUrl, [
            ofListener("my-listeners/foo", "1", "?node_type=ingress"),
            lead,
          ]);
          expect(await asked(server)).toEqual([listener("baz")]);
          await give(server, listenerUrl, [ofListener("baz", "7")]);
          await changes.next();
          expect([...watch.members.values()].map(({ name, value }) => [name, value.name])).toEqual([
            [listener("my-listeners/foo?node_type=ingress"), "my-listeners/foo"],
            [listener("my-listeners/bar?node_type=ingress"), "baz"],
          ]);
        });
      });

      it("Alternatives", async () => {
        const foo =
          "xdstp://some-cloud-authority/envoy.config.endpoint.v3.ClusterLoadAssignment/foo";
        const bar =
          "xdstp://some-onprem-authority/envoy.config.endpoint.v3.ClusterLoadAssignment/bar";
        const {
          client,
          clock,
          servers: [cloud, onprem],
        } = useAuthorities(["some-cloud-authority", "some-onprem-authority"]);
        const seen: (string | undefined)[] = [];
        void (async () => {
          for await (const { name, value } of client.watch(
            ClusterLoadAssignmentSchema,
            `${foo}#alt=${bar}`,
          ))
            seen.push(`${name.replace(/^.*\//, "")} ${String(value?.clusterName)}`);
        })();
        expect([await asked(cloud), await asked(onprem)]).toEqual([[foo], []]);
        cloud?.close({ code: 14, message: "a network partition" });
        expect(await asked(onprem)).toEqual([bar]);
        await give(onprem, endpointsUrl, [ofEndpoints(bar, "of the premises")]);
        clock.advance(10_000);
        expect(await asked(cloud)).toEqual([foo]);
        await give(cloud, endpointsUrl, [ofEndpoints(foo, "of the cloud")]);
        expect(await asked(onprem)).toEqual([`-${bar}`]);
        expect(seen.map((one) => one?.replace(/^.* of/, "of"))).toEqual([
          "of the premises",
          "of the cloud",
        ]);
      });

      it("xDS relay proxy", async () => {
        const origin = await useOrigin();
        const relayed = createCache();
        const bootstrap = parseBootstrap({
          xds_servers: [{ server_uri: origin.uri, channel_creds: [{ type: "insecure" }] }],
          node: { id: "relay" },
        });
        relayed.addFeed(
          createFederation({
            follow: false,
            sources: createSources(bootstrap, {
              node: encodeNode(bootstrap.node),
              channels: createChannels(),
            }),
          }),
        );
        const relay = createServer({ source: relayed });
        const { port } = await relay.listen({ host: "127.0.0.1", port: 0 });
        onTestFinished(async () => {
          await relay.close({ graceMs: 0 });
          await relayed.close();
        });

        for (const id of ["a-listeners/foo", "a-listeners/bar", "b-listeners/baz"])
          origin.cache.put({
            typeUrl: listenerUrl,
            name: listener(id),
            value: ofListener(id).value,
          });
        const watches = ["a", "b"].map((which) =>
          useClient([`127.0.0.1:${String(port)}`]).client.watchAll(
            ListenerSchema,
            listener(`${which}-listeners/*`),
          ),
        );
        const members = await Promise.all(
          watches.map(async (watch) => {
            for await (const { complete } of watch) if (complete) break;
            return [...watch.members.keys()].sort();
          }),
        );
        expect(members).toEqual([
          [listener("a-listeners/bar"), listener("a-listeners/foo")],
          [listener("b-listeners/baz")],
        ]);
        expect(origin.server.status()).toHaveLength(1);
      });
    });
  });
});
