import { cluster, clusterLoadAssignment, envoyTypes, virtualHost } from "@xdstp/resource-types";
import { clientQuirks } from "@xdstp/server";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { Answer } from "../harness/answer.ts";
import type { World } from "../harness/create-world.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { payloadOf } from "../harness/payload.ts";
import { runCases } from "../harness/rule-case.ts";
import type { TypeClient } from "../harness/type-client.ts";
import { adsVariants, deltaVariants, isDelta, sotwVariants } from "../harness/variant.ts";

const TTL = "xds.config.supports-resource-ttl";
const WRAPPED = "xds.config.supports-resource-in-sotw";
const takesTtl = { node: { id: "n", clientFeatures: [TTL, WRAPPED] } };
const envoy = { node: { id: "n", userAgentName: "envoy", clientFeatures: [WRAPPED] } };
const forEnvoy = { types: envoyTypes, quirks: clientQuirks };
const bothKinds = [PART, FULL];
const glob = "xdstp://a/test.Part/x/*";
const member = "xdstp://a/test.Part/x/1";

/** A heartbeat as it is read: nothing but name, version and TTL. */
const beat = (name: string, version: string, ttlMs: number): object => ({
  name,
  version,
  ttlMs,
  hasBody: false,
});

/** Moves the time on in steps of a tenth of a second. */
function pass(world: World, ms: number): void {
  for (let left = ms; left > 0; left -= 100) {
    world.clock.advance(Math.min(100, left));
    world.run();
  }
}

/** Accepts all that comes within a time, and gives it. */
function takeFor(world: World, client: TypeClient, ms: number): readonly Answer[] {
  const all: Answer[] = [];
  for (let left = ms; left > 0; left -= 100) {
    pass(world, Math.min(100, left));
    all.push(...acceptAll(world, client));
  }
  return all;
}

const versionOf = ([answer]: readonly Answer[]): string => answer?.resources[0]?.version ?? "";

runCases("TTL and heartbeats", [
  ...bothKinds.map((typeUrl) => ({
    rules: ["S-TTL-1"],
    title: `sends the TTL of a ${typeUrl} to those only that announce that they take it`,
    run(world: World) {
      world.put(typeUrl, "a", "1", { ttlMs: 9_500 });
      const takes = begin(world, world.connect(takesTtl).of(typeUrl), "a");
      expect(takes).toMatchObject([
        { resources: [{ name: "a", text: "1", ttlMs: 9_500, wrapped: true }] },
      ]);
      const other = world.connect({ node: { id: "n", clientFeatures: [WRAPPED] } }).of(typeUrl);
      expect(begin(world, other, "a")[0]?.resources[0]).not.toHaveProperty("ttlMs");
      expect(takeFor(world, other, 20_000)).toEqual([]);
    },
  })),
  {
    rules: ["S-TTL-1", "S-WRAP-2"],
    title: "sends no TTL to a client that does not read wrapped resources",
    variants: sotwVariants,
    run(world) {
      world.put(PART, "a", "1", { ttlMs: 3_000 });
      const client = world.connect({ node: { id: "n", clientFeatures: [TTL] } }).of(PART);
      expect(begin(world, client, "a")).toMatchObject([
        { resources: [{ name: "a", text: "1", wrapped: false }] },
      ]);
      expect(takeFor(world, client, 10_000)).toEqual([]);
    },
  },
  {
    rules: ["S-WRAP-2", "S-TTL-1"],
    title: "wraps what has a TTL and nothing else",
    variants: sotwVariants,
    run(world) {
      world.put(PART, "a", "1", { ttlMs: 3_000 });
      world.put(PART, "b");
      const [answer] = begin(world, world.connect(takesTtl).of(PART), "a", "b");
      expect(answer?.resources.map(({ name, wrapped }) => [name, wrapped])).toEqual([
        ["a", true],
        ["b", false],
      ]);
    },
  },
  ...bothKinds.map((typeUrl) => ({
    rules: ["S-TTL-2"],
    title: `keeps a ${typeUrl} alive three times in its TTL, with name, version and TTL and without body`,
    run(world: World) {
      world.put(typeUrl, "a", "1", { ttlMs: 9_000, version: "v1" });
      const client = world.connect(takesTtl).of(typeUrl);
      const first = begin(world, client, "a");
      expect(versionOf(first)).toBe("v1");
      const beats = takeFor(world, client, 9_000);
      expect(beats).toHaveLength(3);
      for (const { resources, removed } of beats)
        expect({ resources, removed }).toMatchObject({
          resources: [beat("a", "v1", 9_000)],
          removed: [],
        });
      expect(new Set(beats.map(({ nonce }) => nonce)).size).toBe(3);
      expect(takeFor(world, client, 90_000)).toHaveLength(30);
    },
  })),
  {
    rules: ["S-TTL-2"],
    title: "sends heartbeats in the pace of each TTL, for that TTL alone",
    run(world) {
      world.put(PART, "slow", "", { ttlMs: 9_000 });
      world.put(PART, "fast", "", { ttlMs: 3_000 });
      world.put(PART, "for ever");
      const client = world.connect(takesTtl).of(PART);
      begin(world, client, "slow", "fast", "for ever");
      const beats = takeFor(world, client, 9_000).map(({ names }) => names.join());
      expect(beats.filter((names) => names === "fast")).toHaveLength(9);
      expect(beats.filter((names) => names === "slow")).toHaveLength(3);
      expect(beats).toHaveLength(12);
    },
  },
  {
    rules: ["S-TTL-2"],
    title:
      "makes one heartbeat for all clients and resources of a TTL, and none once they have gone",
    run(world) {
      for (const name of ["a", "b", "c"]) world.put(PART, name, "", { ttlMs: 3_000 });
      const peers = Array.from({ length: 100 }, () => world.connect(takesTtl));
      const clients = peers.map((peer) => peer.of(PART));
      for (const client of clients) begin(world, client, "*");
      const { encoded } = world.context.frames.counters;
      pass(world, 1_000);
      for (const client of clients)
        expect(client.rest()).toMatchObject([{ names: ["a", "b", "c"] }]);
      expect(world.context.frames.counters.encoded).toBe(encoded + 1);
      expect(world.clock.pending).toBeLessThanOrEqual(2);
      for (const peer of peers) peer.leave();
      pass(world, 10_000);
      expect(world.clock.pending).toBe(0);
    },
  },
  {
    rules: ["S-TTL-2"],
    title: "keeps alive by the version that was sent, not by one that waits",
    run(world) {
      world.put(PART, "a", "1", { ttlMs: 900, version: "v1" });
      const client = world.connect(takesTtl).of(PART);
      begin(world, client, "a");
      world.put(PART, "a", "2", { ttlMs: 900, version: "v2" });
      world.run();
      const second = client.next();
      expect(second).toMatchObject({ resources: [{ version: "v2", hasBody: true }] });
      world.put(PART, "a", "3", { ttlMs: 900, version: "v3" });
      pass(world, 900);
      const beats = client.rest();
      expect(beats.map(({ resources }) => resources)).toMatchObject([
        [beat("a", "v2", 900)],
        [beat("a", "v2", 900)],
        [beat("a", "v2", 900)],
      ]);
      client.ack(second);
      for (const one of beats) client.ack(one);
      world.run();
      expect(client.next()).toMatchObject({ resources: [{ version: "v3", hasBody: true }] });
    },
  },
  {
    rules: ["S-TTL-2", "S-ACK-8"],
    title: "keeps what a client has accepted alive, not what it has rejected",
    run(world) {
      for (const typeUrl of bothKinds) {
        world.put(typeUrl, "a", "1", { ttlMs: 900, version: "v1" });
        const client = world.connect(takesTtl).of(typeUrl);
        begin(world, client, "a");
        world.put(typeUrl, "a", "2", { ttlMs: 900, version: "v2" });
        world.run();
        client.nack(client.next(), "bad");
        const beats = takeFor(world, client, 900);
        expect(beats.map(({ resources }) => resources)).toMatchObject([
          [beat("a", "v1", 900)],
          [beat("a", "v1", 900)],
          [beat("a", "v1", 900)],
        ]);
      }
    },
  },
  {
    rules: ["S-TTL-2", "S-TTL-7", "S-ACK-8"],
    title: "keeps what a client has accepted alive at its own pace, after it rejected another TTL",
    run(world) {
      for (const typeUrl of bothKinds) {
        world.put(typeUrl, "a", "1", { ttlMs: 900, version: "v1" });
        const client = world.connect(takesTtl).of(typeUrl);
        begin(world, client, "a");
        world.put(typeUrl, "a", "2", { ttlMs: 600_000, version: "v2" });
        world.run();
        const second = client.next();
        pass(world, 400);
        client.nack(second, "bad");
        expect(takeFor(world, client, 900).map(({ resources }) => resources)).toMatchObject([
          [beat("a", "v1", 900)],
          [beat("a", "v1", 900)],
          [beat("a", "v1", 900)],
        ]);
      }
    },
  },
  {
    rules: ["S-TTL-2"],
    title: "ceases to keep alive what was removed or unsubscribed",
    run(world) {
      for (const name of ["a", "b", "c"]) world.put(PART, name, "", { ttlMs: 900 });
      const client = world.connect(takesTtl).of(PART);
      begin(world, client, "a", "b", "c");
      client.unsubscribe("a");
      const [one] = takeFor(world, client, 300);
      expect(one?.names).toEqual(["b", "c"]);
      world.remove(PART, "b");
      acceptAll(world, client);
      const [two] = takeFor(world, client, 300);
      expect(two?.names).toEqual(["c"]);
      client.unsubscribe("b", "c");
      world.run();
      expect(takeFor(world, client, 3_000)).toEqual([]);
      expect(world.clock.pending).toBe(0);
    },
  },
  {
    rules: ["S-TTL-2", "S-SIZE-4"],
    title: "sends none for what was too large to be sent",
    world: { limits: { responseBytes: 2_000 } },
    run(world) {
      world.put(PART, "giant", "x".repeat(3_000), { ttlMs: 900 });
      world.put(PART, "small", "", { ttlMs: 900 });
      const client = world.connect(takesTtl).of(PART);
      begin(world, client, "giant", "small");
      expect(takeFor(world, client, 300)).toMatchObject([{ names: ["small"] }]);
    },
  },
  {
    rules: ["S-TTL-2"],
    title: "sends one that is rejected again whole, for who rejects it does not hold it",
    run(world) {
      for (const typeUrl of bothKinds) {
        world.put(typeUrl, "a", "1", { ttlMs: 900, version: "v1" });
        const client = world.connect(takesTtl).of(typeUrl);
        begin(world, client, "a");
        pass(world, 300);
        client.nack(client.next(), "what is this?");
        world.run();
        expect(client.rest()).toMatchObject([
          { resources: [{ name: "a", version: "v1", ttlMs: 900, hasBody: true }] },
        ]);
        expect(world.events.filter(({ kind }) => kind === "nack")).toHaveLength(
          1 + bothKinds.indexOf(typeUrl),
        );
      }
    },
  },
  {
    rules: ["S-TTL-2"],
    title: "waits with a heartbeat while the wire is full, and does not let the TTL pass",
    run(world) {
      world.put(PART, "a", "", { ttlMs: 3_000 });
      const peer = world.connect(takesTtl);
      const client = peer.of(PART);
      begin(world, client, "a");
      const { stream } = peer.streamOf(PART);
      stream.fill();
      pass(world, 1_000);
      expect(client.rest()).toHaveLength(1); // that which filled it
      pass(world, 1_100);
      expect(client.rest()).toEqual([]);
      stream.drain();
      pass(world, 300);
      expect(client.rest()).toMatchObject([{ names: ["a"] }]);
    },
  },
  ...bothKinds.map((typeUrl) => ({
    rules: ["S-TTL-5", "S-ACK-16"],
    title: `keeps a ${typeUrl} alive beside an unanswered response, which stays the one to be answered`,
    run(world: World) {
      world.put(typeUrl, "a", "1", { ttlMs: 1_000, version: "v1" });
      const client = world.connect(takesTtl).of(typeUrl);
      client.subscribe("a");
      world.run();
      const first = client.next();
      pass(world, 1_000);
      const beats = client.rest();
      expect(beats.map(({ resources }) => resources)).toMatchObject([
        [beat("a", "v1", 1_000)],
        [beat("a", "v1", 1_000)],
        [beat("a", "v1", 1_000)],
      ]);
      expect(world.status()[0]?.types[0]).toMatchObject({ state: "STALE", nonceSent: first.nonce });
      client.ack(first);
      world.run();
      expect(world.status()[0]?.types[0]).toMatchObject({
        state: "SYNCED",
        nonceAccepted: first.nonce,
      });
      for (const one of beats) client.ack(one);
      world.run();
      expect(world.status()[0]?.types[0]).toMatchObject({
        state: "SYNCED",
        nonceAccepted: first.nonce,
      });
      expect(world.events.filter(({ kind }) => kind === "stale-nonce")).toEqual([]);
      expect(client.rest()).toEqual([]);
    },
  })),
  {
    rules: ["S-TTL-5", "S-ACK-16"],
    title:
      "takes the answer to a heartbeat for that to what came before it, from a client that answers the newest only",
    run(world) {
      for (const typeUrl of bothKinds) {
        world.put(typeUrl, "a", "1", { ttlMs: 900 });
        const client = world.connect(takesTtl).of(typeUrl);
        client.subscribe("a");
        world.run();
        client.next();
        pass(world, 300);
        client.ack(client.next());
        world.run();
        expect(world.status().at(-1)?.types.at(-1)).toMatchObject({ state: "SYNCED" });
        world.put(typeUrl, "a", "2", { ttlMs: 900 });
        world.run();
        client.next();
        pass(world, 300);
        client.nack(client.next(), "bad");
        world.run();
        expect(
          world
            .status()
            .at(-1)
            ?.types.find((type) => type.typeUrl === typeUrl),
        ).toMatchObject({ state: "NACKED", lastError: { message: "bad" } });
      }
    },
  },
  {
    rules: ["S-TTL-5", "S-NONCE-6"],
    title: "takes a list that crossed a heartbeat: it has seen the newest response",
    variants: sotwVariants,
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, "", { ttlMs: 900 });
      const client = world.connect(takesTtl).of(PART);
      begin(world, client, "a");
      pass(world, 300);
      client.subscribe("b");
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([["a"], ["b"]]);
      client.unsubscribe("b");
      pass(world, 300);
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([["a"]]);
    },
  },
  {
    rules: ["S-TTL-5", "S-NONCE-6"],
    title: "takes a list under the nonce of a heartbeat for one under that of the newest response",
    variants: sotwVariants,
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, "", { ttlMs: 900 });
      const client = world.connect(takesTtl).of(PART);
      begin(world, client, "a");
      expect(takeFor(world, client, 300)).toHaveLength(1);
      expect(begin(world, client, "b").map(({ names }) => names)).toEqual([["b"]]);
    },
  },
  ...bothKinds.flatMap((typeUrl) =>
    [6_000, undefined].map((ttlMs) => ({
      rules: ["S-TTL-7"],
      title: `sends a ${typeUrl} anew, in the same version, when its TTL becomes ${ttlMs ?? "none"}`,
      run(world: World) {
        world.put(typeUrl, "a", "1", { ttlMs: 900, version: "v1" });
        const client = world.connect(takesTtl).of(typeUrl);
        begin(world, client, "a");
        world.put(typeUrl, "a", "1", { version: "v1", ...(ttlMs === undefined ? {} : { ttlMs }) });
        const [anew, ...more] = acceptAll(world, client);
        expect(anew?.resources).toMatchObject([
          { name: "a", text: "1", hasBody: true, ...(ttlMs === undefined ? {} : { ttlMs }) },
        ]);
        expect(anew?.resources[0]?.ttlMs).toBe(ttlMs);
        expect(more).toEqual([]);
        expect(takeFor(world, client, 6_000)).toHaveLength(ttlMs === undefined ? 0 : 3);
      },
    })),
  ),
  {
    rules: ["S-TTL-8"],
    title:
      "names everything in a heartbeat of full state: what has a TTL without body, the rest whole",
    variants: sotwVariants,
    run(world) {
      world.put(FULL, "a", "1", { ttlMs: 900, version: "v1" });
      world.put(FULL, "b", "2", { ttlMs: 9_000, version: "v1" });
      world.put(FULL, "c", "3");
      const client = world.connect(takesTtl).of(FULL);
      const [first] = begin(world, client, "*");
      const beats = takeFor(world, client, 3_000);
      expect(beats).toHaveLength(10);
      for (const { names, resources, version } of beats) {
        expect(names).toEqual(first?.names);
        expect(version).toBe(first?.version);
        expect(resources).toMatchObject([
          beat("a", "v1", 900),
          beat("b", "v1", 9_000),
          { name: "c", text: "3", hasBody: true },
        ]);
      }
    },
  },
  {
    rules: ["S-TTL-8"],
    title: "keeps clusters alive that go only when the routes have let go of them",
    variants: adsVariants,
    world: {
      types: [
        { typeUrl: FULL, fullStateInSotw: true, refersTo: [PART] },
        { typeUrl: PART, follows: [{ typeUrl: FULL, when: "accepted" }] },
      ],
    },
    run(world) {
      world.put(FULL, "x", "1", { ttlMs: 900, version: "v1" });
      world.put(PART, "r", "x");
      const peer = world.connect(takesTtl);
      const [clusters, routes] = [peer.of(FULL), peer.of(PART)];
      begin(world, clusters, "*");
      begin(world, routes, "*");
      world.cache.transaction((writer) => {
        writer.remove(FULL, "x");
        writer.put({ typeUrl: FULL, name: "y", value: payloadOf("y") });
        writer.put({ typeUrl: PART, name: "r", value: payloadOf("r", "y") });
      });
      world.run();
      const [added] = clusters.rest();
      expect(added?.names).toContain("y");
      if (added !== undefined) clusters.ack(added);
      world.run();
      const [changed] = routes.rest();
      pass(world, 300);
      expect(clusters.rest()).toMatchObject([
        {
          resources: expect.arrayContaining([
            expect.objectContaining(beat("x", "v1", 900)),
          ]) as object,
        },
      ]);
      if (changed !== undefined) routes.ack(changed);
      world.run();
      const [gone] = acceptAll(world, clusters);
      expect(isDelta(world.variant) ? gone?.removed : gone?.names).toEqual(
        isDelta(world.variant) ? ["x"] : ["y"],
      );
      expect(takeFor(world, clusters, 3_000)).toEqual([]);
    },
  },
  {
    rules: ["B-TTL-10"],
    title:
      "leaves the TTL of a virtual host out, since a resource without body means that there is none",
    variants: deltaVariants,
    world: { types: envoyTypes },
    run(world) {
      world.put(virtualHost.typeUrl, "r/host", "", { ttlMs: 900 });
      const client = world.connect(takesTtl).of(virtualHost.typeUrl);
      expect(begin(world, client, "r/host")[0]?.resources[0]).not.toHaveProperty("ttlMs");
      expect(takeFor(world, client, 3_000)).toEqual([]);
    },
  },
  {
    rules: ["S-TTL-1"],
    title: "sends Envoy TTLs and heartbeats although it announces nothing",
    variants: deltaVariants,
    world: forEnvoy,
    run(world) {
      world.put(clusterLoadAssignment.typeUrl, "a", "", { ttlMs: 900, version: "v1" });
      const client = world.connect(envoy).of(clusterLoadAssignment.typeUrl);
      expect(begin(world, client, "a")).toMatchObject([{ resources: [{ ttlMs: 900 }] }]);
      expect(takeFor(world, client, 300)).toMatchObject([{ resources: [beat("a", "v1", 900)] }]);
    },
  },
  {
    rules: ["S-TTL-1"],
    title: "sends Envoy no TTL, whatever it announces: the end of one crashes it",
    variants: sotwVariants,
    world: forEnvoy,
    run(world) {
      for (const { typeUrl } of [cluster, clusterLoadAssignment]) {
        world.put(typeUrl, "a", "1", { ttlMs: 900 });
        const client = world
          .connect({ node: { ...envoy.node, clientFeatures: [WRAPPED, TTL] } })
          .of(typeUrl);
        expect(begin(world, client, "a")[0]?.resources[0]).not.toHaveProperty("ttlMs");
        expect(takeFor(world, client, 3_000)).toEqual([]);
      }
    },
  },
  {
    rules: ["B-TTL-10"],
    title:
      "sends Envoy no heartbeat for a member of a glob, but for the same name asked for by itself",
    variants: deltaVariants,
    world: { quirks: clientQuirks },
    run(world) {
      world.put(PART, member, "", { ttlMs: 900 });
      const other = world.connect(takesTtl).of(PART);
      begin(world, other, glob);
      expect(takeFor(world, other, 900)).toHaveLength(3);
      const client = world.connect(envoy).of(PART);
      begin(world, client, glob);
      expect(takeFor(world, client, 3_000)).toEqual([]);
      begin(world, client, member);
      expect(takeFor(world, client, 900)).toMatchObject([
        { names: [member] },
        { names: [member] },
        { names: [member] },
      ]);
    },
  },
  {
    rules: ["S-TTL-2", "S-RECON-4"],
    title: "keeps alive at once what a client that comes back lists in the version that exists",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "a", "", { ttlMs: 9_000, version: "v1" });
      const { client } = world.openDelta(PART, takesTtl);
      client.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["a"],
        initialResourceVersions: { a: "v1" },
      });
      world.run();
      expect(client.next().resources).toEqual([]);
      expect(client.next()).toMatchObject({
        resources: [{ name: "a", version: "v1", ttl: { seconds: 9n } }],
      });
      pass(world, 9_000);
      expect(client.rest()).toHaveLength(3);
    },
  },
  {
    rules: ["S-TTL-2", "S-RECON-4", "C-TTL-6"],
    title:
      "keeps alive what a client lists that comes back as soon as the wire takes it, not a third of the TTL later",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "a", "", { ttlMs: 9_000, version: "v1" });
      const { client, stream } = world.openDelta(PART, takesTtl);
      stream.fill();
      client.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["a"],
        initialResourceVersions: { a: "v1" },
      });
      world.run();
      expect(client.next().resources).toEqual([]);
      expect(client.rest()).toEqual([]);
      stream.drain();
      world.run();
      expect(client.next()).toMatchObject({
        resources: [{ name: "a", version: "v1", ttl: { seconds: 9n } }],
      });
    },
  },
  {
    rules: ["S-TTL-2", "S-RECON-7", "C-TTL-6"],
    title:
      "keeps alive what a client holds that comes back with the current version as soon as the wire takes it",
    variants: ["sotw/ads"],
    run(world) {
      world.put(FULL, "a", "", { ttlMs: 9_000, version: "v1" });
      world.put(PART, "b");
      const [first] = begin(world, world.connect(takesTtl).of(FULL), "*");
      const { client, stream } = world.openSotw(FULL, takesTtl);
      stream.fill();
      client.send({ typeUrl: PART, resourceNames: ["b"] });
      world.run();
      client.send({ typeUrl: FULL, resourceNames: ["*"], versionInfo: first?.version ?? "" });
      world.run();
      expect(client.rest()).toMatchObject([{ typeUrl: PART }]);
      stream.drain();
      world.run();
      expect(client.rest()).toMatchObject([{ typeUrl: FULL }]);
    },
  },
  {
    rules: ["S-TTL-2", "S-RECON-7"],
    title: "keeps alive at once what a client holds that comes back with the current version",
    variants: sotwVariants,
    run(world) {
      world.put(FULL, "a", "", { ttlMs: 9_000, version: "v1" });
      const [first] = begin(world, world.connect(takesTtl).of(FULL), "*");
      const { client } = world.openSotw(FULL, takesTtl);
      client.send({ typeUrl: FULL, resourceNames: ["*"], versionInfo: first?.version ?? "" });
      world.run();
      expect(client.rest()).toHaveLength(1);
      pass(world, 9_000);
      expect(client.rest()).toHaveLength(3);
    },
  },
]);
