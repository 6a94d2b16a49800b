import type { Entry } from "@xdstp/core";
import { deliveryOf } from "@xdstp/protocol/server";
import { cluster, envoyTypes, routeConfiguration as route } from "@xdstp/resource-types";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { addHeldFeed } from "../harness/held-feed.ts";
import { routeTo } from "../harness/envoy-payloads.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import type { Peer } from "../harness/peer.ts";
import { runCases } from "../harness/rule-case.ts";
import { adsVariants, deltaVariants, isDelta } from "../harness/variant.ts";

/** Returns the delivery state of a name at a peer, for each of the topics that cover it. */
function told(peer: Peer, typeUrl: string, name: string): readonly string[] {
  const view = peer
    .streamOf(typeUrl)
    .server.views()
    .find((one) => one.typeUrl === typeUrl);
  return view === undefined
    ? []
    : view.topics.map((topic) => {
        const entry =
          topic.get(name) ??
          topic.removed().find((gone) => gone.name === name) ??
          topic.members().find((one) => one.name === name);
        return entry === undefined ? "unknown" : deliveryOf(view, topic, entry);
      });
}

const withEnvoyTypes = { types: envoyTypes };

/** A cluster X with a route to it, accepted; then one transaction that moves the route to Y and drops X. */
function useSwap(world: World): Peer {
  world.put(cluster.typeUrl, "X");
  world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X") });
  const peer = world.connect();
  begin(world, peer.of(cluster.typeUrl), "*");
  begin(world, peer.of(route.typeUrl), "r");
  world.cache.transaction((writer) => {
    writer.put({ typeUrl: cluster.typeUrl, name: "Y", value: new Uint8Array([10, 1, 89]) });
    writer.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
    writer.remove(cluster.typeUrl, "X");
  });
  return peer;
}

runCases("how far a name has come", [
  {
    rules: ["S-CSDS-4", "S-ACK-9"],
    title: "is pending before it is sent, in flight until it is answered, then accepted",
    run(world) {
      for (const typeUrl of [FULL, PART]) {
        world.put(typeUrl, "a");
        const peer = world.connect();
        const client = peer.of(typeUrl);
        client.subscribe("a");
        expect(told(peer, typeUrl, "a")).toEqual(["pending"]);
        world.run();
        expect(told(peer, typeUrl, "a")).toEqual(["in-flight"]);
        client.ack(client.next());
        expect(told(peer, typeUrl, "a")).toEqual(["accepted"]);
        world.put(typeUrl, "a", "2");
        expect(told(peer, typeUrl, "a")).toEqual(["pending"]);
        acceptAll(world, client);
        expect(told(peer, typeUrl, "a")).toEqual(["accepted"]);
      }
    },
  },
  {
    rules: ["S-CSDS-4"],
    title:
      "is rejected with all of its response, and pending again with what came after the response in flight",
    run(world) {
      for (const name of ["a", "b"]) world.put(FULL, name);
      const peer = world.connect();
      const client = peer.of(FULL);
      client.subscribe("*");
      world.run();
      const first = client.next();
      world.put(FULL, "b", "2");
      expect([told(peer, FULL, "a"), told(peer, FULL, "b")]).toEqual([["in-flight"], ["pending"]]);
      client.nack(first, "no");
      world.run();
      client.nack(client.next(), "no again");
      expect([told(peer, FULL, "a"), told(peer, FULL, "b")]).toEqual([["rejected"], ["rejected"]]);
    },
  },
  {
    rules: ["S-CSDS-4"],
    title: "is that of each subscription that covers the name",
    variants: deltaVariants,
    run(world) {
      const [name, glob] = ["xdstp://a/test.Full/p/x", "xdstp://a/test.Full/p/*"];
      world.put(FULL, name);
      const peer = world.connect();
      const client = peer.of(FULL);
      begin(world, client, glob);
      client.subscribe(name);
      expect(told(peer, FULL, name)).toEqual(["accepted", "pending"]);
      acceptAll(world, client);
      expect(told(peer, FULL, name)).toEqual(["accepted", "accepted"]);
      client.unsubscribe(name);
      expect(told(peer, FULL, name)).toEqual(["pending"]);
      acceptAll(world, client);
      expect(told(peer, FULL, name)).toEqual(["accepted"]);
    },
  },
  {
    rules: ["S-CSDS-4", "S-ORD-3"],
    title:
      "is pending for what waits for another type: a route that was taken, a removal that is held",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useSwap(world);
      world.run();
      expect([
        told(peer, cluster.typeUrl, "Y"),
        told(peer, cluster.typeUrl, "X"),
        told(peer, route.typeUrl, "r"),
      ]).toEqual([["in-flight"], ["pending"], ["pending"]]);
      const clusters = peer.of(cluster.typeUrl);
      clusters.ack(clusters.next());
      world.run();
      expect([
        told(peer, cluster.typeUrl, "Y"),
        told(peer, cluster.typeUrl, "X"),
        told(peer, route.typeUrl, "r"),
      ]).toEqual([["accepted"], ["pending"], ["in-flight"]]);
      const routes = peer.of(route.typeUrl);
      routes.ack(routes.next());
      world.run();
      // A full state says by what it lacks that a name is gone: until it is accepted, the client has it.
      expect(told(peer, cluster.typeUrl, "X")).toEqual([
        isDelta(world.variant) ? "in-flight" : "pending",
      ]);
      clusters.ack(clusters.next());
      expect([told(peer, cluster.typeUrl, "X"), told(peer, route.typeUrl, "r")]).toEqual([
        ["accepted"],
        ["accepted"],
      ]);
    },
  },
  {
    rules: ["S-CSDS-4", "S-ORD-4"],
    title: "is pending for what is held back, and what is accepted ends before it",
    variants: adsVariants,
    world: withEnvoyTypes,
    run(world) {
      const peer = useSwap(world);
      const before = world.cache.revision - 1;
      world.run();
      const clusters = peer.of(cluster.typeUrl);
      clusters.nack(clusters.next(), "no");
      world.run();
      expect([told(peer, cluster.typeUrl, "Y"), told(peer, route.typeUrl, "r")]).toEqual([
        ["rejected"],
        ["pending"],
      ]);
      const views = peer.streamOf(route.typeUrl).server.views();
      expect(
        views.find(({ typeUrl }) => typeUrl === route.typeUrl)?.acceptedUpTo,
      ).toBeLessThanOrEqual(before);
    },
  },
  {
    rules: ["S-CSDS-4"],
    title: "is unknown while a name is not settled, and says how removals are told",
    world: { ready: false },
    run(world) {
      addHeldFeed(world.cache);
      const peer = world.connect();
      for (const typeUrl of [FULL, PART]) peer.of(typeUrl).subscribe("a");
      const views = [FULL, PART].flatMap((typeUrl) =>
        peer
          .streamOf(typeUrl)
          .server.views()
          .filter((view) => view.typeUrl === typeUrl),
      );
      expect(views.map(({ removals }) => removals)).toEqual(
        isDelta(world.variant) ? ["said", "said"] : ["absent", "never"],
      );
      const entry: Entry = { revision: 0, since: 0, superseded: false, name: "a" };
      for (const view of views)
        for (const topic of view.topics) expect(view.isPending(topic, entry)).toBe(true);
    },
  },
]);
