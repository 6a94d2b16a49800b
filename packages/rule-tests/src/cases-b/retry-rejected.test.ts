import {
  cluster,
  clusterLoadAssignment as assignment,
  envoyTypes,
  listener,
  routeConfiguration as route,
} from "@xdstp/resource-types";
import { expect } from "vitest";

import type { Answer } from "../harness/answer.ts";
import type { World } from "../harness/create-world.ts";
import { edsCluster, rdsListener, routeTo } from "../harness/envoy-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
import type { Peer } from "../harness/peer.ts";
import { runCases } from "../harness/rule-case.ts";
import { adsVariants } from "../harness/variant.ts";

const withEnvoyTypes = { types: envoyTypes };

/** Returns true if a client rejects a response. */
type Rejects = (answer: Answer) => boolean;

/** Reads and answers until no response comes any more. Returns the names in each response of one type. */
function readAll(world: World, peer: Peer, typeUrl: string, rejects: Rejects): readonly string[] {
  const all: string[] = [];
  for (let rounds = 20; rounds > 0; rounds--) {
    world.run();
    const answers = peer.answers();
    if (answers.length === 0) return all;
    for (const answer of answers) {
      if (answer.typeUrl === typeUrl) all.push([...answer.names].sort().join(" "));
      if (rejects(answer)) peer.of(answer.typeUrl).nack(answer, "unknown cluster");
      else peer.of(answer.typeUrl).ack(answer);
    }
  }
  throw new Error("responses without an end");
}

/** Rejects each response that has this name. */
function rejecting(typeUrl: string, name: string): Rejects {
  return (answer) => answer.typeUrl === typeUrl && answer.names.includes(name);
}

const nothing: Rejects = () => false;

/** A peer that asks for all clusters and two routes, and rejects r, which refers to Y. */
function rejectsTheRouteToY(world: World): Peer {
  const peer = world.connect();
  world.put(cluster.typeUrl, "X");
  peer.of(cluster.typeUrl).subscribe("*");
  peer.of(route.typeUrl).subscribe("r", "s");
  readAll(world, peer, route.typeUrl, nothing);
  world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
  expect(readAll(world, peer, route.typeUrl, rejecting(route.typeUrl, "r"))).toEqual(["r"]);
  return peer;
}

function putCluster(world: World, name: string): void {
  world.cache.put({ typeUrl: cluster.typeUrl, name, value: payloadOf(name) });
}

runCases("retries of rejected resources", [
  {
    rules: ["S-ACK-21"],
    title:
      "what was rejected is offered again, unchanged, once the client accepts what it refers to",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = rejectsTheRouteToY(world);
      putCluster(world, "Y");
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual(["r"]);
      putCluster(world, "Z");
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-21", "S-ALIAS-1"],
    title: "what was rejected is offered again once the client accepts what it names by an alias",
    variants: ["delta/ads"],
    world: withEnvoyTypes,
    run(world) {
      const peer = rejectsTheRouteToY(world);
      world.put(cluster.typeUrl, "Z", "", { aliases: ["Y"] });
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual(["r"]);
    },
  },
  {
    rules: ["S-ACK-21", "S-ACK-8"],
    title: "a client that rejects it again is not offered it a third time",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = rejectsTheRouteToY(world);
      const rejects = rejecting(route.typeUrl, "r");
      putCluster(world, "Y");
      expect(readAll(world, peer, route.typeUrl, rejects)).toEqual(["r"]);
      putCluster(world, "Z");
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y", "changed") });
      expect(readAll(world, peer, route.typeUrl, rejects)).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-21", "S-ACK-8"],
    title: "a name offers it once, also where the name changes while it is rejected again",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = rejectsTheRouteToY(world);
      putCluster(world, "Y");
      world.run();
      for (const answer of peer.answers()) peer.of(answer.typeUrl).ack(answer);
      world.run();
      const [offered] = peer.answers();
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y", "changed") });
      world.run();
      const [changed] = peer.answers();
      if (offered !== undefined) peer.of(route.typeUrl).nack(offered, "no");
      if (changed !== undefined) peer.of(cluster.typeUrl).ack(changed);
      expect([offered?.names, changed?.names.includes("Y")]).toEqual([["r"], true]);
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-21"],
    title: "a name that is older than its subscription has to be accepted, too",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      for (const name of ["X", "Y"]) world.put(cluster.typeUrl, name);
      const peer = world.connect();
      peer.of(cluster.typeUrl).subscribe("X");
      peer.of(route.typeUrl).subscribe("r");
      readAll(world, peer, route.typeUrl, nothing);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      const rejects = rejecting(route.typeUrl, "r");
      expect(readAll(world, peer, route.typeUrl, rejects)).toEqual(["r"]);
      peer.of(cluster.typeUrl).subscribe("Y");
      world.run();
      const [answer, ...others] = peer.answers();
      expect([answer?.typeUrl, others]).toEqual([cluster.typeUrl, []]);
      if (answer !== undefined) peer.of(cluster.typeUrl).ack(answer);
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual(["r"]);
    },
  },
  {
    rules: ["S-ACK-21"],
    title: "another name that comes does not cause a retry",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = rejectsTheRouteToY(world);
      putCluster(world, "Z");
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-21"],
    title: "what it refers to has to be accepted, not only sent",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = rejectsTheRouteToY(world);
      putCluster(world, "Y");
      expect(readAll(world, peer, route.typeUrl, rejecting(cluster.typeUrl, "Y"))).toEqual([]);
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y", "corrected") });
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual(["r"]);
    },
  },
  {
    rules: ["S-ACK-21"],
    title: "each of two missing names offers it once",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = world.connect();
      peer.of(cluster.typeUrl).subscribe("*");
      peer.of(listener.typeUrl).subscribe("*");
      peer.of(route.typeUrl).subscribe("r", "s");
      readAll(world, peer, route.typeUrl, nothing);
      world.cache.transaction((writer) => {
        writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
        writer.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", "Z") });
      });
      const rejects = rejecting(route.typeUrl, "s");
      expect(readAll(world, peer, route.typeUrl, rejects)).toEqual(["r s"]);
      putCluster(world, "Y");
      expect(readAll(world, peer, route.typeUrl, rejects)).toEqual(["r s"]);
      putCluster(world, "Z");
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual(["r s"]);
    },
  },
  {
    rules: ["S-ACK-21"],
    title: "a rejected listener goes again with its routes, in full state too",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = world.connect();
      peer.of(cluster.typeUrl).subscribe("*");
      peer.of(listener.typeUrl).subscribe("*");
      peer.of(route.typeUrl).subscribe("r");
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: rdsListener("l", "r") });
      const rejects = rejecting(listener.typeUrl, "l");
      expect(readAll(world, peer, listener.typeUrl, rejects)).toEqual(["l"]);
      world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X") });
      expect(readAll(world, peer, listener.typeUrl, nothing)).toEqual(["l"]);
    },
  },
  {
    rules: ["S-ACK-21", "S-WARM-1"],
    title: "endpoints that are sent again with a rejected cluster do not offer it again",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = world.connect();
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: edsCluster("Y") });
      world.put(assignment.typeUrl, "Y");
      peer.of(cluster.typeUrl).subscribe("*");
      peer.of(assignment.typeUrl).subscribe("Y");
      readAll(world, peer, cluster.typeUrl, nothing);
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: edsCluster("Y", "bad") });
      expect(readAll(world, peer, cluster.typeUrl, rejecting(cluster.typeUrl, "Y"))).toEqual(["Y"]);
    },
  },
  {
    rules: ["S-ACK-21", "S-ACK-9"],
    title: "the status names what the rejected content refers to and the client does not have",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = rejectsTheRouteToY(world);
      const missed = (): unknown =>
        peer
          .streamOf(route.typeUrl)
          .server.status()
          .types.find(({ typeUrl }) => typeUrl === route.typeUrl)?.lastError?.missed;
      expect(missed()).toEqual([{ typeUrl: cluster.typeUrl, name: "Y", served: false }]);
      world.cache.put({ typeUrl: cluster.typeUrl, name: "Y", value: edsCluster("Y") });
      expect(readAll(world, peer, route.typeUrl, nothing)).toEqual(["r"]);
      expect(missed()).toBeUndefined();
    },
  },
]);
