import { envoyTypes } from "@xdstp/resource-types";
import { clientQuirks } from "@xdstp/server";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { Answer } from "../harness/answer.ts";
import type { World } from "../harness/create-world.ts";
import { FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import type { TypeClient } from "../harness/type-client.ts";
import { deltaVariants, isDelta, sotwVariants } from "../harness/variant.ts";

const UNKNOWN = "type.googleapis.com/test.Unknown";
const envoyType = (name: string): string => `type.googleapis.com/envoy.${name}`;
/** Types of Envoy and what an empty first list means for them. */
const legacy: readonly (readonly [typeUrl: string, isWildcard: boolean])[] = [
  [envoyType("config.listener.v3.Listener"), true],
  [envoyType("config.cluster.v3.Cluster"), true],
  [envoyType("config.route.v3.ScopedRouteConfiguration"), true],
  [envoyType("config.route.v3.VirtualHost"), true],
  [UNKNOWN, true],
  [envoyType("config.route.v3.RouteConfiguration"), false],
  [envoyType("config.endpoint.v3.ClusterLoadAssignment"), false],
  [envoyType("extensions.transport_sockets.tls.v3.Secret"), false],
  [envoyType("service.runtime.v3.Runtime"), false],
  [envoyType("config.core.v3.TypedExtensionConfig"), false],
  [envoyType("config.endpoint.v3.LbEndpoint"), false],
];
/** A client of a type without descriptor reads it wrapped (B-WRAP-4). */
const wrapping = { node: { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] } };

function namesOf(answers: readonly Answer[]): readonly string[] {
  return answers.flatMap(({ names }) => names).sort();
}

/** Returns true if the client is sent a change of this name. */
function hears(world: World, client: TypeClient, name: string): boolean {
  world.put(client.typeUrl, name, `change ${world.cache.revision}`);
  return acceptAll(world, client).some(({ names }) => names.includes(name));
}

runCases("the wildcard", [
  ...[FULL, PART].flatMap((typeUrl) => [
    {
      rules: ["S-WILD-1"],
      title: `takes * for all there is of ${typeUrl}`,
      run(world: World) {
        world.put(typeUrl, "A");
        world.put(typeUrl, "B");
        const client = world.connect().of(typeUrl);
        expect(namesOf(begin(world, client, "*"))).toEqual(["A", "B"]);
        expect(hears(world, client, "C")).toBe(true);
      },
    },
    {
      rules: ["S-WILD-1", "S-DUP-1"],
      title: `lets * stand beside a name of ${typeUrl}, which comes once`,
      run(world: World) {
        world.put(typeUrl, "A");
        world.put(typeUrl, "B");
        const client = world.connect().of(typeUrl);
        expect(namesOf(begin(world, client, "*", "A"))).toEqual(["A", "B"]);
        expect(hears(world, client, "A")).toBe(true);
        expect(hears(world, client, "B")).toBe(true);
      },
    },
    {
      rules: ["S-WILD-2"],
      title: `reads the lists [], [*, A], [A], [] of ${typeUrl} as *, both, A, nothing`,
      variants: sotwVariants,
      run(world: World) {
        world.put(typeUrl, "A");
        world.put(typeUrl, "B");
        const client = world.connect().of(typeUrl);
        expect(namesOf(begin(world, client))).toEqual(["A", "B"]);
        client.change({});
        acceptAll(world, client);
        expect(hears(world, client, "B")).toBe(true);
        client.change({ add: ["*", "A"] });
        acceptAll(world, client);
        expect([hears(world, client, "A"), hears(world, client, "B")]).toEqual([true, true]);
        client.change({ drop: ["*"] });
        expect(acceptAll(world, client)).toEqual([]);
        expect([hears(world, client, "B"), hears(world, client, "A")]).toEqual([false, true]);
        client.change({ drop: ["A"] });
        expect(acceptAll(world, client)).toEqual([]);
        expect([hears(world, client, "A"), hears(world, client, "B")]).toEqual([false, false]);
      },
    },
  ]),
  {
    rules: ["S-WILD-2", "S-NONCE-6"],
    title: "does not return to * by an empty list after a list that crossed a response",
    variants: sotwVariants,
    run(world) {
      world.put(PART, "A");
      const client = world.connect().of(PART);
      client.subscribe();
      world.run();
      client.subscribe("A");
      world.run();
      const first = client.next();
      client.ack(first, { drop: ["A"] });
      world.run();
      client.rest();
      expect(hears(world, client, "B")).toBe(false);
    },
  },
  {
    rules: ["S-WILD-3"],
    title: "takes a first request without any name for *",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "A");
      const client = world.connect().of(PART);
      expect(namesOf(begin(world, client))).toEqual(["A"]);
      expect(hears(world, client, "B")).toBe(true);
    },
  },
  {
    rules: ["S-WILD-3", "S-RECON-6"],
    title: "takes a first request that only unsubscribes for no wildcard",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "A");
      const client = world.connect().of(PART);
      client.unsubscribe("B");
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [] }]);
      expect(hears(world, client, "A")).toBe(false);
    },
  },
  ...(["resourceLocatorsSubscribe", "resourceLocatorsUnsubscribe"] as const).map((list) => ({
    rules: ["S-WILD-3"],
    title: `takes a first request with a name in ${list} for no wildcard`,
    variants: deltaVariants,
    run(world: World) {
      world.put(PART, "A");
      world.put(PART, "B");
      const { client } = world.openDelta(PART);
      client.send({ typeUrl: PART, [list]: [{ name: "A" }] });
      world.run();
      expect(client.next().resources.map(({ name }) => name)).toEqual(
        list === "resourceLocatorsSubscribe" ? ["A"] : [],
      );
    },
  })),
  {
    rules: ["S-WILD-3", "S-RECON-4"],
    title: "takes a first request that only says what is held for *",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "A");
      const { client } = world.openDelta(PART);
      client.send({ typeUrl: PART, initialResourceVersions: { B: "1" } });
      world.run();
      const { resources, removedResources } = client.next();
      expect(resources.map(({ name }) => name)).toEqual(["A"]);
      expect(removedResources).toEqual(["B"]);
    },
  },
  {
    rules: ["S-WILD-4"],
    title: "is left in delta by unsubscribing * only, and an empty request does not bring it back",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "A");
      world.put(PART, "B");
      const client = world.connect().of(PART);
      begin(world, client);
      begin(world, client, "A");
      expect([hears(world, client, "A"), hears(world, client, "B")]).toEqual([true, true]);
      client.unsubscribe("*");
      acceptAll(world, client);
      expect([hears(world, client, "A"), hears(world, client, "B")]).toEqual([true, false]);
      client.unsubscribe("A");
      expect(acceptAll(world, client)).toEqual([]);
      client.change({});
      expect(acceptAll(world, client)).toEqual([]);
      expect([hears(world, client, "A"), hears(world, client, "B")]).toEqual([false, false]);
    },
  },
  {
    rules: ["S-WILD-4"],
    title: "is left in SotW by a list without *",
    variants: sotwVariants,
    run(world) {
      world.put(PART, "A");
      const client = world.connect().of(PART);
      begin(world, client, "*");
      client.change({ add: ["A"], drop: ["*"] });
      acceptAll(world, client);
      expect([hears(world, client, "A"), hears(world, client, "B")]).toEqual([true, false]);
    },
  },
  {
    rules: ["S-WILD-5"],
    title: "begins anew on each stream",
    run(world) {
      world.put(PART, "A");
      world.put(PART, "B");
      const first = world.connect();
      expect(namesOf(begin(world, first.of(PART), "A"))).toEqual(["A"]);
      first.leave();
      expect(namesOf(begin(world, world.connect().of(PART)))).toEqual(["A", "B"]);
    },
  },
  {
    rules: ["S-WILD-5"],
    title: "is meant for one type and not for another",
    run(world) {
      for (const typeUrl of [PART, OTHER_PART])
        for (const name of ["A", "B"]) world.put(typeUrl, name);
      const peer = world.connect();
      expect(namesOf(begin(world, peer.of(PART)))).toEqual(["A", "B"]);
      expect(namesOf(begin(world, peer.of(OTHER_PART), "A"))).toEqual(["A"]);
      expect(hears(world, peer.of(OTHER_PART), "B")).toBe(false);
      expect(hears(world, peer.of(PART), "B")).toBe(true);
    },
  },
  ...legacy.map(([typeUrl, isWildcard]) => ({
    rules: ["S-WILD-6"],
    title: `${isWildcard ? "takes" : "does not take"} an empty first list of ${typeUrl} for *`,
    world: { types: envoyTypes },
    run(world: World) {
      world.put(typeUrl, "A");
      const client = world.connect(wrapping).of(typeUrl);
      expect(namesOf(begin(world, client))).toEqual(isWildcard ? ["A"] : []);
      expect(hears(world, client, "B")).toBe(isWildcard);
    },
  })),
  ...legacy.map(([typeUrl]) => ({
    rules: ["S-WILD-6"],
    title: `takes an explicit * of ${typeUrl} for what it is`,
    world: { types: envoyTypes },
    run(world: World) {
      world.put(typeUrl, "A");
      const client = world.connect(wrapping).of(typeUrl);
      expect(namesOf(begin(world, client, "*"))).toEqual(["A"]);
    },
  })),
  ...["gRPC C-core", "gRPC Go", "gRPC Node Pure JS", "gRPC Java"].map((userAgentName) => ({
    rules: ["S-WILD-6"],
    title: `does not take an empty first list of ${userAgentName} for *, but an explicit one`,
    world: { quirks: clientQuirks },
    run(world: World) {
      world.put(PART, "A");
      const client = world.connect({ node: { id: "n", userAgentName } }).of(PART);
      expect(namesOf(begin(world, client))).toEqual([]);
      expect(namesOf(begin(world, client, "*"))).toEqual(["A"]);
    },
  })),
  ...[FULL, PART].flatMap((typeUrl) =>
    [[], ["*"]].map((names) => ({
      rules: ["S-WILD-7"],
      title: `answers a first ${names.length === 0 ? "empty list" : "*"} for ${typeUrl} though nothing matches`,
      run(world: World) {
        const client = world.connect().of(typeUrl);
        expect(begin(world, client, ...names)).toMatchObject([{ typeUrl, names: [], removed: [] }]);
      },
    })),
  ),
  ...[FULL, PART].map((typeUrl) => ({
    rules: ["S-WILD-7"],
    title: `answers a * for ${typeUrl} that comes after names though nothing matches it`,
    run(world: World) {
      const name = "xdstp://a/test.Full/x?k=v".replace(
        "test.Full",
        typeUrl.slice(typeUrl.indexOf("/") + 1),
      );
      world.put(typeUrl, name);
      const client = world.connect().of(typeUrl);
      expect(namesOf(begin(world, client, name))).toEqual([name]);
      const answers = begin(world, client, "*");
      expect(answers).toHaveLength(1);
      if (isDelta(world.variant)) expect(answers).toMatchObject([{ names: [], removed: [] }]);
    },
  })),
  {
    rules: ["S-WILD-8"],
    title:
      "covers opaque names, and xdstp names without parameters of the authorities that are served",
    world: { cache: { authorities: ["mine", ""] } },
    run(world) {
      const covered = [
        "opaque",
        "xdstp://mine/test.Part/a",
        "xdstp://mine/test.Part/ns/b",
        "xdstp:///test.Part/c",
      ];
      const outside = ["xdstp://mine/test.Part/a?k=v", "xdstp://mine/test.Part/ns/b?k="];
      for (const name of [...covered, ...outside]) world.put(PART, name);
      const client = world.connect().of(PART);
      expect(namesOf(begin(world, client))).toEqual([...covered].sort());
      for (const name of covered) expect(hears(world, client, name), name).toBe(true);
      for (const name of outside) expect(hears(world, client, name), name).toBe(false);
    },
  },
  {
    rules: ["S-WILD-8"],
    title: "covers what the source says that it covers",
    world: { cache: { wildcard: (_, name) => name.startsWith("public") } },
    run(world) {
      world.put(PART, "public a");
      world.put(PART, "private b");
      const client = world.connect().of(PART);
      expect(namesOf(begin(world, client, "*"))).toEqual(["public a"]);
      expect(hears(world, client, "private b")).toBe(false);
    },
  },
]);
