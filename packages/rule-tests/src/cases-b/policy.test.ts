import type { Cache } from "@xdstp/cache";
import { StatusCode } from "@xdstp/core";
import { cluster, envoyTypes, routeConfiguration as route } from "@xdstp/resource-types";
import { createPolicy, filterSource, type ChangeablePolicy } from "@xdstp/policy";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { Answer } from "../harness/answer.ts";
import { createWorld, type World, type WorldOptions } from "../harness/create-world.ts";
import { routeTo } from "../harness/envoy-payloads.ts";
import { inlineEntry, listOf, locatorEntry } from "../harness/list-payloads.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { payloadOf } from "../harness/payload.ts";
import { runCases } from "../harness/rule-case.ts";
import { adsVariants, deltaVariants, isDelta, sotwVariants } from "../harness/variant.ts";

const policies = new WeakMap<Cache, ChangeablePolicy>();

/** A world in which names with "secret" in them are forbidden, until the policy is replaced. */
function guarded(
  more: Omit<WorldOptions, "variant" | "source"> = {},
  forbidden: "missing" | "denied" = "missing",
): Omit<WorldOptions, "variant"> {
  return {
    ...more,
    source(cache) {
      const policy = createPolicy({
        key: "k",
        forbidden,
        allows: (_, name) => !name.includes("secret"),
      });
      policies.set(cache, policy);
      return filterSource(cache, policy);
    },
  };
}

/** From now on the names of which this holds are allowed. */
function allow(world: World, allows: (name: string) => boolean): void {
  policies.get(world.cache)?.replace((_, name) => allows(name));
}

const told = (answers: readonly Answer[]): readonly (readonly string[])[] =>
  answers.map(({ names, removed }) => [
    ...names.toSorted(),
    ...removed.toSorted().map((name) => `-${name}`),
  ]);
/** A list of clusters with an inline entry, and a locator of a resource, both of which are forbidden by their names. */
const secretList = listOf(
  inlineEntry("secret", cluster.typeUrl, payloadOf("inline")),
  locatorEntry("a", "envoy.config.cluster.v3.Cluster", "secret"),
);
const listType = "type.googleapis.com/envoy.config.cluster.v3.ClusterCollection";
const listName = (id: string): string =>
  `xdstp://a/envoy.config.cluster.v3.ClusterCollection/${id}`;
const locatedName = "xdstp://a/envoy.config.cluster.v3.Cluster/secret";

const glob = (typeUrl: string): string =>
  `xdstp://a/${typeUrl.slice(typeUrl.indexOf("/") + 1)}/p/*`;
const inGlob = (typeUrl: string, id: string): string => glob(typeUrl).replace("*", id);

runCases("access", [
  {
    rules: ["S-LIM-8", "S-LIST-10"],
    title:
      "asks for a list by its name alone: who may see it sees its inline entries, like all that stands in a payload, and of those in a locator what it may see by their names",
    world: guarded({ types: envoyTypes }),
    run(world) {
      for (const id of ["open", "secret"])
        world.cache.put({ typeUrl: listType, name: listName(id), value: secretList });
      world.put(cluster.typeUrl, locatedName);
      const client = world
        .connect({ node: { id: "n", clientFeatures: ["xds.config.supports-resource-in-sotw"] } })
        .of(cluster.typeUrl);
      const answers = begin(world, client, listName("open"), listName("secret"), locatedName);
      expect(
        answers.flatMap(({ resources }) => resources.filter(({ hasBody }) => hasBody)),
      ).toMatchObject([{ name: listName("open"), payload: secretList }]);
      allow(world, () => true);
      expect(acceptAll(world, client).flatMap(({ names }) => names)).toEqual(
        expect.arrayContaining([listName("secret"), locatedName]),
      );
    },
  },
  ...[FULL, PART].flatMap((typeUrl) => [
    {
      rules: ["S-LIM-8"],
      title: `answers a forbidden name of ${typeUrl} as one that does not exist, whether it does or not`,
      world: guarded(),
      run(world: World) {
        world.put(typeUrl, "open");
        world.put(typeUrl, "secret-1");
        const answers = ["secret-1", "secret-2"].map((name) =>
          begin(world, world.connect().of(typeUrl), "open", name),
        );
        const [there, missing] = answers.map((all) =>
          JSON.stringify(told(all)).replaceAll(/secret-\d/g, "secret"),
        );
        expect(there).toBe(missing);
        expect(answers.flat().flatMap(({ names }) => names)).toEqual(["open", "open"]);
        expect(answers[0]?.[0]?.version).toBe(answers[1]?.[0]?.version);
      },
    },
    {
      rules: ["S-LIM-8", "S-ERR-1"],
      title: `says PERMISSION_DENIED of a forbidden name of ${typeUrl} where the policy wants it, whether it exists or not, until it is allowed`,
      world: guarded({}, "denied"),
      run(world: World) {
        for (const name of ["open", "secret-1"]) world.put(typeUrl, name);
        const client = world.connect().of(typeUrl);
        const answers = begin(world, client, "open", "secret-1", "secret-2", "*");
        expect(answers.flatMap(({ errors }) => errors)).toMatchObject(
          ["secret-1", "secret-2"].map((name) => ({
            name,
            code: StatusCode.PERMISSION_DENIED,
            message: "not allowed",
          })),
        );
        expect(answers.flatMap(({ names }) => names)).toEqual(["open"]);
        allow(world, () => true);
        const later = acceptAll(world, client);
        expect(later.flatMap(({ names }) => names)).toContain("secret-1");
        expect(later.flatMap(({ errors }) => errors)).toEqual([]);
      },
    },
    {
      rules: ["S-LIM-8"],
      title: `sends nothing for what happens to a forbidden resource of ${typeUrl}`,
      world: guarded(),
      run(world: World) {
        const client = world.connect().of(typeUrl);
        const names = [
          "*",
          "secret",
          inGlob(typeUrl, "secret"),
          ...(isDelta(world.variant) ? [glob(typeUrl)] : []),
        ];
        begin(world, client, ...names);
        for (const name of ["secret", inGlob(typeUrl, "secret")]) {
          world.put(typeUrl, name);
          world.put(typeUrl, name, "changed");
          world.remove(typeUrl, name);
        }
        expect(acceptAll(world, client)).toEqual([]);
      },
    },
    {
      rules: ["S-LIM-8"],
      title: `brings what becomes allowed of ${typeUrl}, and takes away what becomes forbidden`,
      world: guarded(),
      run(world: World) {
        for (const name of ["a", "b", "secret"]) world.put(typeUrl, name);
        const [wildcard, named] = [world.connect().of(typeUrl), world.connect().of(typeUrl)];
        begin(world, wildcard, "*");
        begin(world, named, "a", "secret");
        allow(world, (name) => name !== "a");
        const removed = isDelta(world.variant) ? ["-a"] : [];
        expect(told(acceptAll(world, wildcard))).toEqual([
          typeUrl === FULL && !isDelta(world.variant) ? ["b", "secret"] : ["secret", ...removed],
        ]);
        expect(told(acceptAll(world, named))).toEqual([["secret", ...removed]]);
        allow(world, (name) => name !== "a");
        expect([...acceptAll(world, wildcard), ...acceptAll(world, named)]).toEqual([]);
        world.put(typeUrl, "a", "changed");
        world.put(typeUrl, "secret", "changed");
        const both = told([...acceptAll(world, wildcard), ...acceptAll(world, named)]).flat();
        expect(both).not.toContain("a");
        expect(both.filter((name) => name === "secret")).toHaveLength(2);
      },
    },
    {
      rules: ["S-LIM-8", "S-ACK-16"],
      title: `sends the newest rights to ${typeUrl} once an answer has come, and nothing of those between`,
      world: guarded(),
      run(world: World) {
        for (const name of ["a", "b"]) world.put(typeUrl, name);
        const client = world.connect().of(typeUrl);
        client.subscribe("*");
        world.run();
        const first = client.next();
        allow(world, (name) => name === "a");
        allow(world, (name) => name === "b");
        world.run();
        expect(client.rest()).toEqual([]);
        client.ack(first);
        world.run();
        const second = client.rest();
        const rest = told(second).flat();
        expect(rest).not.toContain("a");
        if (isDelta(world.variant)) expect(rest).toContain("-a");
        for (const answer of second) client.ack(answer);
        allow(world, () => true);
        expect(told(acceptAll(world, client)).flat()).toContain("a");
      },
    },
    {
      rules: ["S-LIM-8", "S-ACK-8"],
      title: `sends the rest of a rejected response of ${typeUrl} when what was bad in it becomes forbidden`,
      world: guarded(),
      run(world: World) {
        for (const name of ["bad", "good"]) world.put(typeUrl, name);
        const client = world.connect().of(typeUrl);
        client.subscribe("*");
        world.run();
        client.nack(client.next(), "bad is bad");
        world.run();
        expect(client.rest()).toEqual([]);
        allow(world, (name) => name !== "bad");
        world.run();
        const answers = client.rest();
        expect(answers.flatMap(({ names }) => names)).toEqual(["good"]);
      },
    },
  ]),
  {
    rules: ["S-LIM-8", "S-VER-2"],
    title: "has the version of a server without what is forbidden",
    variants: sotwVariants,
    world: guarded(),
    run(world) {
      const other = createWorld({ variant: world.variant });
      for (const name of ["a", "b", "secret"]) world.put(FULL, name);
      for (const name of ["a", "b"]) other.put(FULL, name);
      const versions = [world, other].flatMap((each) =>
        begin(each, each.connect().of(FULL), "*").map(({ version }) => version),
      );
      expect(versions).toHaveLength(2);
      expect(versions[0]).toBe(versions[1]);
    },
  },
  {
    rules: ["S-LIM-8", "S-RECON-7"],
    title: "sends everything to a client that comes back with the version of other rights",
    variants: sotwVariants,
    world: guarded(),
    run(world) {
      world.cache.transaction(
        ({ put }) => {
          for (const name of ["a", "secret"])
            put({
              typeUrl: FULL,
              name,
              value: new TextEncoder().encode(`\n${String.fromCharCode(name.length)}${name}`),
            });
        },
        { label: "v7" },
      );
      const [before] = begin(world, world.connect().of(FULL), "*");
      allow(world, () => true);
      const { client } = world.openSotw(FULL);
      client.send({ typeUrl: FULL, resourceNames: ["*"], versionInfo: before?.version ?? "" });
      world.run();
      expect(client.rest().flatMap(({ resources }) => resources)).toHaveLength(2);
    },
  },
  {
    rules: ["S-LIM-8", "S-RECON-4"],
    title:
      "removes what became forbidden while a client was away, and tells no guess of a version from a wrong one",
    variants: deltaVariants,
    world: guarded(),
    run(world) {
      world.put(PART, "a", "", { version: "v1" });
      world.put(PART, "secret", "", { version: "v1" });
      const comesBack = (version: string, name: string): unknown => {
        const { client } = world.openDelta(PART);
        client.send({
          typeUrl: PART,
          resourceNamesSubscribe: ["*", name],
          initialResourceVersions: { a: "v1", [name]: version },
        });
        world.run();
        return client
          .rest()
          .map(({ resources, removedResources }) => [
            resources.map((resource) => resource.name),
            removedResources.map((removed) => removed.replace(name, "X")),
          ]);
      };
      const answers = [
        comesBack("v1", "secret"),
        comesBack("v2", "secret"),
        comesBack("v1", "secret-none"),
      ];
      expect(answers).toEqual([[[[], ["X"]]], [[[], ["X"]]], [[[], ["X"]]]]);
    },
  },
  {
    rules: ["S-LIM-8", "S-GLOB-3"],
    title: "says that a glob is empty of which nothing may be seen, and fills it when that changes",
    variants: deltaVariants,
    world: guarded(),
    run(world) {
      world.put(PART, inGlob(PART, "secret"));
      const client = world.connect().of(PART);
      expect(told(begin(world, client, glob(PART)))).toEqual([[`-${glob(PART)}`]]);
      allow(world, () => true);
      expect(told(acceptAll(world, client))).toEqual([[inGlob(PART, "secret")]]);
      allow(world, () => false);
      expect(told(acceptAll(world, client)).flat()).toContain(`-${inGlob(PART, "secret")}`);
    },
  },
  {
    rules: ["S-LIM-8", "S-ORD-3"],
    title:
      "takes a cluster away only after the route that leads there, if both become forbidden at once",
    variants: adsVariants,
    world: guarded({ types: envoyTypes }),
    run(world) {
      for (const name of ["k1", "k2"]) world.put(cluster.typeUrl, name);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "k1") });
      const peer = world.connect();
      peer.of(cluster.typeUrl).subscribe("*");
      peer.of(route.typeUrl).subscribe("r");
      for (const typeUrl of [cluster.typeUrl, route.typeUrl]) acceptAll(world, peer.of(typeUrl));
      allow(world, (name) => name !== "k1");
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "k2") });
      world.run();
      const order: string[] = [];
      for (let answers = peer.answers(); answers.length > 0; answers = peer.answers()) {
        for (const answer of answers) {
          order.push(...answer.names.filter((name) => name === "r"));
          if (answer.typeUrl === cluster.typeUrl && !answer.names.includes("k1"))
            order.push("without k1");
          peer.of(answer.typeUrl).ack(answer);
        }
        world.run();
      }
      expect(order).toEqual(["r", "without k1"]);
    },
  },
]);
