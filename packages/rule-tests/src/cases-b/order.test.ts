import type { TransactionWriter } from "@xdstp/cache";
import type { ResourceType } from "@xdstp/core";
import {
  cluster,
  clusterLoadAssignment as assignment,
  envoyTypes,
  listener,
  routeConfiguration as route,
  scopedRouteConfiguration as scopedRoute,
  secret,
  shortNameOf,
  typedExtensionConfig as extension,
  virtualHost,
} from "@xdstp/resource-types";
import { clientQuirks } from "@xdstp/server";
import type { DiscoveryResponse } from "@xdstp/protos/discovery";
import type { RawClient } from "@xdstp/testing";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { Answer } from "../harness/answer.ts";
import type { World } from "../harness/create-world.ts";
import { edsCluster, inlineListener, rdsListener, routeTo } from "../harness/envoy-payloads.ts";
import { nameIn, payloadOf, textIn } from "../harness/payload.ts";
import type { Peer } from "../harness/peer.ts";
import { runCases } from "../harness/rule-case.ts";
import { adsVariants, isDelta, perTypeVariants } from "../harness/variant.ts";

const withEnvoyTypes = { types: envoyTypes };

/** Types whose references are not known. */
const baseAndTop: readonly ResourceType[] = [
  { typeUrl: "t/base", fullStateInSotw: true },
  { typeUrl: "t/top", follows: [{ typeUrl: "t/base", when: "accepted" }] },
];

/** Two types of full state; a route names its cluster in its text. */
const fullStates: readonly ResourceType[] = [
  { typeUrl: "t/cluster", fullStateInSotw: true, refersTo: ["t/route"] },
  {
    typeUrl: "t/route",
    fullStateInSotw: true,
    follows: [{ typeUrl: "t/cluster", when: "accepted" }],
    references: (payload) => [{ typeUrl: "t/cluster", name: textIn(payload) }],
  },
];

/** The same, and listeners that a route waits for before it goes. */
const withListeners: readonly ResourceType[] = [
  ...fullStates.map((type) =>
    type.typeUrl === "t/route" ? { ...type, refersTo: ["t/listener"] } : type,
  ),
  { typeUrl: "t/listener", fullStateInSotw: true },
];

/** A peer with a route r to the cluster X that has not answered a listener. Then r leads elsewhere, X goes, and r goes: the client was sent nothing of it. */
function losesRouteAndCluster(world: World): {
  readonly peer: Peer;
  readonly ackListener: () => void;
} {
  world.put("t/cluster", "X");
  world.put("t/cluster", "Y");
  world.put("t/route", "r", "X");
  world.put("t/listener", "l");
  const peer = subscribed(world, [
    ["t/cluster", "*"],
    ["t/route", "*"],
    ["t/listener", "*"],
  ]);
  world.put("t/listener", "l", "2");
  world.put("t/route", "s", "Y");
  const open = read(world, peer);
  const ack = (type: string): void => {
    const answer = open.find(({ typeUrl }) => typeUrl === type);
    if (answer !== undefined) peer.of(type).ack(answer);
  };
  world.put("t/route", "r", "Y");
  world.remove("t/cluster", "X");
  expect(read(world, peer)).toEqual([]);
  world.remove("t/route", "r");
  ack("t/route");
  expect(read(world, peer)).toEqual([]);
  return {
    peer,
    ackListener() {
      ack("t/listener");
    },
  };
}

/** `clusters +X +Y -Z`, as the wire has it. */
function told({ typeUrl, names, removed }: Answer): string {
  return [
    shortNameOf(typeUrl) ?? typeUrl,
    ...[...names].sort().map((name) => `+${name}`),
    ...[...removed].sort().map((name) => `-${name}`),
  ].join(" ");
}

/** Runs, and reads what has come on all streams, without an answer. */
function read(world: World, peer: Peer): readonly Answer[] {
  world.run();
  return peer.answers();
}

/** Runs, reads and accepts until nothing comes any more. */
function readAll(world: World, peer: Peer): readonly string[] {
  const all: string[] = [];
  for (let answers = read(world, peer); answers.length > 0; answers = read(world, peer)) {
    all.push(...answers.map(told));
    for (const answer of answers) peer.of(answer.typeUrl).ack(answer);
  }
  return all;
}

/** A peer that holds everything of these. */
function subscribed(
  world: World,
  wanted: readonly (readonly [typeUrl: string, ...names: string[]])[],
  node?: Parameters<World["connect"]>[0],
): Peer {
  const peer = world.connect(node);
  for (const [typeUrl, ...names] of wanted) peer.of(typeUrl).subscribe(...names);
  readAll(world, peer);
  return peer;
}

/** A peer that asks for X and r by name, and one transaction that puts Y in the place of X. */
function swapsTheOnlyCluster(world: World): Peer {
  world.put(cluster.typeUrl, "X");
  world.put(route.typeUrl, "r", "to X");
  const peer = subscribed(world, [
    [cluster.typeUrl, "X"],
    [route.typeUrl, "r"],
  ]);
  world.cache.transaction((writer) => {
    writer.put({ typeUrl: route.typeUrl, name: "r", value: payloadOf("r", "to Y") });
    writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
    writer.remove(cluster.typeUrl, "X");
  });
  return peer;
}

runCases("the order of sending", [
  {
    rules: ["S-ORD-1"],
    title: "sends what one transaction swaps from secrets to virtual hosts, and removals last",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const put = (typeUrl: string, name: string, text: string): void => {
        world.put(typeUrl, name, text);
      };
      for (const [typeUrl, name] of [
        [cluster.typeUrl, "X"],
        [assignment.typeUrl, "X"],
        [listener.typeUrl, "l"],
        [route.typeUrl, "r"],
        [scopedRoute.typeUrl, "s"],
        [virtualHost.typeUrl, "r/v"],
        [secret.typeUrl, "tls"],
        [extension.typeUrl, "filter"],
      ] as const)
        put(typeUrl, name, "1");
      const peer = subscribed(world, [
        [virtualHost.typeUrl, "r/v"],
        [route.typeUrl, "r"],
        [scopedRoute.typeUrl, "*"],
        [listener.typeUrl, "*"],
        [assignment.typeUrl, "X", "Y"],
        [cluster.typeUrl, "*"],
        [extension.typeUrl, "filter"],
        [secret.typeUrl, "tls"],
      ]);
      world.cache.transaction((writer) => {
        for (const [{ typeUrl }, name] of [
          [virtualHost, "r/v"],
          [route, "r"],
          [scopedRoute, "s"],
          [listener, "l"],
          [assignment, "Y"],
          [cluster, "Y"],
          [extension, "filter"],
          [secret, "tls"],
        ] as const)
          writer.put({ typeUrl, name, value: payloadOf(name, "2") });
        writer.remove(cluster.typeUrl, "X");
        writer.remove(assignment.typeUrl, "X");
      });
      const [secrets, extensions, clusters, endpoints, listeners, ...rest] = readAll(world, peer);
      expect([secrets, extensions, clusters, endpoints, listeners]).toEqual([
        "secrets +tls",
        "extensions +filter",
        isDelta(world.variant) ? "clusters +Y" : "clusters +X +Y",
        "endpoints +Y",
        "listeners +l",
      ]);
      const routes = rest.splice(0, 2);
      expect([...routes].sort()).toEqual(["routes +r", "scoped-routes +s"]);
      expect(rest).toEqual([
        "virtual-hosts +r/v",
        ...(isDelta(world.variant) ? ["clusters -X", "endpoints -X"] : ["clusters +Y"]),
      ]);
    },
  },
  {
    rules: ["S-ORD-1"],
    title: "answers first requests in the order of types, whatever their own",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      for (const { typeUrl } of [cluster, assignment, listener, route]) world.put(typeUrl, "a");
      const peer = world.connect();
      for (const { typeUrl } of [route, listener, assignment, cluster])
        peer.of(typeUrl).subscribe("a");
      expect(readAll(world, peer)).toEqual([
        "clusters +a",
        "endpoints +a",
        "listeners +a",
        "routes +a",
      ]);
    },
  },
  {
    rules: ["S-ORD-1"],
    title: "keeps a cluster until the route that pointed at it has been sent anew",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      for (const name of ["X", "Y"]) world.put(cluster.typeUrl, name);
      world.put(route.typeUrl, "r", "to X");
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [route.typeUrl, "r"],
      ]);
      world.put(route.typeUrl, "r", "to X, slowly");
      const [open] = read(world, peer);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: route.typeUrl, name: "r", value: payloadOf("r", "to Y") });
        writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y", "2") });
        writer.remove(cluster.typeUrl, "X");
      });
      const whole = isDelta(world.variant) ? "clusters +Y" : "clusters +X +Y";
      expect(readAll(world, peer)).toEqual([whole]);
      if (open !== undefined) peer.of(route.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual([
        "routes +r",
        isDelta(world.variant) ? "clusters -X" : "clusters +Y",
      ]);
    },
  },
  {
    rules: ["S-ORD-3"],
    title:
      "removes a cluster after the route that led to it, where the client never saw it led elsewhere",
    variants: adsVariants,
    world: { types: withListeners },
    run(world) {
      const { peer, ackListener } = losesRouteAndCluster(world);
      ackListener();
      expect(readAll(world, peer)).toEqual(
        isDelta(world.variant) ? ["t/route -r", "t/cluster -X"] : ["t/route +s", "t/cluster +Y"],
      );
    },
  },
  {
    rules: ["S-ORD-3", "S-ORD-4"],
    title:
      "keeps a cluster while the route that led to it comes back, and waits for one that is rejected",
    variants: adsVariants,
    world: { types: withListeners },
    run(world) {
      const { peer, ackListener } = losesRouteAndCluster(world);
      world.put("t/route", "t", "Y");
      expect(readAll(world, peer)).toHaveLength(1);
      world.put("t/cluster", "Z", "bad");
      world.put("t/route", "r", "Z");
      const [clusters] = read(world, peer);
      if (clusters !== undefined) peer.of("t/cluster").nack(clusters, "bad");
      ackListener();
      expect(readAll(world, peer)).toEqual([]);
      world.put("t/cluster", "Z", "good");
      expect(readAll(world, peer)).toEqual(
        isDelta(world.variant)
          ? ["t/cluster +Z", "t/route +r", "t/cluster -X"]
          : ["t/cluster +X +Y +Z", "t/route +r +s +t", "t/cluster +Y +Z"],
      );
    },
  },
  {
    rules: ["S-ORD-3", "S-DSUB-3"],
    title: "answers a request for a cluster whose removal waits once the route to it has gone",
    variants: ["delta/ads"],
    world: { types: withListeners },
    run(world) {
      const { peer, ackListener } = losesRouteAndCluster(world);
      peer.of("t/cluster").subscribe("X");
      expect(readAll(world, peer)).toEqual([]);
      ackListener();
      expect(readAll(world, peer)).toEqual(["t/route -r", "t/cluster -X"]);
    },
  },
  {
    rules: ["S-ORD-1", "S-ORD-3"],
    title:
      "keeps the only cluster that is asked for by name until the route that pointed at it has been accepted",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = swapsTheOnlyCluster(world);
      expect(readAll(world, peer)).toEqual([
        "routes +r",
        ...(isDelta(world.variant) ? ["clusters -X"] : []),
      ]);
    },
  },
  {
    rules: ["S-ORD-3", "S-SUB-4"],
    title:
      "keeps a cluster that is gone beside the new one until a client has changed over and asks for it by name no more",
    variants: ["sotw/ads"],
    world: withEnvoyTypes,
    run(world) {
      const { client } = world.openSotw("");
      const rest = (): readonly DiscoveryResponse[] => {
        world.run();
        return client.rest();
      };
      const ask = (nonce: string, ...resourceNames: readonly string[]): void => {
        client.send({
          typeUrl: cluster.typeUrl,
          resourceNames: [...resourceNames],
          responseNonce: nonce,
        });
      };
      world.put(cluster.typeUrl, "X");
      world.put(route.typeUrl, "r", "to X");
      client.send({ typeUrl: cluster.typeUrl, resourceNames: ["X"] });
      client.send({ typeUrl: route.typeUrl, resourceNames: ["r"] });
      const [clusters, before] = rest();
      for (const response of [clusters, before, ...rest()])
        if (response !== undefined) client.ack(response);
      for (const response of rest()) client.ack(response);
      swap(world, ["Y"], ["X"]);
      const [routes] = rest();
      if (routes !== undefined) client.ack(routes);
      expect(rest()).toEqual([]);
      ask(clusters?.nonce ?? "", "X", "Y");
      const [both] = rest();
      expect(both?.resources).toHaveLength(2);
      ask(both?.nonce ?? "", "X", "Y");
      ask(both?.nonce ?? "", "Y");
      world.clock.advance(20_000);
      expect(rest()).toEqual([]);
      expect(world.clock.pending).toBe(0);
      world.put(cluster.typeUrl, "Y", "2");
      expect(rest()[0]?.resources).toHaveLength(1);
    },
  },
  {
    rules: ["S-ORD-3", "S-ORD-4"],
    title:
      "removes a cluster that is gone after 15 s from a client that goes on asking for it by name, and says so",
    variants: ["sotw/ads"],
    world: withEnvoyTypes,
    run(world) {
      const peer = swapsTheOnlyCluster(world);
      readAll(world, peer);
      world.clock.advance(14_000);
      expect(readAll(world, peer)).toEqual([]);
      world.clock.advance(1_500);
      expect(readAll(world, peer)).toEqual(["clusters"]);
      expect(world.events.filter(({ kind }) => kind === "order-expired")).toMatchObject([
        { what: "removals", typeUrls: [cluster.typeUrl] },
      ]);
      expect(world.clock.pending).toBe(0);
    },
  },
  {
    rules: ["S-ORD-3", "S-ORD-4"],
    title: "counts the 15 s for each cluster that is gone, whatever goes after it",
    variants: ["sotw/ads"],
    world: withEnvoyTypes,
    run(world) {
      for (const name of ["X", "Y"]) world.put(cluster.typeUrl, name);
      world.put(route.typeUrl, "r");
      const peer = subscribed(world, [
        [cluster.typeUrl, "X", "Y"],
        [route.typeUrl, "r"],
      ]);
      world.remove(cluster.typeUrl, "X");
      readAll(world, peer);
      world.clock.advance(10_000);
      world.remove(cluster.typeUrl, "Y");
      expect(readAll(world, peer)).toEqual([]);
      world.clock.advance(5_500);
      expect(readAll(world, peer)).toEqual(["clusters +Y"]);
      world.clock.advance(9_000);
      expect(readAll(world, peer)).toEqual([]);
      world.clock.advance(1_000);
      expect(readAll(world, peer)).toEqual(["clusters"]);
      expect(world.clock.pending).toBe(0);
    },
  },
  {
    rules: ["S-ORD-3"],
    title:
      "begins the wait for a client anew with the next cluster that goes, and ends it with the stream",
    variants: ["sotw/ads"],
    world: withEnvoyTypes,
    run(world) {
      const peer = swapsTheOnlyCluster(world);
      readAll(world, peer);
      world.clock.advance(16_000);
      readAll(world, peer);
      world.put(cluster.typeUrl, "X", "again");
      readAll(world, peer);
      world.remove(cluster.typeUrl, "X");
      expect(readAll(world, peer)).toEqual([]);
      world.clock.advance(16_000);
      expect(readAll(world, peer)).toEqual(["clusters"]);
      world.put(cluster.typeUrl, "X", "once more");
      readAll(world, peer);
      world.remove(cluster.typeUrl, "X");
      readAll(world, peer);
      peer.streamOf(cluster.typeUrl).stream.cancel();
      expect(world.clock.pending).toBe(0);
    },
  },
  {
    rules: ["S-ORD-1"],
    title: "holds routes back until what they follow has been sent",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      world.put(cluster.typeUrl, "X", "1");
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X") });
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [route.typeUrl, "r"],
      ]);
      world.put(cluster.typeUrl, "X", "2");
      const [open] = read(world, peer);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
        writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      });
      expect(read(world, peer)).toEqual([]);
      if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +Y" : "clusters +X +Y",
        "routes +r",
      ]);
    },
  },
  {
    rules: ["S-ORD-1"],
    title: "removes what refers to each other in a circle all the same",
    variants: ["delta/ads"],
    world: {
      types: [
        { typeUrl: "t/a", refersTo: ["t/b"] },
        { typeUrl: "t/b", refersTo: ["t/a"] },
      ],
    },
    run(world) {
      for (const typeUrl of ["t/a", "t/b"]) world.put(typeUrl, "x");
      const peer = subscribed(world, [
        ["t/a", "x"],
        ["t/b", "x"],
      ]);
      world.cache.transaction((writer) => {
        for (const typeUrl of ["t/a", "t/b"]) writer.remove(typeUrl, "x");
      });
      expect([...readAll(world, peer)].sort()).toEqual(["t/a -x", "t/b -x"]);
    },
  },
  {
    rules: ["S-ORD-3"],
    title: "removes what refers to each other in a circle before what the circle refers to",
    variants: ["delta/ads"],
    world: {
      types: [
        { typeUrl: "t/base", refersTo: ["t/a", "t/b"] },
        { typeUrl: "t/a", refersTo: ["t/b"] },
        { typeUrl: "t/b", refersTo: ["t/a"] },
      ],
    },
    run(world) {
      const typeUrls = ["t/base", "t/a", "t/b"];
      for (const typeUrl of typeUrls) world.put(typeUrl, "x");
      const peer = subscribed(
        world,
        typeUrls.map((typeUrl) => [typeUrl, "x"]),
      );
      world.cache.transaction((writer) => {
        for (const typeUrl of typeUrls) writer.remove(typeUrl, "x");
      });
      expect(readAll(world, peer)).toEqual(["t/a -x", "t/b -x", "t/base -x"]);
    },
  },
  {
    rules: ["S-ORD-3", "S-WARM-1"],
    title: "keeps endpoints that are owed for a cluster until the routes have let go of it",
    variants: ["delta/ads"],
    world: withEnvoyTypes,
    run(world) {
      const put = (typeUrl: string, name: string, value: Uint8Array): void => {
        world.cache.put({ typeUrl, name, value });
      };
      for (const name of ["X", "Y"]) {
        put(cluster.typeUrl, name, edsCluster(name));
        put(assignment.typeUrl, name, payloadOf(name));
      }
      put(route.typeUrl, "r", routeTo("r", "X"));
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [assignment.typeUrl, "*"],
        [route.typeUrl, "r"],
      ]);
      put(assignment.typeUrl, "X", payloadOf("X", "2"));
      const [endpoints] = read(world, peer);
      put(cluster.typeUrl, "X", edsCluster("X", "2"));
      const [changed] = read(world, peer);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
        writer.remove(cluster.typeUrl, "X");
        writer.remove(assignment.typeUrl, "X");
      });
      if (endpoints !== undefined) peer.of(assignment.typeUrl).ack(endpoints);
      const open = read(world, peer);
      expect(open.map(told)).toEqual(["routes +r"]);
      for (const answer of [changed, ...open])
        if (answer !== undefined) peer.of(answer.typeUrl).ack(answer);
      expect(readAll(world, peer)).toEqual(["clusters -X", "endpoints -X"]);
    },
  },
  {
    rules: ["S-ORD-2", "S-ORD-4"],
    title: "holds a route back whose cluster waits in a cut with a type of unknown references",
    variants: adsVariants,
    world: {
      types: withListeners.map((type) =>
        type.typeUrl === "t/listener"
          ? { ...type, follows: [{ typeUrl: "t/cluster", when: "accepted" }] }
          : type,
      ),
    },
    run(world) {
      world.put("t/cluster", "X");
      const peer = subscribed(world, [
        ["t/cluster", "*"],
        ["t/listener", "*"],
        ["t/route", "*"],
      ]);
      world.put("t/cluster", "X", "2");
      const [open] = read(world, peer);
      world.put("t/cluster", "Y");
      world.put("t/listener", "l");
      world.put("t/route", "r", "Y");
      expect(read(world, peer)).toEqual([]);
      if (open !== undefined) peer.of("t/cluster").ack(open);
      const isRoute = (line: string): boolean => line.startsWith("t/route");
      const all = readAll(world, peer);
      expect(all.findIndex((line) => line.includes("+Y"))).toBeLessThan(all.findIndex(isRoute));
    },
  },
  ...(["before", "after", "last"] as const).map((removed) => ({
    rules: ["S-ORD-3", "S-DSUB-6"],
    title: `removes a cluster after the route to it, where the client changes from * to its name (removed ${removed})`,
    variants: ["delta/ads" as const],
    world: withEnvoyTypes,
    run(world: World) {
      for (const name of ["X", "Y"]) world.put(cluster.typeUrl, name);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X") });
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [route.typeUrl, "r"],
      ]);
      const remove = (): void => {
        world.cache.transaction((writer) => {
          writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
          writer.remove(cluster.typeUrl, "X");
        });
      };
      if (removed === "before") remove();
      peer.of(cluster.typeUrl).subscribe("X", "Y");
      if (removed === "after") remove();
      peer.of(cluster.typeUrl).unsubscribe("*");
      if (removed === "last") remove();
      expect(readBut(world, peer, route.typeUrl).all).toEqual(["clusters +Y"]);
      const { all, open } = readBut(world, peer, route.typeUrl);
      expect(all).toEqual(["routes +r"]);
      if (open !== undefined) peer.of(route.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual(["clusters -X"]);
    },
  })),
  {
    rules: ["S-ORD-3"],
    title: "keeps what a removed name refers to that is shown while it is subscribed",
    variants: ["sotw/ads"],
    world: { types: withListeners },
    run(world) {
      for (const name of ["X", "Y"]) world.put("t/cluster", name);
      world.put("t/route", "r", "X");
      world.put("t/route", "s", "Y");
      const peer = subscribed(world, [
        ["t/cluster", "*"],
        ["t/route", "r", "s"],
        ["t/listener", "*"],
      ]);
      world.remove("t/route", "r");
      readAll(world, peer);
      world.remove("t/cluster", "X");
      expect(readAll(world, peer)).not.toContain("t/cluster +Y");
      peer.of("t/route").unsubscribe("r");
      expect(readAll(world, peer)).toContain("t/cluster +Y");
    },
  },
]);

/** Clusters, and a route to the first of them. */
function useRoute(world: World, ...clusters: readonly string[]): Peer {
  for (const name of clusters) world.put(cluster.typeUrl, name);
  world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", clusters[0] ?? "") });
  return subscribed(world, [
    [cluster.typeUrl, "*"],
    [route.typeUrl, "r", "s"],
  ]);
}

/** One transaction: adds clusters, sends the route to the first of them, removes others. */
function swap(world: World, to: readonly string[], gone: readonly string[] = []): void {
  world.cache.transaction((writer) => {
    for (const name of to) writer.put({ typeUrl: cluster.typeUrl, name, value: payloadOf(name) });
    writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", to[0] ?? "") });
    for (const name of gone) writer.remove(cluster.typeUrl, name);
  });
}

/** A peer that asks for all clusters and listeners, of which there is `l`, with a route to this cluster. */
function useListeners(world: World, name: string): Peer {
  world.put(cluster.typeUrl, name);
  world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: inlineListener("l", name) });
  const peer = world.connect();
  for (const { typeUrl } of [cluster, listener]) peer.of(typeUrl).subscribe("*");
  return peer;
}

/** One transaction: a cluster, and a listener that moves there. */
function movesListener(world: World, name: string, to: string): void {
  world.cache.transaction((writer) => {
    writer.put({ typeUrl: cluster.typeUrl, name: to, value: payloadOf(to) });
    writer.put({ typeUrl: listener.typeUrl, name, value: inlineListener(name, to) });
  });
}

/** Accepts this number of responses of a client of all clusters and routes, one after the other. */
function acceptNext(world: World, client: RawClient<"sotw">, count: number): DiscoveryResponse[] {
  return Array.from({ length: count }, () => {
    world.run();
    const response = client.next();
    const { typeUrl, versionInfo, nonce } = response;
    client.send({ typeUrl, resourceNames: ["*"], versionInfo, responseNonce: nonce });
    return response;
  });
}

/** Reads what has come, accepts it but for the type, and gives both. */
function readBut(
  world: World,
  peer: Peer,
  typeUrl: string,
): { readonly all: readonly string[]; readonly open: Answer | undefined } {
  const answers = read(world, peer);
  for (const answer of answers) if (answer.typeUrl !== typeUrl) peer.of(answer.typeUrl).ack(answer);
  return { all: answers.map(told), open: answers.find((answer) => answer.typeUrl === typeUrl) };
}

/** The same until nothing comes any more. */
function readAllBut(world: World, peer: Peer, typeUrl: string): readonly string[] {
  const all: string[] = [];
  for (
    let { all: more } = readBut(world, peer, typeUrl);
    more.length > 0;
    { all: more } = readBut(world, peer, typeUrl)
  )
    all.push(...more);
  return all;
}

const nothing = { all: [], open: undefined };

/** A peer that holds everything of these types. */
function subscribedToAll(world: World, ...typeUrls: readonly string[]): Peer {
  return subscribed(
    world,
    typeUrls.map((typeUrl) => [typeUrl, "*"] as const),
  );
}

/** Returns the parts of the order that have taken too long. */
function expiries({ events }: World): readonly string[] {
  return events.flatMap((event) => (event.kind === "order-expired" ? event.what : []));
}

/** Returns a peer that has all clusters and a route, and has subscribed to the endpoints of X and Y. */
function useEndpoints(world: World): Peer {
  return subscribed(world, [
    [cluster.typeUrl, "*"],
    [assignment.typeUrl, "X", "Y"],
    [route.typeUrl, "r"],
  ]);
}

/** One transaction: a cluster, its endpoints, and the route that moves there. */
function swapTo(world: World, name: string): void {
  world.cache.transaction((writer) => {
    writer.put({ typeUrl: cluster.typeUrl, name, value: edsCluster(name) });
    writer.put({ typeUrl: assignment.typeUrl, name, value: payloadOf(name) });
    writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", name) });
  });
}

/** The same to Y, which has no endpoints yet. */
function movesToCold(world: World): void {
  world.cache.transaction((writer) => {
    writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: edsCluster("Y") });
    writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
  });
}

/** Returns the responses to {@link movesToCold} that are sent at once. */
function withoutEndpoints({ variant }: World): readonly string[] {
  return isDelta(variant) ? ["clusters +Y", "endpoints -Y"] : ["clusters +X +Y"];
}

runCases("make before break", [
  {
    rules: ["S-ORD-2"],
    title:
      "sends endpoints beside a cluster that is not accepted yet, and routes only when both are",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      world.cache.put({ typeUrl: cluster.typeUrl, name: "X", value: edsCluster("X") });
      world.put(assignment.typeUrl, "X");
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [assignment.typeUrl, "X", "Y"],
        [route.typeUrl, "r"],
      ]);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: edsCluster("Y") });
        writer.put({ typeUrl: assignment.typeUrl, name: "Y", value: payloadOf("Y") });
        writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      });
      const [clusters, endpoints, ...rest] = read(world, peer);
      expect([clusters?.typeUrl, endpoints?.typeUrl, rest]).toEqual([
        cluster.typeUrl,
        assignment.typeUrl,
        [],
      ]);
      if (clusters !== undefined) peer.of(cluster.typeUrl).ack(clusters);
      expect(read(world, peer)).toEqual([]);
      if (endpoints !== undefined) peer.of(assignment.typeUrl).ack(endpoints);
      expect(readAll(world, peer)).toEqual(["routes +r"]);
    },
  },
  {
    rules: ["S-ORD-2", "S-WARM-4"],
    title:
      "keeps a route from a new cluster until its endpoints have come, though the client has accepted it without them",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      swapTo(world, "X");
      const peer = useEndpoints(world);
      movesToCold(world);
      expect(readAll(world, peer)).toEqual(withoutEndpoints(world));
      world.put(assignment.typeUrl, "Y");
      expect(readAll(world, peer)).toEqual(["endpoints +Y", "routes +r"]);
    },
  },
  {
    rules: ["S-ORD-4", "S-ACK-8"],
    title:
      "goes on with the correction of what was rejected after a cut that would only have said it again",
    variants: adsVariants,
    world: { types: baseAndTop },
    run(world) {
      const peer = subscribed(world, [
        ["t/base", "*"],
        ["t/top", "*"],
      ]);
      const put = (text: string): void => {
        world.put("t/top", "l", text);
      };
      put("bad");
      for (const answer of read(world, peer)) peer.of(answer.typeUrl).nack(answer, "no");
      world.put("t/base", "X");
      const [open] = read(world, peer);
      put("other");
      put("bad");
      expect(read(world, peer)).toEqual([]);
      put("good");
      expect(read(world, peer)).toEqual([]);
      if (open !== undefined) peer.of("t/base").ack(open);
      expect(readAll(world, peer)).toEqual(["t/top +l"]);
    },
  },
  {
    rules: ["S-ORD-2"],
    title: "waits for a client that has yet to ask for the endpoints of a new cluster",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [assignment.typeUrl, "X"],
        [route.typeUrl, "r"],
      ]);
      swapTo(world, "X");
      readAll(world, peer);
      swapTo(world, "Y");
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +Y" : "clusters +X +Y",
      ]);
      peer.of(assignment.typeUrl).subscribe("X", "Y");
      expect(readAll(world, peer).map((line) => line.split(" ")[0])).toEqual([
        "endpoints",
        "routes",
      ]);
    },
  },
  {
    rules: ["S-ORD-2", "S-ORD-4"],
    title:
      "waits 15 s for endpoints that do not come, and tells that the time was over; a change of the route does not wait again",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      swapTo(world, "X");
      const peer = useEndpoints(world);
      movesToCold(world);
      readAll(world, peer);
      world.clock.advance(14_999);
      expect(readAll(world, peer)).toEqual([]);
      world.clock.advance(1);
      expect(readAll(world, peer)).toEqual(["routes +r"]);
      expect(world.events.filter(({ kind }) => kind === "order-expired")).toMatchObject([
        { what: "cut", typeUrls: [route.typeUrl] },
      ]);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y", "2") });
      expect(readAll(world, peer)).toEqual(["routes +r"]);
    },
  },
  {
    rules: ["S-ORD-2", "S-ORD-4"],
    title: "takes up a change at once that makes waiting for endpoints needless",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      swapTo(world, "X");
      const peer = useEndpoints(world);
      movesToCold(world);
      readAll(world, peer);
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y", "static") });
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +Y" : "clusters +X +Y",
        "routes +r",
      ]);
    },
  },
  {
    rules: ["S-ORD-2", "S-WARM-2"],
    title:
      "sends a client its first routes without endpoints, and waits for none that come from elsewhere",
    variants: adsVariants,
    world: { ...withEnvoyTypes, cache: { authorities: ["here"] } },
    run(world) {
      movesToCold(world);
      const peer = world.connect();
      for (const [{ typeUrl }, name] of [
        [cluster, "*"],
        [assignment, "Y"],
        [route, "r"],
      ] as const)
        peer.of(typeUrl).subscribe(name);
      expect(readAll(world, peer)).toContain("routes +r");
      const there = "xdstp://there/envoy.config.endpoint.v3.ClusterLoadAssignment/Z";
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: cluster.typeUrl, name: "Z", value: edsCluster("Z", "", there) });
        writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Z") });
      });
      expect(readAll(world, peer).map((line) => line.split(" ")[0])).toEqual([
        "clusters",
        "routes",
      ]);
    },
  },
  {
    rules: ["S-ORD-3", "S-WARM-4"],
    title:
      "adds the new cluster, moves the route when it is accepted, and removes the old one when that is",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      swap(world, ["Y"], ["X"]);
      const first = readBut(world, peer, cluster.typeUrl);
      expect(first.all).toEqual([isDelta(world.variant) ? "clusters +Y" : "clusters +X +Y"]);
      if (first.open !== undefined) peer.of(cluster.typeUrl).ack(first.open);
      const second = readBut(world, peer, route.typeUrl);
      expect(second.all).toEqual(["routes +r"]);
      expect(readBut(world, peer, route.typeUrl)).toEqual(nothing);
      if (second.open !== undefined) peer.of(route.typeUrl).ack(second.open);
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters -X" : "clusters +Y",
      ]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "waits 15 s for a silent client and no longer, and tells that the time was over",
    variants: adsVariants,
    world: { ...withEnvoyTypes, limits: { repairMs: 60_000 } },
    run(world) {
      const peer = useRoute(world, "X");
      swap(world, ["Y"], ["X"]);
      readBut(world, peer, cluster.typeUrl);
      world.clock.advance(14_999);
      expect(readBut(world, peer, cluster.typeUrl)).toEqual(nothing);
      world.clock.advance(1);
      expect(readBut(world, peer, cluster.typeUrl).all).toEqual(["routes +r"]);
      expect(world.events.filter(({ kind }) => kind === "order-expired")).toMatchObject([
        { what: "cut", typeUrls: [route.typeUrl] },
        { what: "removals", typeUrls: [cluster.typeUrl] },
      ]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "removes after 15 s what a silent client may still refer to",
    variants: adsVariants,
    world: { ...withEnvoyTypes, limits: { repairMs: 60_000 } },
    run(world) {
      const peer = useRoute(world, "Y", "X");
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y", "again") });
      readBut(world, peer, route.typeUrl);
      world.remove(cluster.typeUrl, "X");
      expect(readBut(world, peer, route.typeUrl)).toEqual(nothing);
      world.clock.advance(15_000);
      expect(readBut(world, peer, route.typeUrl).all).toEqual([
        isDelta(world.variant) ? "clusters -X" : "clusters +Y",
      ]);
    },
  },
  {
    rules: ["S-ACK-16", "S-ORD-4"],
    title: "sends a route that has waited to a client that does not answer its routes",
    variants: adsVariants,
    world: { types: fullStates },
    run(world) {
      for (const name of ["r", "s"]) world.put("t/route", name, "X");
      world.put("t/cluster", "X");
      const peer = subscribedToAll(world, "t/cluster", "t/route");
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: "t/cluster", name: "Y", value: payloadOf("Y") });
        writer.put({ typeUrl: "t/route", name: "r", value: payloadOf("r", "Y") });
        writer.put({ typeUrl: "t/route", name: "t", value: payloadOf("t", "X") });
      });
      readBut(world, peer, "t/route");
      expect(readBut(world, peer, "t/route")).toEqual(nothing);
      world.clock.advance(5_000);
      expect(readBut(world, peer, "t/route").all).toEqual([
        isDelta(world.variant) ? "t/route +r" : "t/route +r +s +t",
      ]);
    },
  },
  {
    rules: ["S-ACK-16", "S-ORD-3"],
    title: "removes a cluster that has waited at a client that does not answer its clusters",
    variants: adsVariants,
    world: { types: fullStates },
    run(world) {
      for (const name of ["X", "Y"]) world.put("t/cluster", name);
      world.put("t/route", "r", "X");
      const peer = subscribedToAll(world, "t/cluster", "t/route");
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: "t/cluster", name: "Z", value: payloadOf("Z") });
        writer.put({ typeUrl: "t/route", name: "r", value: payloadOf("r", "Y") });
        writer.remove("t/cluster", "X");
      });
      readBut(world, peer, "t/cluster");
      expect(readBut(world, peer, "t/cluster")).toEqual(nothing);
      world.clock.advance(5_000);
      expect(readBut(world, peer, "t/cluster").all).toEqual([
        isDelta(world.variant) ? "t/cluster -X" : "t/cluster +Y +Z",
      ]);
    },
  },
  {
    rules: ["S-ACK-11", "S-ORD-4"],
    title: "does not send an equal state where a route that could go has to wait again",
    variants: ["sotw/ads"],
    world: { types: fullStates },
    run(world) {
      for (const name of ["r", "s"]) world.put("t/route", name, "X");
      world.put("t/cluster", "X");
      const peer = subscribedToAll(world, "t/cluster", "t/route");
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: "t/cluster", name: "Y", value: payloadOf("Y") });
        writer.put({ typeUrl: "t/route", name: "r", value: payloadOf("r", "Y") });
        writer.put({ typeUrl: "t/route", name: "t", value: payloadOf("t", "X") });
      });
      const { open } = readBut(world, peer, "t/route");
      world.run();
      world.remove("t/cluster", "Y");
      world.put("t/cluster", "Y", "again");
      const [clusters] = read(world, peer);
      if (open !== undefined) peer.of("t/route").ack(open);
      expect(read(world, peer)).toEqual([]);
      if (clusters !== undefined) peer.of("t/cluster").ack(clusters);
      expect(readAll(world, peer)).toEqual(["t/route +r +s +t"]);
    },
  },
  {
    rules: ["S-ORD-4", "S-ORD-3"],
    title: "lets a route that was sent after 15 s not wait again with the next state of its type",
    variants: ["sotw/ads"],
    world: { types: fullStates, limits: { repairMs: 3_600_000 } },
    run(world) {
      for (const name of ["W", "X"]) world.put("t/cluster", name);
      for (const name of ["r", "s"]) world.put("t/route", name, "X");
      const peer = subscribedToAll(world, "t/cluster", "t/route");
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: "t/cluster", name: "Y", value: payloadOf("Y") });
        writer.put({ typeUrl: "t/route", name: "r", value: payloadOf("r", "Y") });
      });
      const clusters = readBut(world, peer, "t/cluster").open;
      world.clock.advance(15_000);
      expect(readBut(world, peer, "t/cluster").all).toEqual(["t/route +r +s"]);
      world.put("t/route", "s", "W");
      expect(readBut(world, peer, "t/cluster").all).toEqual(["t/route +r +s"]);
      world.remove("t/cluster", "X");
      world.clock.advance(60_000);
      expect(readBut(world, peer, "t/cluster")).toEqual(nothing);
      if (clusters !== undefined) peer.of("t/cluster").ack(clusters);
      expect(readAll(world, peer)).toEqual(["t/cluster +W +Y"]);
      expect(expiries(world)).toEqual(["cut"]);
    },
  },
  {
    rules: ["S-ACK-11", "S-ORD-4"],
    title: "sends what waits as a whole once, where a name of it has waited before",
    variants: ["sotw/ads"],
    world: { types: fullStates },
    run(world) {
      world.put("t/cluster", "X");
      const peer = subscribed(world, [
        ["t/cluster", "*"],
        ["t/route", "r", "s"],
      ]);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: "t/cluster", name: "Y", value: payloadOf("Y") });
        writer.put({ typeUrl: "t/route", name: "r", value: payloadOf("r", "Y") });
        writer.put({ typeUrl: "t/route", name: "s", value: payloadOf("s", "X") });
      });
      const { all, open } = readBut(world, peer, "t/cluster");
      expect(all).toEqual(["t/cluster +X +Y", "t/route +s"]);
      world.remove("t/route", "s");
      expect(readBut(world, peer, "t/cluster")).toEqual(nothing);
      if (open !== undefined) peer.of("t/cluster").ack(open);
      expect(readAll(world, peer)).toEqual(["t/route +r"]);
    },
  },
  {
    rules: ["S-ORD-3", "S-ORD-4"],
    title: "removes a subscribed name whose two waits have not ended together",
    variants: ["sotw/ads"],
    world: {
      types: [
        ...withListeners,
        { typeUrl: "t/base", fullStateInSotw: true, refersTo: ["t/top"] },
        { typeUrl: "t/top", fullStateInSotw: true },
      ],
    },
    run(world) {
      for (const name of ["r", "s"]) world.put("t/route", name, "X");
      for (const name of ["a", "b"]) world.put("t/base", name);
      const peer = subscribed(world, [
        ["t/base", "*"],
        ["t/top", "*"],
        ["t/route", "r", "s"],
        ["t/listener", "*"],
      ]);
      world.put("t/listener", "l");
      readBut(world, peer, "t/listener");
      world.remove("t/route", "r");
      expect(readBut(world, peer, "t/listener")).toEqual(nothing);
      world.clock.advance(10_000);
      world.put("t/top", "c");
      world.remove("t/base", "b");
      readAllBut(world, peer, "t/listener"); // a removal that goes begins the wait of the others again
      const all: string[] = [];
      for (let count = 0; count < 10; count++) {
        world.clock.advance(5_000);
        const at = world.clock.now() / 1_000;
        all.push(...readAllBut(world, peer, "t/listener").map((line) => `${line} at ${at} s`));
      }
      expect(all).toEqual(["t/route +s at 25 s"]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "waits no longer than 15 s for a name that is unsubscribed before it is answered",
    variants: ["delta/ads"],
    world: { types: fullStates },
    run(world) {
      world.put("t/cluster", "X");
      world.put("t/route", "r", "X");
      const peer = subscribed(world, [
        ["t/cluster", "X", "Y"],
        ["t/route", "*"],
      ]);
      world.put("t/cluster", "Y");
      expect(readBut(world, peer, "t/cluster").all).toEqual(["t/cluster +Y"]);
      peer.of("t/cluster").unsubscribe("Y");
      world.put("t/route", "r", "Y");
      expect(readBut(world, peer, "t/cluster")).toEqual(nothing);
      world.clock.advance(15_000);
      expect(readBut(world, peer, "t/cluster").all).toEqual(["t/route +r"]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title:
      "holds back what refers to a new cluster that was rejected, and nothing else, until it is mended",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      world.put(cluster.typeUrl, "good");
      readAll(world, peer);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: cluster.typeUrl, name: "bad", value: payloadOf("bad") });
        writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "bad") });
        writer.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", "good") });
      });
      const { all, open } = readBut(world, peer, cluster.typeUrl);
      expect(all).toEqual([
        isDelta(world.variant) ? "clusters +bad" : "clusters +X +bad +good",
        "routes +s",
      ]);
      if (open !== undefined) peer.of(cluster.typeUrl).nack(open, "no such policy");
      expect(readAll(world, peer)).toEqual([]);
      world.clock.advance(60_000);
      expect(readAll(world, peer)).toEqual([]);
      world.put(cluster.typeUrl, "bad", "mended");
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +bad" : "clusters +X +bad +good",
        "routes +r",
      ]);
    },
  },
  {
    rules: ["S-ORD-4", "S-ACK-15"],
    title:
      "holds back what refers to anything new in a response that was rejected: which part of it was bad nobody knows",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      world.cache.transaction((writer) => {
        for (const name of ["good", "bad"])
          writer.put({ typeUrl: cluster.typeUrl, name, value: payloadOf(name) });
        writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "good") });
      });
      const { open } = readBut(world, peer, cluster.typeUrl);
      if (open !== undefined) peer.of(cluster.typeUrl).nack(open, "bad is bad");
      expect(readAll(world, peer)).toEqual([]);
      world.remove(cluster.typeUrl, "bad");
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +good" : "clusters +X +good",
        "routes +r",
        ...(isDelta(world.variant) ? ["clusters -bad"] : []),
      ]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "keeps the old cluster for as long as the route away from it is held back",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      swap(world, ["bad"], ["X"]);
      const { open } = readBut(world, peer, cluster.typeUrl);
      if (open !== undefined) peer.of(cluster.typeUrl).nack(open, "no");
      world.clock.advance(60_000);
      expect(readAll(world, peer)).toEqual([]);
      world.put(cluster.typeUrl, "bad", "mended");
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +bad" : "clusters +X +bad",
        "routes +r",
        isDelta(world.variant) ? "clusters -X" : "clusters +bad",
      ]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title:
      "sends the state that waits, once its cluster is accepted, while changes go on: newer ones do not delay it",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      swap(world, ["c0"]);
      const { open } = readBut(world, peer, cluster.typeUrl);
      for (let n = 1; n <= 100; n++) swap(world, [`c${n}`], [`c${n - 1}`]);
      expect(readBut(world, peer, cluster.typeUrl)).toEqual(nothing);
      if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +c100" : "clusters +X +c0 +c100",
        "routes +r",
        "routes +r",
        isDelta(world.variant)
          ? expect.stringMatching(/^clusters -c0( -c\d+)+$/)
          : "clusters +X +c100",
      ]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "lets types that are not part of the change go while others wait",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      world.put(secret.typeUrl, "tls");
      const peer = useRoute(world, "X");
      begin(world, peer.of(secret.typeUrl), "tls");
      swap(world, ["Y"]);
      readBut(world, peer, cluster.typeUrl);
      world.put(secret.typeUrl, "tls", "2");
      expect(readBut(world, peer, cluster.typeUrl).all).toEqual(["secrets +tls"]);
    },
  },
  {
    rules: ["S-ORD-4", "S-ORD-5"],
    title: "holds all of a type until the time is over, where nobody knows what it refers to",
    variants: adsVariants,
    world: {
      types: [...baseAndTop, { typeUrl: "t/other" }],
    },
    run(world) {
      world.put("t/base", "a");
      for (const typeUrl of ["t/top", "t/other"]) world.put(typeUrl, "x");
      const peer = subscribed(world, [
        ["t/base", "*"],
        ["t/top", "x"],
        ["t/other", "x"],
      ]);
      world.cache.transaction((writer) => {
        for (const [typeUrl, name] of [
          ["t/base", "a"],
          ["t/top", "x"],
          ["t/other", "x"],
        ] as const)
          writer.put({ typeUrl, name, value: payloadOf(name, "2") });
      });
      const { all, open } = readBut(world, peer, "t/base");
      expect(all).toEqual(["t/base +a", "t/other +x"]);
      if (open !== undefined) peer.of("t/base").nack(open, "no");
      expect(readAll(world, peer)).toEqual([]);
      world.clock.advance(15_000);
      expect(readAll(world, peer)).toEqual(["t/top +x"]);
    },
  },
  {
    rules: ["S-ORD-4", "S-ACK-16"],
    title:
      "repairs clusters behind a silent client though a cut waits, and sends the routes with the newest",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      swap(world, ["Y"]);
      readBut(world, peer, cluster.typeUrl);
      swap(world, ["Z"], ["Y"]);
      world.clock.advance(5_000);
      const { all, open } = readBut(world, peer, cluster.typeUrl);
      expect(all).toEqual([isDelta(world.variant) ? "clusters +Z" : "clusters +X +Y +Z"]);
      if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual([
        "routes +r",
        isDelta(world.variant) ? "clusters -Y" : "clusters +X +Z",
      ]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "sends what else the client asks for while a route waits",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      world.cache.put({ typeUrl: route.typeUrl, name: "q", value: routeTo("q", "X") });
      swap(world, ["Y"]);
      const { open } = readBut(world, peer, cluster.typeUrl);
      peer.of(route.typeUrl).subscribe("q");
      peer.of(route.typeUrl).unsubscribe("s");
      expect(readBut(world, peer, cluster.typeUrl).all).toEqual(["routes +q"]);
      if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual(["routes +r"]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "delays no route that refers to nothing new, while a cluster is not answered",
    variants: adsVariants,
    world: { ...withEnvoyTypes, limits: { repairMs: 60_000 } },
    run(world) {
      const peer = useRoute(world, "X");
      world.put(cluster.typeUrl, "never");
      const { open } = readBut(world, peer, cluster.typeUrl);
      expect(open).toBeDefined();
      for (let n = 0; n < 10; n++) {
        world.cache.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", "X", `v${n}`) });
        expect(readBut(world, peer, cluster.typeUrl).all).toEqual(["routes +s"]);
      }
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "lets 65 routes to a new cluster wait as a whole, and what changes later go after them",
    variants: adsVariants,
    world: { ...withEnvoyTypes, limits: { repairMs: 60_000 } },
    run(world) {
      const names = Array.from({ length: 65 }, (_, n) => `m${n}`);
      world.put(cluster.typeUrl, "X");
      for (const name of names)
        world.cache.put({ typeUrl: route.typeUrl, name, value: routeTo(name, "X") });
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [route.typeUrl, ...names],
      ]);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
        for (const name of names)
          writer.put({ typeUrl: route.typeUrl, name, value: routeTo(name, "Y") });
      });
      const { open } = readBut(world, peer, cluster.typeUrl);
      world.cache.put({ typeUrl: route.typeUrl, name: "m0", value: routeTo("m0", "X") });
      expect(readBut(world, peer, cluster.typeUrl)).toEqual(nothing);
      if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual([
        `routes ${names
          .map((name) => `+${name}`)
          .sort()
          .join(" ")}`,
        "routes +m0",
      ]);
    },
  },
  {
    rules: ["S-ORD-4"],
    title: "delays no first listener that refers to nothing, while clusters are not answered",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      world.put(cluster.typeUrl, "X");
      world.put(listener.typeUrl, "l");
      const peer = world.connect();
      peer.of(cluster.typeUrl).subscribe("*");
      readBut(world, peer, cluster.typeUrl);
      peer.of(listener.typeUrl).subscribe("*");
      expect(readBut(world, peer, cluster.typeUrl).all).toEqual(["listeners +l"]);
    },
  },
  {
    rules: ["S-ORD-4", "S-WILD-7"],
    title:
      "sends no first response that says there is nothing while all of it waits, and all of it after 15 s",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useListeners(world, "X");
      expect(readBut(world, peer, cluster.typeUrl).all).toEqual(["clusters +X"]);
      world.clock.advance(14_999);
      expect(readBut(world, peer, cluster.typeUrl).all).not.toContain("listeners +l");
      world.clock.advance(1);
      expect(readBut(world, peer, cluster.typeUrl).all).toContain("listeners +l");
    },
  },
  {
    rules: ["S-ORD-4", "S-FULL-1"],
    title:
      "sends a client that comes back no full state without what waits, but all of it once that may go",
    variants: ["sotw/ads"],
    world: withEnvoyTypes,
    run(world) {
      world.put(cluster.typeUrl, "X");
      for (const name of ["l", "m"])
        world.cache.put({
          typeUrl: listener.typeUrl,
          name,
          value: name === "l" ? inlineListener("l", "X") : payloadOf("m"),
        });
      const { client } = world.openSotw(cluster.typeUrl);
      for (const { typeUrl } of [cluster, listener])
        client.send({ typeUrl, resourceNames: ["*"], versionInfo: "before" });
      world.run();
      const clusters = client.next();
      expect([clusters.typeUrl, client.rest()]).toEqual([cluster.typeUrl, []]);
      client.send({
        typeUrl: cluster.typeUrl,
        resourceNames: ["*"],
        versionInfo: clusters.versionInfo,
        responseNonce: clusters.nonce,
      });
      world.run();
      expect(client.next()).toMatchObject({
        typeUrl: listener.typeUrl,
        resources: [{}, {}],
      });
    },
  },
  {
    rules: ["S-ORD-4", "S-FULL-1"],
    title: "does not say of a name that waits that it does not exist",
    variants: ["sotw/ads"],
    world: withEnvoyTypes,
    run(world) {
      world.put(cluster.typeUrl, "X");
      world.put(listener.typeUrl, "k");
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [listener.typeUrl, "k"],
      ]);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
        writer.put({ typeUrl: listener.typeUrl, name: "l", value: inlineListener("l", "Y") });
      });
      peer.of(listener.typeUrl).subscribe("l");
      const { all, open } = readBut(world, peer, cluster.typeUrl);
      expect(all).toEqual(["clusters +X +Y"]);
      if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual(["listeners +k +l"]);
    },
  },
  {
    rules: ["S-ORD-2", "S-ORD-4"],
    title: "keeps a route from a cluster that is older than the client's request for it",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      for (const name of ["X", "Y"]) world.put(cluster.typeUrl, name);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X") });
      const peer = subscribed(world, [
        [cluster.typeUrl, "X"],
        [route.typeUrl, "r"],
      ]);
      peer.of(cluster.typeUrl).subscribe("Y");
      const { open } = readBut(world, peer, cluster.typeUrl);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      expect(read(world, peer)).toEqual([]);
      if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual(["routes +r"]);
    },
  },
  {
    rules: ["S-ORD-2", "S-ALIAS-1"],
    title: "keeps a route that names a cluster by an alias until the cluster is accepted with it",
    variants: ["delta/ads"],
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      const putRoute = (text: string): void => {
        const value = routeTo("r", "alias", text);
        world.cache.put({ typeUrl: route.typeUrl, name: "r", value });
      };
      const waitsForCluster = (): void => {
        const { all, open } = readBut(world, peer, cluster.typeUrl);
        expect(all).toEqual(["clusters +Y"]);
        if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
        expect(readAll(world, peer)).toEqual(["routes +r"]);
      };
      world.put(cluster.typeUrl, "Y", "new", { aliases: ["alias"] });
      putRoute("1");
      waitsForCluster();
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X") });
      world.remove(cluster.typeUrl, "Y");
      readAll(world, peer);
      world.put(cluster.typeUrl, "Y", "back");
      readAll(world, peer);
      world.put(cluster.typeUrl, "Y", "with the alias", { aliases: ["alias"] });
      putRoute("2");
      waitsForCluster();
    },
  },
  {
    rules: ["S-ORD-4", "S-ALIAS-1"],
    title: "keeps a route that names a rejected cluster by an alias until the correction",
    variants: ["delta/ads"],
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      world.put(cluster.typeUrl, "Y", "bad", { aliases: ["alias"] });
      const [bad] = read(world, peer);
      if (bad !== undefined) peer.of(cluster.typeUrl).nack(bad, "invalid");
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "alias") });
      expect(read(world, peer)).toEqual([]);
      world.put(cluster.typeUrl, "Y", "good", { aliases: ["alias"] });
      expect(readAll(world, peer)).toEqual(["clusters +Y", "routes +r"]);
    },
  },
  {
    rules: ["S-ORD-2", "S-ORD-4"],
    title:
      "keeps a route from a cluster without endpoints that was accepted a short time ago, though another route was accepted since",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      swapTo(world, "X");
      const peer = useEndpoints(world);
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: edsCluster("Y") });
      readAll(world, peer);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X", "2") });
      expect(readAll(world, peer)).toEqual(["routes +r"]);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      expect(readAll(world, peer)).toEqual([]);
      world.put(assignment.typeUrl, "Y");
      expect(readAll(world, peer)).toEqual(["endpoints +Y", "routes +r"]);
    },
  },
  {
    rules: ["S-ORD-2", "S-ORD-4"],
    title: "does not keep a route from a cluster that has been without endpoints for 15 s",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      swapTo(world, "X");
      const peer = useEndpoints(world);
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: edsCluster("Y") });
      readAll(world, peer);
      world.clock.advance(15_000);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      expect(readAll(world, peer)).toEqual(["routes +r"]);
    },
  },
  {
    rules: ["S-ORD-3", "S-ORD-4"],
    title:
      "keeps a cluster while the client has the old state of a route that waited and is removed since",
    variants: adsVariants,
    world: { types: fullStates },
    run(world) {
      const put = (route: string, cluster: string): void => {
        world.put("t/route", route, cluster);
      };
      world.put("t/cluster", "X");
      put("r", "X");
      const peer = subscribed(world, [
        ["t/cluster", "*"],
        ["t/route", "*"],
      ]);
      world.put("t/cluster", "Y");
      put("r", "Y");
      put("s", "X");
      const clusters = readBut(world, peer, "t/cluster").open;
      world.cache.transaction((writer) => {
        writer.remove("t/route", "r");
        writer.remove("t/route", "s");
        writer.remove("t/cluster", "X");
      });
      if (clusters !== undefined) peer.of("t/cluster").ack(clusters);
      const routes = readBut(world, peer, "t/route");
      expect(routes.all).toEqual([isDelta(world.variant) ? "t/route -r -s" : "t/route"]);
      if (routes.open !== undefined) peer.of("t/route").ack(routes.open);
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "t/cluster -X" : "t/cluster +Y",
      ]);
    },
  },
  {
    rules: ["S-ORD-3", "S-ORD-4"],
    title:
      "keeps a cluster until the removal of a route that waited is answered, though another route was accepted since",
    variants: adsVariants,
    world: { types: fullStates },
    run(world) {
      world.put("t/cluster", "X");
      for (const name of ["r", "s"]) world.put("t/route", name, "X");
      const peer = subscribed(world, [
        ["t/cluster", "*"],
        ["t/route", "*"],
      ]);
      world.cache.transaction((writer) => {
        for (const name of ["Y", "Z"])
          writer.put({ typeUrl: "t/cluster", name, value: payloadOf(name) });
        writer.put({ typeUrl: "t/route", name: "r", value: payloadOf("r", "Y") });
        writer.remove("t/cluster", "X");
      });
      const clusters = readBut(world, peer, "t/cluster").open;
      world.cache.transaction((writer) => {
        writer.remove("t/route", "s");
      });
      expect(readBut(world, peer, "t/cluster").all).toEqual([
        isDelta(world.variant) ? "t/route -s" : "t/route +r",
      ]);
      world.cache.transaction((writer) => {
        writer.remove("t/route", "r");
      });
      const routes = readBut(world, peer, "t/route");
      expect(routes.all).toEqual([isDelta(world.variant) ? "t/route -r" : "t/route"]);
      if (clusters !== undefined) peer.of("t/cluster").ack(clusters);
      expect(readAll(world, peer)).toEqual([]);
      if (routes.open !== undefined) peer.of("t/route").ack(routes.open);
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "t/cluster -X" : "t/cluster +Y +Z",
      ]);
    },
  },
  {
    rules: ["S-ACK-8", "S-ORD-4"],
    title: "ends the rejection of a state that waited with the newer state that waited after it",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useRoute(world, "X");
      swap(world, ["Y"]);
      const first = readBut(world, peer, cluster.typeUrl).open;
      swap(world, ["Z"]);
      if (first !== undefined) peer.of(cluster.typeUrl).ack(first);
      const [second, older] = read(world, peer);
      expect(older && told(older)).toBe("routes +r");
      if (older !== undefined) peer.of(route.typeUrl).nack(older, "bad");
      if (second !== undefined) peer.of(cluster.typeUrl).ack(second);
      expect(readAll(world, peer)).toEqual(["routes +r"]);
      const { types } = peer.streamOf(route.typeUrl).server.status();
      expect(types.map(({ state }) => state)).toEqual(["SYNCED", "SYNCED"]);
    },
  },
  {
    rules: ["S-ORD-4", "S-ACK-16", "S-FULL-1"],
    title:
      "shows a listener on, of which the client has not answered the first state, while its next one waits",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      world.put(cluster.typeUrl, "X");
      world.cache.put({ typeUrl: listener.typeUrl, name: "k", value: inlineListener("k", "X") });
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [listener.typeUrl, "*"],
      ]);
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: inlineListener("l", "X") });
      readBut(world, peer, listener.typeUrl);
      world.clock.advance(3_000);
      movesListener(world, "l", "Y");
      readBut(world, peer, cluster.typeUrl);
      world.clock.advance(2_500);
      const { all } = readBut(world, peer, cluster.typeUrl);
      expect(all.filter((line) => line.startsWith("listeners"))).toEqual([]);
    },
  },
  {
    rules: ["S-ORD-4", "S-ACK-15", "S-FULL-1"],
    title: "deletes nothing of a rejected response of which the client may have taken a part",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      world.put(cluster.typeUrl, "X");
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: inlineListener("l", "X") });
      const peer = subscribed(world, [[cluster.typeUrl, "*"]]);
      peer.of(listener.typeUrl).subscribe("*");
      const [first] = read(world, peer);
      if (first !== undefined) peer.of(listener.typeUrl).nack(first, "bad");
      movesListener(world, "l", "Y");
      const { all, open } = readBut(world, peer, cluster.typeUrl);
      expect(all).toEqual([isDelta(world.variant) ? "clusters +Y" : "clusters +X +Y"]);
      if (open !== undefined) peer.of(cluster.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual(["listeners +l"]);
    },
  },
  {
    rules: ["S-ORD-4", "S-RECON-7"],
    title: "sends a client that comes back what waited when it left",
    variants: ["sotw/ads"],
    world: withEnvoyTypes,
    run(world) {
      for (const name of ["X", "Z"]) world.put(cluster.typeUrl, name);
      for (const name of ["r", "s"])
        world.cache.put({ typeUrl: route.typeUrl, name, value: routeTo(name, "X") });
      const { client, stream } = world.openSotw(cluster.typeUrl);
      for (const { typeUrl } of [cluster, route]) client.send({ typeUrl, resourceNames: ["*"] });
      acceptNext(world, client, 2);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
        writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
        writer.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", "Z") });
      });
      world.run();
      const [clusters, routes] = client.rest();
      expect(routes).toMatchObject({ typeUrl: route.typeUrl, resources: [{}] });
      stream.cancel();
      const back = world.openSotw(cluster.typeUrl).client;
      for (const { typeUrl, versionInfo } of [clusters, routes].flatMap((one) => one ?? []))
        back.send({ typeUrl, resourceNames: ["*"], versionInfo });
      expect(acceptNext(world, back, 1).flatMap(({ resources }) => resources)).toHaveLength(2);
    },
  },
  {
    rules: ["S-ORD-3", "S-ACK-8"],
    title:
      "keeps a cluster that a client uses which has rejected the move away from it, and then waits",
    variants: adsVariants,
    world: { types: fullStates },
    run(world) {
      for (const name of ["X", "W"]) world.put("t/cluster", name);
      for (const name of ["r", "s"]) world.put("t/route", name, "X");
      const peer = subscribed(world, [
        ["t/cluster", "*"],
        ["t/route", "*"],
      ]);
      const moves = (
        to: string,
        more: (writer: TransactionWriter) => void = () => undefined,
      ): void => {
        world.cache.transaction((writer) => {
          writer.put({ typeUrl: "t/cluster", name: to, value: payloadOf(to) });
          writer.put({ typeUrl: "t/route", name: "r", value: payloadOf("r", to) });
          more(writer);
        });
      };
      moves("Y", (writer) => {
        writer.put({ typeUrl: "t/route", name: "s", value: payloadOf("s", "W") });
        writer.remove("t/cluster", "X");
      });
      const clusters = readBut(world, peer, "t/cluster").open;
      if (clusters !== undefined) peer.of("t/cluster").ack(clusters);
      for (const answer of read(world, peer)) peer.of(answer.typeUrl).nack(answer, "bad");
      moves("V");
      const late = readBut(world, peer, "t/cluster").open;
      moves("U");
      if (late !== undefined) peer.of("t/cluster").ack(late);
      const isKept = read(world, peer)
        .filter(({ typeUrl }) => typeUrl === "t/cluster")
        .every(({ names, removed }) =>
          isDelta(world.variant) ? !removed.includes("X") : [...names].includes("X"),
        );
      expect(isKept).toBe(true);
    },
  },
  {
    rules: ["S-ORD-2", "S-ORD-3"],
    title: "lets no routes and clusters of a client that comes back wait for each other",
    variants: ["sotw/ads"],
    world: withEnvoyTypes,
    run(world) {
      for (const name of ["W", "Y"]) {
        world.cache.put({ typeUrl: cluster.typeUrl, name, value: edsCluster(name) });
        world.put(assignment.typeUrl, name);
      }
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "W") });
      world.cache.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", "Y") });
      const { client } = world.openSotw(cluster.typeUrl);
      for (const [{ typeUrl }, ...resourceNames] of [
        [cluster, "*", "X"],
        [assignment, "W"],
        [route, "r"],
      ] as const)
        client.send({ typeUrl, resourceNames, versionInfo: "before" });
      world.run();
      const [endpoints, routes] = client.rest();
      expect([endpoints?.typeUrl, routes?.typeUrl]).toEqual([assignment.typeUrl, route.typeUrl]);
      client.send({
        typeUrl: route.typeUrl,
        resourceNames: ["r", "s"],
        versionInfo: routes?.versionInfo ?? "",
        responseNonce: routes?.nonce ?? "",
      });
      world.run();
      expect(client.rest().map(({ typeUrl }) => shortNameOf(typeUrl))).toContain("routes");
    },
  },
  {
    rules: ["S-ORD-5"],
    title: "lets types that follow each other in a ring go without a wait",
    variants: adsVariants,
    world: {
      types: ["t/a", "t/b"].map((typeUrl, index, all) => ({
        typeUrl,
        follows: [{ typeUrl: all[1 - index] ?? "", when: "accepted" as const }],
        references: (payload: Uint8Array) => [
          { typeUrl: all[1 - index] ?? "", name: nameIn(payload) },
        ],
      })),
    },
    run(world) {
      const peer = subscribed(world, [
        ["t/a", "x"],
        ["t/b", "x"],
      ]);
      world.cache.transaction((writer) => {
        for (const typeUrl of ["t/a", "t/b"])
          writer.put({ typeUrl, name: "x", value: payloadOf("x", "x") });
      });
      expect(read(world, peer).map(told)).toEqual(["t/a +x", "t/b +x"]);
    },
  },
  {
    rules: ["S-ORD-4", "S-ACK-9"],
    title: "names in the status what waits, for which name, and since when",
    variants: adsVariants,
    world: { ...withEnvoyTypes, limits: { repairMs: 60_000 } },
    run(world) {
      const peer = useRoute(world, "X");
      world.clock.advance(1_000);
      const since = world.clock.wallTime();
      swap(world, ["Y"]);
      readBut(world, peer, cluster.typeUrl);
      world.clock.advance(5_000);
      const types = peer.streamOf(route.typeUrl).server.status().types;
      expect(types.find(({ typeUrl }) => typeUrl === route.typeUrl)?.heldBack).toEqual([
        { name: "r", for: "Y", forType: cluster.typeUrl, since },
      ]);
    },
  },
]);

/** A cluster and its endpoints for each name. */
function putClusters(world: World, ...names: readonly string[]): void {
  for (const name of names) {
    world.cache.put({ typeUrl: cluster.typeUrl, name, value: edsCluster(name) });
    world.put(assignment.typeUrl, name);
  }
}

function changeCluster(world: World, name: string, serviceName?: string): void {
  world.cache.put({
    typeUrl: cluster.typeUrl,
    name,
    value: edsCluster(name, `change ${world.cache.revision}`, serviceName),
  });
}

const clustersAndEndpoints = [
  [cluster.typeUrl, "*"],
  [assignment.typeUrl, "X", "Y", "Z"],
] as const;

runCases("warming", [
  {
    rules: ["S-WARM-1"],
    title: "sends the endpoints of a cluster that changed again, and only these",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X", "Y", "Z");
      const peer = subscribed(world, clustersAndEndpoints);
      changeCluster(world, "Y");
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +Y" : "clusters +X +Y +Z",
        "endpoints +Y",
      ]);
    },
  },
  {
    rules: ["S-WARM-1"],
    title:
      "sends the endpoints of a new cluster again that the client has already, though the ACK of the cluster waits for them",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X");
      world.put(assignment.typeUrl, "Z");
      const peer = subscribed(world, clustersAndEndpoints);
      changeCluster(world, "Z");
      expect(read(world, peer).map(told)).toEqual([
        isDelta(world.variant) ? "clusters +Z" : "clusters +X +Z",
        "endpoints +Z",
      ]);
    },
  },
  {
    rules: ["S-WARM-1"],
    title: "goes by the service name of a cluster",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X", "Y");
      const peer = subscribed(world, clustersAndEndpoints);
      changeCluster(world, "X", "Y");
      expect(readAll(world, peer).at(-1)).toBe("endpoints +Y");
    },
  },
  {
    rules: ["S-WARM-1"],
    title: "sends the routes of a listener that changed again",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: rdsListener("l", "r") });
      for (const name of ["r", "s"]) world.put(route.typeUrl, name);
      const peer = subscribed(world, [
        [listener.typeUrl, "*"],
        [route.typeUrl, "r", "s"],
      ]);
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: rdsListener("l", "r", "2") });
      expect(readAll(world, peer)).toEqual(["listeners +l", "routes +r"]);
    },
  },
  {
    rules: ["S-WARM-1"],
    title: "sends endpoints again that * covers",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X", "Y");
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [assignment.typeUrl, "*"],
      ]);
      changeCluster(world, "X");
      expect(readAll(world, peer).at(-1)).toBe("endpoints +X");
    },
  },
  {
    rules: ["S-WARM-1"],
    title:
      "sends nothing again for a cluster without endpoints of its own, for one that went, or for endpoints not subscribed",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X", "Y");
      world.put(cluster.typeUrl, "static");
      world.put(assignment.typeUrl, "static");
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [assignment.typeUrl, "Y", "static"],
      ]);
      world.put(cluster.typeUrl, "static", "2");
      changeCluster(world, "X");
      expect(readAll(world, peer).filter((line) => line.startsWith("endpoints"))).toEqual([]);
      world.remove(cluster.typeUrl, "Y");
      expect(readAll(world, peer).filter((line) => line.startsWith("endpoints"))).toEqual([]);
    },
  },
  {
    rules: ["S-WARM-1"],
    title: "sends nothing again between streams of their own",
    variants: perTypeVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X", "Y");
      const peer = subscribed(world, clustersAndEndpoints);
      changeCluster(world, "Y");
      expect(readAll(world, peer).filter((line) => line.startsWith("endpoints"))).toEqual([]);
    },
  },
  {
    rules: ["S-WARM-1", "S-ACK-8"],
    title:
      "sends again the endpoints of all clusters that were rejected together, when one is corrected",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X", "Y", "Z");
      const peer = subscribed(world, clustersAndEndpoints);
      world.cache.transaction((writer) => {
        for (const name of ["X", "Y"])
          writer.put({ typeUrl: cluster.typeUrl, name, value: edsCluster(name, "2") });
      });
      for (const answer of read(world, peer)) {
        if (answer.typeUrl === cluster.typeUrl) peer.of(cluster.typeUrl).nack(answer, "Y is bad");
        else peer.of(answer.typeUrl).ack(answer);
      }
      changeCluster(world, "Y");
      expect(readAll(world, peer)).toEqual([
        isDelta(world.variant) ? "clusters +X +Y" : "clusters +X +Y +Z",
        "endpoints +X +Y",
      ]);
    },
  },
  {
    rules: ["S-WARM-1", "S-FULL-1"],
    title: "sends a child of full state again, whole",
    variants: adsVariants,
    world: {
      types: [
        {
          typeUrl: "t/parent",
          fullStateInSotw: true,
          warms: [{ typeUrl: "t/child", names: () => ["x"] }],
        },
        {
          typeUrl: "t/child",
          fullStateInSotw: true,
          follows: [{ typeUrl: "t/parent", when: "sent" }],
        },
      ],
    },
    run(world) {
      world.put("t/parent", "p", "1");
      for (const name of ["x", "y"]) world.put("t/child", name);
      const peer = subscribed(world, [
        ["t/parent", "*"],
        ["t/child", "x", "y"],
      ]);
      world.put("t/parent", "p", "2");
      expect(readAll(world, peer)).toEqual([
        "t/parent +p",
        isDelta(world.variant) ? "t/child +x" : "t/child +x +y",
      ]);
    },
  },
  {
    rules: ["S-WARM-1"],
    title: "sends endpoints again after the response that is in flight has been answered",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X", "Y");
      const peer = subscribed(world, clustersAndEndpoints);
      world.put(assignment.typeUrl, "Y", "2");
      const [open] = read(world, peer);
      changeCluster(world, "X");
      expect(readAll(world, peer).map((line) => line.split(" ")[0])).toEqual(["clusters"]);
      if (open !== undefined) peer.of(assignment.typeUrl).ack(open);
      expect(readAll(world, peer)).toEqual(["endpoints +X"]);
    },
  },
  {
    rules: ["S-WARM-2"],
    title:
      "lets a cluster without endpoints block no other: delta says that they are missing, SotW nothing",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X");
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: edsCluster("Y") });
      const peer = world.connect();
      peer.of(cluster.typeUrl).subscribe("*");
      peer.of(assignment.typeUrl).subscribe("X", "Y");
      const missing = isDelta(world.variant) ? " -Y" : "";
      expect(readAll(world, peer).slice(0, 2)).toEqual([
        "clusters +X +Y",
        `endpoints +X${missing}`,
      ]);
      world.cache.transaction((writer) => {
        for (const name of ["X", "Y"])
          writer.put({ typeUrl: cluster.typeUrl, name, value: edsCluster(name, "2") });
      });
      expect(readAll(world, peer)).toEqual(["clusters +X +Y", `endpoints +X${missing}`]);
      world.put(assignment.typeUrl, "Y");
      expect(readAll(world, peer)).toEqual(["endpoints +Y"]);
    },
  },
  {
    rules: ["S-WARM-2"],
    title: "says that endpoints are missing though clusters wait to be sent behind a silent client",
    variants: ["delta/ads"],
    world: withEnvoyTypes,
    run(world) {
      putClusters(world, "X");
      const peer = subscribed(world, [
        [cluster.typeUrl, "*"],
        [assignment.typeUrl, "X", "Y"],
      ]);
      changeCluster(world, "Y");
      const held = read(world, peer);
      expect(held.map(told)).toEqual(["clusters +Y", "endpoints -Y"]);
      for (const answer of held)
        if (answer.typeUrl === assignment.typeUrl) peer.of(assignment.typeUrl).ack(answer);
      changeCluster(world, "X");
      begin(world, peer.of(assignment.typeUrl), "Z");
      peer.of(assignment.typeUrl).subscribe("Y");
      expect(read(world, peer).map(told)).toEqual(["endpoints -Y"]);
    },
  },
  {
    rules: ["S-WARM-2", "S-MISS-1"],
    title:
      "does not tell Envoy that the routes of a listener are missing, also when the listener changes",
    variants: ["delta/ads"],
    world: { types: envoyTypes, quirks: clientQuirks },
    run(world) {
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: rdsListener("l", "r") });
      const peer = subscribed(
        world,
        [
          [listener.typeUrl, "*"],
          [route.typeUrl, "r"],
        ],
        { node: { id: "n", userAgentName: "envoy" } },
      );
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: rdsListener("l", "r", "2") });
      expect(readAll(world, peer)).toEqual(["listeners +l"]);
      world.put(route.typeUrl, "r");
      expect(acceptAll(world, peer.of(route.typeUrl)).map(told)).toEqual(["routes +r"]);
    },
  },
]);
