import {
  cluster,
  clusterLoadAssignment,
  envoyTypes,
  listener,
  routeConfiguration,
  shortNameOf,
  virtualHost,
} from "@xdstp/resource-types";
import { clientQuirks } from "@xdstp/server";
import type { DiscoveryResponse } from "@xdstp/protos/discovery";
import type { RawMessages, RawClient } from "@xdstp/testing";
import { expect } from "vitest";
import { begin } from "../harness/accept-all.ts";
import { createWorld, type World } from "../harness/create-world.ts";
import { addHeldFeed } from "../harness/held-feed.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, sotwVariants } from "../harness/variant.ts";

const glob = "xdstp://a/test.Part/ns/*";
const member = (id: string): string => `xdstp://a/test.Part/ns/${id}`;
const envoy = { id: "n", userAgentName: "envoy" };
const v1 = { version: "v1" };
const v2 = { version: "v2" };

interface Told {
  readonly names: readonly string[];
  readonly removed: readonly string[];
}

/** Returns the responses to a client that reconnects with this first request. */
function comesBack(
  world: World,
  first: RawMessages["delta"]["requestInit"],
  node: NonNullable<RawMessages["delta"]["requestInit"]["node"]> = { id: "n" },
): readonly Told[] {
  const typeUrl = first.typeUrl ?? PART;
  const { client } = world.openDelta(typeUrl, { node });
  client.send({ typeUrl, ...first });
  const told: Told[] = [];
  for (;;) {
    world.run();
    const responses = client.rest();
    if (responses.length === 0) return told;
    for (const response of responses) {
      told.push({
        names: response.resources.map(({ name }) => name).sort(),
        removed: [...response.removedResources].sort(),
      });
      client.ack(response);
    }
  }
}

runCases("reconnecting in delta", [
  ...[["*"], ["equal", "older", "gone", "new"]].map((wanted) => ({
    rules: ["S-RECON-4"],
    title: `sends a client that names ${wanted.join(", ")} and what it holds only what differs`,
    variants: deltaVariants,
    run(world: World) {
      world.put(PART, "equal", "", v1);
      world.put(PART, "older", "", v2);
      world.put(PART, "new", "", v1);
      const initialResourceVersions = {
        equal: "v1",
        older: "v1",
        gone: "v1",
        "xdstp://b/test.Part/foreign": "v1",
      };
      expect(comesBack(world, { resourceNamesSubscribe: wanted, initialResourceVersions })).toEqual(
        [{ names: ["new", "older"], removed: ["gone", "xdstp://b/test.Part/foreign"] }],
      );
    },
  })),
  {
    rules: ["S-RECON-4"],
    title: "names as removed what exists and is listed but no subscription covers",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "a", "", v1);
      world.put(PART, "b", "", v1);
      expect(
        comesBack(world, {
          resourceNamesSubscribe: ["a"],
          initialResourceVersions: { a: "v1", b: "v1" },
        }),
      ).toEqual([{ names: [], removed: ["b"] }]);
    },
  },
  {
    rules: ["S-RECON-4"],
    title: "knows what is held by any spelling, and names the rest as it was spelled",
    variants: deltaVariants,
    run(world) {
      world.put(PART, member("1"), "", v1);
      const initialResourceVersions = { [member("%31")]: "v1", [member("%32")]: "v1" };
      expect(comesBack(world, { resourceNamesSubscribe: [glob], initialResourceVersions })).toEqual(
        [{ names: [], removed: [member("%32")] }],
      );
    },
  },
  {
    rules: ["S-RECON-4", "S-GLOB-3"],
    title: "sends of a glob what differs, and names what is gone",
    variants: deltaVariants,
    run(world) {
      world.put(PART, member("1"), "", v1);
      world.put(PART, member("2"), "", v2);
      const initialResourceVersions = {
        [member("1")]: "v1",
        [member("2")]: "v1",
        [member("3")]: "v1",
      };
      expect(comesBack(world, { resourceNamesSubscribe: [glob], initialResourceVersions })).toEqual(
        [{ names: [member("2")], removed: [member("3")] }],
      );
      world.remove(PART, member("1"));
      world.remove(PART, member("2"));
      expect(comesBack(world, { resourceNamesSubscribe: [glob], initialResourceVersions })).toEqual(
        [{ names: [], removed: [glob, ...[1, 2, 3].map((id) => member(`${id}`))] }],
      );
    },
  },
  {
    rules: ["S-RECON-4"],
    title: "never takes a glob or * in the list of what is held for something that is gone",
    variants: deltaVariants,
    run(world) {
      world.put(PART, member("1"), "", v1);
      expect(
        comesBack(world, {
          resourceNamesSubscribe: [glob],
          initialResourceVersions: { [glob]: "v1", "*": "v1", [member("1")]: "v1" },
        }),
      ).toEqual([{ names: [], removed: [] }]);
    },
  },
  ...[clusterLoadAssignment, routeConfiguration].map(({ typeUrl }) => ({
    rules: ["S-RECON-4"],
    title: `sends Envoy what it holds of ${typeUrl} again, and nobody else`,
    variants: deltaVariants,
    world: { types: envoyTypes, quirks: clientQuirks },
    run(world: World) {
      world.put(typeUrl, "a", "", v1);
      const first = {
        typeUrl,
        resourceNamesSubscribe: ["a"],
        initialResourceVersions: { a: "v1" },
      };
      expect(comesBack(world, first, envoy)).toEqual([{ names: ["a"], removed: [] }]);
      expect(comesBack(world, first)).toEqual([{ names: [], removed: [] }]);
    },
  })),
  {
    rules: ["S-RECON-4"],
    title: "does not send Envoy the clusters again that it holds",
    variants: deltaVariants,
    world: { types: envoyTypes, quirks: clientQuirks },
    run(world) {
      world.put(cluster.typeUrl, "a", "", v1);
      expect(
        comesBack(
          world,
          {
            typeUrl: cluster.typeUrl,
            resourceNamesSubscribe: ["*"],
            initialResourceVersions: { a: "v1" },
          },
          envoy,
        ),
      ).toEqual([{ names: [], removed: [] }]);
    },
  },
  ...[routeConfiguration, virtualHost].map(({ typeUrl }) => ({
    rules: ["S-RECON-4", "S-MISS-1"],
    title: `names to Envoy as removed what it holds of ${typeUrl} and is gone, whatever it is told of missing ones`,
    variants: deltaVariants,
    world: { types: envoyTypes, quirks: clientQuirks },
    run(world: World) {
      expect(
        comesBack(
          world,
          { typeUrl, resourceNamesSubscribe: ["a"], initialResourceVersions: { a: "v1" } },
          envoy,
        ),
      ).toEqual([{ names: [], removed: ["a"] }]);
    },
  })),
  {
    rules: ["S-RECON-4", "S-ORD-1"],
    title: "names what is gone after the types that refer to it have been answered",
    variants: ["delta/ads"],
    world: { types: envoyTypes },
    run(world) {
      world.put(cluster.typeUrl, "Y", "", v1);
      world.put(listener.typeUrl, "l", "", v2);
      const { client } = world.openDelta(cluster.typeUrl);
      client.send({
        typeUrl: cluster.typeUrl,
        resourceNamesSubscribe: ["*"],
        initialResourceVersions: { X: "v1" },
      });
      client.send({
        typeUrl: listener.typeUrl,
        resourceNamesSubscribe: ["*"],
        initialResourceVersions: { l: "v1" },
      });
      const order: string[] = [];
      for (let round = 0; round < 4; round++) {
        world.run();
        for (const response of client.rest()) {
          order.push(
            ...response.resources.map(({ name }) => `+${name}`),
            ...response.removedResources.map((name) => `-${name}`),
          );
          client.ack(response);
        }
      }
      expect(order).toEqual(["+Y", "+l", "-X"]);
    },
  },
  {
    rules: ["S-RECON-4", "S-ORD-3"],
    title:
      "names what is gone and requested by name after the types that refer to it have been answered",
    variants: ["delta/ads"],
    world: { types: envoyTypes },
    run(world) {
      world.put(cluster.typeUrl, "Y", "", v1);
      world.put(listener.typeUrl, "l", "", v2);
      const { client } = world.openDelta(cluster.typeUrl);
      client.send({
        typeUrl: cluster.typeUrl,
        resourceNamesSubscribe: ["X", "Y"],
        initialResourceVersions: { X: "v1", Y: "v1" },
      });
      client.send({
        typeUrl: listener.typeUrl,
        resourceNamesSubscribe: ["l"],
        initialResourceVersions: { l: "v1" },
      });
      world.run();
      const first = client.rest();
      expect(first.flatMap(({ removedResources }) => removedResources)).toEqual([]);
      expect(first.flatMap(({ resources }) => resources)).toMatchObject([{ name: "l" }]);
      for (const response of first) client.ack(response);
      world.run();
      expect(client.next()).toMatchObject({ resources: [], removedResources: ["X"] });
    },
  },
  {
    rules: ["S-RECON-4", "S-ORD-3", "S-GLOB-3"],
    title:
      "says that a glob is empty now after the types that refer to its members have been answered",
    variants: ["delta/ads"],
    world: { types: envoyTypes },
    run(world) {
      const clusters = "xdstp://a/envoy.config.cluster.v3.Cluster/c/*";
      const listed = "xdstp://a/envoy.config.cluster.v3.Cluster/c/1";
      world.put(listener.typeUrl, "l", "", v2);
      const { client } = world.openDelta(cluster.typeUrl);
      client.send({
        typeUrl: cluster.typeUrl,
        resourceNamesSubscribe: [clusters],
        initialResourceVersions: { [listed]: "v1" },
      });
      client.send({
        typeUrl: listener.typeUrl,
        resourceNamesSubscribe: ["l"],
        initialResourceVersions: { l: "v1" },
      });
      world.run();
      const first = client.rest();
      expect(first.flatMap(({ removedResources }) => removedResources)).toEqual([]);
      for (const response of first) client.ack(response);
      world.run();
      expect([...client.next().removedResources].sort()).toEqual([clusters, listed].sort());
    },
  },
  {
    rules: ["S-RECON-4", "S-ORD-1"],
    title: "does not name as gone what has come back while the removal waited",
    variants: ["delta/ads"],
    world: { types: envoyTypes },
    run(world) {
      world.put(listener.typeUrl, "l", "1");
      const { client } = world.openDelta(cluster.typeUrl);
      const told = (): readonly string[] => {
        world.run();
        return client.rest().flatMap((response) => {
          if (response.typeUrl === cluster.typeUrl) client.ack(response);
          return [
            ...response.resources.map(({ name }) => `+${name}`),
            ...response.removedResources.map((name) => `-${name}`),
          ];
        });
      };
      client.send({ typeUrl: listener.typeUrl, resourceNamesSubscribe: ["*"] });
      world.run();
      const open = client.next();
      world.put(listener.typeUrl, "l", "2");
      client.send({
        typeUrl: cluster.typeUrl,
        resourceNamesSubscribe: ["*"],
        initialResourceVersions: { X: "v1", Z: "v1" },
      });
      expect(told()).toEqual([]);
      world.put(cluster.typeUrl, "X");
      expect(told()).toEqual(["+X"]);
      client.ack(open);
      world.run();
      const last = client.next();
      expect(last.resources.map(({ name }) => name)).toEqual(["l"]);
      client.ack(last);
      expect(told()).toEqual(["-Z"]);
    },
  },
  {
    rules: ["S-RECON-4"],
    title: "waits with what is gone until all names are known, or wanted no more",
    variants: deltaVariants,
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      feed.put(PART, "a");
      const { client } = world.openDelta(PART);
      client.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["a", "slow"],
        initialResourceVersions: { gone: "v1", slow: "v1" },
      });
      world.run();
      const first = client.next();
      expect(first).toMatchObject({ resources: [{ name: "a" }], removedResources: [] });
      client.ack(first);
      world.run();
      expect(client.rest()).toEqual([]);
      client.send({ typeUrl: PART, resourceNamesUnsubscribe: ["slow"] });
      world.run();
      expect(client.next()).toMatchObject({ resources: [], removedResources: ["gone"] });
    },
  },
  {
    rules: ["S-RECON-4", "S-ALIAS-1"],
    title: "does not remove what is listed when it comes to have the alias that is asked for",
    variants: deltaVariants,
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const { client } = world.openDelta(PART);
      client.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["also", "slow"],
        initialResourceVersions: { real: "v1" },
      });
      world.run();
      feed.miss(PART, "also");
      world.run();
      const first = client.next();
      expect(first).toMatchObject({ resources: [], removedResources: ["also"] });
      client.ack(first);
      world.run();
      feed.put(PART, "real", "1", { version: "v1", aliases: ["also"] });
      feed.miss(PART, "slow");
      world.run();
      expect(client.next()).toMatchObject({
        resources: [{ name: "real" }],
        removedResources: ["slow"],
      });
    },
  },
  {
    rules: ["S-RECON-4", "S-ORD-3"],
    title: "waits with what was listed, came back and went again as with other removals",
    variants: ["delta/ads"],
    world: { types: envoyTypes, ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      feed.put(listener.typeUrl, "l", "1");
      const { client } = world.openDelta(cluster.typeUrl);
      client.send({ typeUrl: listener.typeUrl, resourceNamesSubscribe: ["*"] });
      world.run();
      feed.settle(listener.typeUrl, "*");
      world.run();
      client.ack(client.next());
      client.send({
        typeUrl: cluster.typeUrl,
        resourceNamesSubscribe: ["*", "slow"],
        initialResourceVersions: { X: "v1" },
      });
      world.run();
      feed.settle(cluster.typeUrl, "*");
      world.run();
      client.ack(client.next());
      feed.put(cluster.typeUrl, "X");
      world.run();
      client.ack(client.next());
      feed.put(listener.typeUrl, "l", "2");
      world.run();
      client.ack(client.next());
      feed.put(listener.typeUrl, "l", "3");
      world.run();
      const open = client.next();
      feed.miss(cluster.typeUrl, "X");
      feed.miss(cluster.typeUrl, "slow");
      world.run();
      const missing = client.next();
      expect(missing).toMatchObject({ resources: [], removedResources: ["slow"] });
      client.ack(missing);
      client.ack(open);
      world.run();
      expect(client.next()).toMatchObject({ resources: [], removedResources: ["X"] });
    },
  },
  {
    rules: ["S-RECON-5"],
    title: "does not read what is held from a second message",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "a", "", v1);
      world.put(PART, "b", "", v1);
      const { client } = world.openDelta(PART);
      client.send({ typeUrl: PART, resourceNamesSubscribe: ["a"] });
      world.run();
      client.ack(client.next(), {
        resourceNamesSubscribe: ["b"],
        initialResourceVersions: { b: "v1", gone: "v1" },
      });
      world.run();
      expect(client.next()).toMatchObject({ resources: [{ name: "b" }], removedResources: [] });
    },
  },
  {
    rules: ["S-RECON-5", "S-DSUB-3"],
    title:
      "answers a name in full that is asked for in a second message, though the first listed it",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "a", "", v1);
      world.put(PART, "b", "", v1);
      const { client } = world.openDelta(PART);
      client.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["a"],
        initialResourceVersions: { b: "v1" },
      });
      client.send({ typeUrl: PART, resourceNamesSubscribe: ["b"] });
      world.run();
      expect(client.next()).toMatchObject({
        resources: [{ name: "a" }, { name: "b" }],
        removedResources: [],
      });
    },
  },
  {
    rules: ["S-RECON-6"],
    title: "answers a first request by one small response though everything is equal",
    variants: deltaVariants,
    run(world) {
      const names = Array.from({ length: 50 }, (_, n) => `r${n}`);
      for (const name of names) world.put(PART, name, "x".repeat(100), v1);
      const { client, stream } = world.openDelta(PART);
      client.send({
        typeUrl: PART,
        resourceNamesSubscribe: names,
        initialResourceVersions: Object.fromEntries(names.map((name) => [name, "v1"])),
      });
      world.run();
      expect(stream.unread).toBe(1);
      const bytes = stream.take();
      expect(bytes?.length).toBeLessThan(100);
    },
  },
  {
    rules: ["S-RECON-6"],
    title: "gives no such response to later requests",
    variants: deltaVariants,
    run(world) {
      const client = world.connect().of(PART);
      client.unsubscribe("a");
      client.unsubscribe("b");
      world.run();
      expect(client.rest()).toHaveLength(1);
      client.unsubscribe("c");
      world.run();
      expect(client.rest()).toEqual([]);
    },
  },
]);

runCases("reconnecting in delta without a list of glob members", [
  {
    rules: ["S-RECON-10"],
    title: "sends Envoy every member, and names those that were deleted while it was away",
    variants: deltaVariants,
    world: { quirks: clientQuirks },
    run(world) {
      for (const id of ["1", "2", "3"]) world.put(PART, member(id), "", v1);
      expect(comesBack(world, { resourceNamesSubscribe: [glob] }, envoy)).toEqual([
        { names: ["1", "2", "3"].map(member), removed: [] },
      ]);
      world.remove(PART, member("2"));
      world.clock.advance(599_000);
      expect(comesBack(world, { resourceNamesSubscribe: [glob] }, envoy)).toEqual([
        { names: ["1", "3"].map(member), removed: [member("2")] },
      ]);
    },
  },
  {
    rules: ["S-RECON-10"],
    title: "names the members of a glob that has become empty, beside the glob",
    variants: deltaVariants,
    world: { quirks: clientQuirks },
    run(world) {
      world.put(PART, member("1"));
      world.remove(PART, member("1"));
      expect(comesBack(world, { resourceNamesSubscribe: [glob] }, envoy)).toEqual([
        { names: [], removed: [glob, member("1")] },
      ]);
    },
  },
  {
    rules: ["S-RECON-10"],
    title: "does not name what was created again, nor what was deleted more than ten minutes ago",
    variants: deltaVariants,
    world: { quirks: clientQuirks },
    run(world) {
      for (const id of ["1", "2"]) world.put(PART, member(id));
      for (const id of ["1", "2"]) world.remove(PART, member(id));
      world.put(PART, member("1"));
      world.clock.advance(601_000);
      expect(comesBack(world, { resourceNamesSubscribe: [glob] }, envoy)).toEqual([
        { names: [member("1")], removed: [] },
      ]);
    },
  },
  {
    rules: ["S-RECON-10"],
    title: "remembers deletions as long as the source says",
    variants: deltaVariants,
    world: { quirks: clientQuirks, cache: { tombstoneMs: 5_000 } },
    run(world) {
      world.put(PART, member("1"));
      world.put(PART, member("2"));
      world.remove(PART, member("1"));
      world.clock.advance(4_000);
      expect(comesBack(world, { resourceNamesSubscribe: [glob] }, envoy)).toMatchObject([
        { removed: [member("1")] },
      ]);
      world.clock.advance(2_000);
      expect(comesBack(world, { resourceNamesSubscribe: [glob] }, envoy)).toMatchObject([
        { removed: [] },
      ]);
    },
  },
  {
    rules: ["S-RECON-10", "S-RECON-4"],
    title: "goes by the list for a glob of which it names members",
    variants: deltaVariants,
    world: { quirks: clientQuirks },
    run(world) {
      for (const id of ["1", "2", "3"]) world.put(PART, member(id), "", v1);
      world.remove(PART, member("2"));
      world.remove(PART, member("3"));
      const initialResourceVersions = { [member("1")]: "v1", [member("2")]: "v1" };
      expect(
        comesBack(world, { resourceNamesSubscribe: [glob], initialResourceVersions }, envoy),
      ).toEqual([{ names: [], removed: [member("2")] }]);
    },
  },
  {
    rules: ["S-RECON-10"],
    title: "tells others only of what they list",
    variants: deltaVariants,
    world: { quirks: clientQuirks },
    run(world) {
      world.put(PART, member("1"));
      world.put(PART, member("2"));
      world.remove(PART, member("2"));
      expect(comesBack(world, { resourceNamesSubscribe: [glob] })).toEqual([
        { names: [member("1")], removed: [] },
      ]);
    },
  },
  {
    rules: ["S-RECON-10"],
    title: "names them too when the glob is known later than a name beside it",
    variants: deltaVariants,
    world: { ready: false, quirks: clientQuirks },
    run(world) {
      const feed = addHeldFeed(world.cache);
      begin(world, world.connect().of(PART), glob, member("1"), member("2"));
      for (const name of ["a", member("1"), member("2")]) feed.put(PART, name);
      feed.miss(PART, member("2"));
      const { client } = world.openDelta(PART, { node: envoy });
      client.send({ typeUrl: PART, resourceNamesSubscribe: ["a", glob] });
      world.run();
      const first = client.next();
      expect(first).toMatchObject({ resources: [{ name: "a" }], removedResources: [] });
      client.ack(first);
      feed.settle(PART, glob);
      world.run();
      expect(client.next()).toMatchObject({
        resources: [{ name: member("1") }],
        removedResources: [member("2")],
      });
    },
  },
]);

runCases("reconnecting in SotW", [
  ...[FULL, PART].flatMap((typeUrl) => [
    ...[[], ["*"]].map((resourceNames) => ({
      rules: ["S-RECON-7"],
      title: `says nothing to ${resourceNames.length === 0 ? "an empty list" : "*"} for ${typeUrl} under the current version until the state changes`,
      variants: sotwVariants,
      run(world: World) {
        world.put(typeUrl, "a", "1");
        const before = world.openSotw(typeUrl);
        before.client.send({ typeUrl, resourceNames });
        world.run();
        const { versionInfo } = before.client.next();
        before.stream.cancel();
        const { client } = world.openSotw(typeUrl);
        client.send({ typeUrl, resourceNames, versionInfo, responseNonce: "left over" });
        world.run();
        expect(client.rest()).toEqual([]);
        world.put(typeUrl, "b");
        world.run();
        expect(client.next().resources).toHaveLength(typeUrl === FULL ? 2 : 1);
      },
    })),
    {
      rules: ["S-RECON-7"],
      title: `answers * for ${typeUrl} under another version, and a list of names under the current one`,
      variants: sotwVariants,
      run(world: World) {
        world.put(typeUrl, "a", "1");
        for (const resourceNames of [["a"], ["*", "a"]]) {
          const before = world.openSotw(typeUrl).client;
          before.send({ typeUrl, resourceNames });
          world.run();
          const { client } = world.openSotw(typeUrl);
          client.send({ typeUrl, resourceNames, versionInfo: before.next().versionInfo });
          world.run();
          expect(client.rest(), resourceNames.join()).toHaveLength(1);
        }
        const { client } = world.openSotw(typeUrl);
        client.send({ typeUrl, resourceNames: ["*"], versionInfo: "another" });
        world.run();
        expect(client.rest()).toHaveLength(1);
      },
    },
    {
      rules: ["S-RECON-7"],
      title: `answers * for ${typeUrl} under any version when a state that was not loaded is`,
      variants: sotwVariants,
      world: { ready: false },
      run(world: World) {
        const feed = addHeldFeed(world.cache);
        const before = world.openSotw(typeUrl).client;
        before.send({ typeUrl, resourceNames: ["*"] });
        feed.put(typeUrl, "a");
        feed.settle(typeUrl, "*");
        world.run();
        const { versionInfo } = before.next();
        const restarted = createWorld({ variant: world.variant, ready: false });
        const source = addHeldFeed(restarted.cache);
        const { client } = restarted.openSotw(typeUrl);
        client.send({ typeUrl, resourceNames: ["*"], versionInfo });
        restarted.run();
        restarted.clock.advance(60_000);
        restarted.run();
        expect(client.rest()).toEqual([]);
        source.put(typeUrl, "a");
        source.settle(typeUrl, "*");
        restarted.run();
        const [answer, ...more] = client.rest();
        expect(answer?.resources).toHaveLength(1);
        expect(answer?.versionInfo).toBe(versionInfo);
        expect(more).toEqual([]);
      },
    },
  ]),
]);

/** A client that comes back on ADS with a cluster that is gone, and a route that points at it no more. */
function comesBackFromSwap(world: World): RawClient<"sotw"> {
  world.put(cluster.typeUrl, "Y");
  world.put(routeConfiguration.typeUrl, "r", "to Y");
  const { client } = world.openSotw("");
  client.send({ typeUrl: cluster.typeUrl, resourceNames: ["X"], versionInfo: "before" });
  client.send({ typeUrl: routeConfiguration.typeUrl, resourceNames: ["r"], versionInfo: "before" });
  world.run();
  return client;
}

const toldOf = (responses: readonly DiscoveryResponse[]): readonly string[] =>
  responses.map(({ typeUrl, resources }) => `${shortNameOf(typeUrl) ?? ""} ${resources.length}`);

runCases("what is gone while a SotW client was away", [
  {
    rules: ["S-ORD-3", "S-RECON-7"],
    title:
      "stays at a client that asks for it by name until it has accepted the routes that pointed at it",
    variants: ["sotw/ads"],
    world: { types: envoyTypes, quirks: clientQuirks },
    run(world) {
      const client = comesBackFromSwap(world);
      const [routes, ...more] = client.rest();
      expect(toldOf(routes === undefined ? more : [routes, ...more])).toEqual(["routes 1"]);
      if (routes !== undefined) client.ack(routes);
      client.send({ typeUrl: cluster.typeUrl, resourceNames: ["X", "Y"], versionInfo: "before" });
      world.run();
      expect(toldOf(client.rest())).toEqual(["clusters 1"]);
    },
  },
  {
    rules: ["S-ORD-3", "S-ORD-4"],
    title: "goes after 15 s although the client has not accepted the routes",
    variants: ["sotw/ads"],
    world: { types: envoyTypes, quirks: clientQuirks },
    run(world) {
      const client = comesBackFromSwap(world);
      expect(toldOf(client.rest())).toEqual(["routes 1"]);
      world.clock.advance(14_000);
      world.run();
      expect(client.rest()).toEqual([]);
      world.clock.advance(2_000);
      world.run();
      expect(toldOf(client.rest())).toEqual(["clusters 0"]);
    },
  },
  {
    rules: ["S-RECON-7"],
    title: "goes at once where nobody on the stream could refer to it",
    variants: sotwVariants,
    world: { types: envoyTypes, quirks: clientQuirks },
    run(world) {
      world.put(cluster.typeUrl, "Y");
      const { client } = world.openSotw(cluster.typeUrl);
      client.send({ typeUrl: cluster.typeUrl, resourceNames: ["X", "Y"], versionInfo: "before" });
      world.run();
      expect(toldOf(client.rest())).toEqual(["clusters 1"]);
    },
  },
]);
