import {
  cluster,
  clusterLoadAssignment as assignment,
  envoyTypes,
  listener,
  routeConfiguration as route,
  typedExtensionConfig as extension,
} from "@xdstp/resource-types";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { Answer } from "../harness/answer.ts";
import { createWorld, type World } from "../harness/create-world.ts";
import { edsCluster, rdsListener, routeTo } from "../harness/envoy-payloads.ts";
import { FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { adsVariants, deltaVariants, isDelta, sotwVariants } from "../harness/variant.ts";

/** One test for each row of "Known failures: protocol and engine" in docs/reference/operators-and-security.md that concerns a server; titles name the row. istio #35263 #28261 is in packages/server (admission); grpc-go #8594 is of clients. */
const textOf = (answers: readonly Answer[]): readonly string[] =>
  answers.flatMap(({ resources }) => resources.map(({ name, text }) => `${name}=${text}`));

runCases("known failures of other servers", [
  {
    rules: ["S-ACK-8"],
    title:
      "go-control-plane #46 #962, istio #21111, contour #1176, grpc #25335, xds-relay #165: a NACK triggers no resend; the next content is one push",
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      client.nack(client.next(), "no");
      for (let minute = 0; minute < 10; minute++) {
        world.clock.advance(60_000);
        world.run();
      }
      expect(client.rest()).toEqual([]);
      world.put(PART, "a", "2");
      world.run();
      expect(textOf(client.rest())).toEqual(["a=2"]);
    },
  },
  {
    rules: ["S-ACK-16"],
    title: "xds-relay #124, go-control-plane #1319: neither an ACK nor an absent name loops",
    run(world) {
      world.put(PART, "a", "0");
      const client = world.connect().of(PART);
      let pushes = begin(world, client, "a", "absent").length;
      for (let change = 1; change <= 100; change++) {
        world.put(PART, "a", String(change));
        pushes += acceptAll(world, client).length;
      }
      expect(pushes).toBeLessThanOrEqual(100 + 2);
    },
  },
  {
    rules: ["B-STREAM-12"],
    title:
      "go-control-plane #503 #854 #875, consul #9689, istio #39209: readers that stop on both sides hold up nobody else, with more than 10 types",
    world: { types: [] },
    run(world) {
      const typeUrls = Array.from({ length: 12 }, (_, i) => `type.googleapis.com/test.T${i}`);
      const [stuck, other] = [world.connect(), world.connect()];
      for (const typeUrl of typeUrls) world.put(typeUrl, "a", "1");
      const node = { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] };
      const reader = world.connect({ node });
      for (const typeUrl of typeUrls) {
        stuck.streamOf(typeUrl).stream.fill();
        for (let i = 0; i < 20; i++) stuck.of(typeUrl).subscribe(`n${i}`);
        other.of(typeUrl).subscribe("a");
        reader.of(typeUrl).subscribe("a");
      }
      for (const typeUrl of typeUrls)
        expect(textOf(acceptAll(world, reader.of(typeUrl)))).toEqual(["a=1"]);
    },
  },
  {
    rules: ["S-STREAM-10"],
    title:
      "go-control-plane #570 #597 #913, istio #10822 #51838, grpc-node #2892: nothing is left of 1,000 reconnects",
    run(world) {
      world.put(PART, "a", "1");
      for (let i = 0; i < 1_000; i++) {
        const peer = world.connect();
        peer.of(PART).subscribe("a", `own ${i}`);
        if (i % 3 > 0) world.run();
        if (i % 3 === 1)
          for (const answer of peer.of(PART).rest()) peer.of(PART).nack(answer, "no");
        peer.leave();
      }
      world.run();
      world.clock.advance(3_600_000);
      expect([world.status(), world.cache.counters.topics, world.clock.pending]).toEqual([
        [],
        0,
        0,
      ]);
    },
  },
  {
    rules: ["S-SUB-3"],
    title:
      "go-control-plane #431 #583 #1300: what is removed and comes again is sent again, and so is what is subscribed again",
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      begin(world, client, "a");
      world.remove(PART, "a");
      acceptAll(world, client);
      world.put(PART, "a", "1");
      expect(textOf(acceptAll(world, client))).toEqual(["a=1"]);
      client.unsubscribe("a");
      acceptAll(world, client);
      client.subscribe("a");
      expect(textOf(acceptAll(world, client))).toEqual(["a=1"]);
    },
  },
  {
    rules: ["S-FULL-1"],
    title: "go-control-plane #540 #856 #1299: a change of one of n shows all n",
    variants: sotwVariants,
    run(world) {
      for (const name of ["a", "b", "c"]) world.put(FULL, name, "1");
      const client = world.connect().of(FULL);
      begin(world, client, "a", "b", "c");
      world.put(FULL, "b", "2");
      expect([...textOf(acceptAll(world, client))].sort()).toEqual(["a=1", "b=2", "c=1"]);
    },
  },
  {
    rules: ["S-ACK-10"],
    title:
      "go-control-plane #463 #615: a name that is added while a response is unanswered is answered, and what is in flight does not undo it",
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      const [first] = client.rest();
      client.subscribe("b");
      world.run();
      if (first !== undefined) client.ack(first);
      expect(textOf(acceptAll(world, client))).toContain("b=1");
      world.put(PART, "a", "2");
      expect(textOf(acceptAll(world, client))).toEqual(["a=2"]);
    },
  },
  {
    rules: ["S-MISS-1"],
    title: "go-control-plane #488 #565: a missing name stays subscribed",
    run(world) {
      const client = world.connect().of(PART);
      const removed = begin(world, client, "a").flatMap((answer) => answer.removed);
      expect(removed).toEqual(isDelta(world.variant) ? ["a"] : []);
      world.put(PART, "a", "1");
      expect(textOf(acceptAll(world, client))).toEqual(["a=1"]);
    },
  },
  {
    rules: ["S-SUB-1"],
    title:
      "go-control-plane #63 #119 #426: two clients that want different parts do not wait for each other",
    run(world) {
      for (const typeUrl of [PART, FULL]) {
        const [one, two] = [world.connect().of(typeUrl), world.connect().of(typeUrl)];
        for (const name of ["a", "b", "c"]) world.put(typeUrl, name, "1");
        expect([textOf(begin(world, one, "a")), textOf(begin(world, two, "b"))]).toEqual([
          ["a=1"],
          ["b=1"],
        ]);
      }
    },
  },
  {
    rules: ["S-WARM-1"],
    title:
      "envoy #13009 #33607 #36951, java-control-plane #127: endpoints follow a cluster that changes, though they do not",
    variants: adsVariants,
    world: { types: envoyTypes },
    run(world) {
      world.cache.put({ typeUrl: cluster.typeUrl, name: "X", value: edsCluster("X", "1") });
      world.put(assignment.typeUrl, "X", "same");
      const peer = world.connect();
      begin(world, peer.of(cluster.typeUrl), "*");
      begin(world, peer.of(assignment.typeUrl), "X");
      world.cache.put({ typeUrl: cluster.typeUrl, name: "X", value: edsCluster("X", "2") });
      world.run();
      expect(peer.answers().map(({ typeUrl, names }) => [typeUrl, names])).toEqual([
        [cluster.typeUrl, ["X"]],
        [assignment.typeUrl, ["X"]],
      ]);
    },
  },
  {
    rules: ["S-ORD-2", "S-ORD-3"],
    title:
      "go-control-plane #526 #752 #800: clusters, endpoints right behind, listeners and routes after their ACK, removals last",
    variants: adsVariants,
    world: { types: envoyTypes },
    run(world) {
      const put = (
        write: (typeUrl: string, name: string, value: Uint8Array) => void,
        name: string,
      ): void => {
        write(cluster.typeUrl, name, edsCluster(name));
        write(route.typeUrl, "r", routeTo("r", name));
        write(listener.typeUrl, "l", rdsListener("l", "r", name));
      };
      put((typeUrl, name, value) => {
        world.cache.put({ typeUrl, name, value });
      }, "X");
      for (const name of ["X", "Y"]) world.put(assignment.typeUrl, name);
      const peer = world.connect();
      for (const [typeUrl, ...names] of [
        [cluster.typeUrl, "*"],
        [assignment.typeUrl, "X", "Y"],
        [listener.typeUrl, "*"],
        [route.typeUrl, "r"],
      ] as const)
        begin(world, peer.of(typeUrl), ...names);
      for (const { typeUrl } of envoyTypes) acceptAll(world, peer.of(typeUrl));
      peer.answers();
      world.cache.transaction((writer) => {
        put((typeUrl, name, value) => {
          writer.put({ typeUrl, name, value });
        }, "Y");
        writer.remove(cluster.typeUrl, "X");
      });
      const order: string[] = [];
      for (
        let answers = (world.run(), peer.answers());
        answers.length > 0;
        answers = (world.run(), peer.answers())
      ) {
        for (const answer of answers) {
          order.push(answer.typeUrl);
          peer.of(answer.typeUrl).ack(answer);
        }
      }
      expect(order[0]).toBe(cluster.typeUrl);
      expect(order.indexOf(listener.typeUrl)).toBeGreaterThan(order.indexOf(cluster.typeUrl));
      expect(order.indexOf(route.typeUrl)).toBeGreaterThan(order.indexOf(assignment.typeUrl));
      expect(order.lastIndexOf(cluster.typeUrl)).toBeGreaterThan(order.indexOf(route.typeUrl));
    },
  },
  {
    rules: ["S-NONCE-8"],
    title: "envoy #10363, envoy #16659: a change under an old nonce is not lost",
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      const old = client.next();
      client.ack(old);
      world.put(PART, "a", "2");
      world.run();
      client.ack(old, { add: ["b"] });
      expect(textOf(acceptAll(world, client))).toEqual(["a=2", "b=1"]);
    },
  },
  {
    rules: ["S-RECON-4"],
    title:
      "envoy #22418, istio #41494: names that a client holds are answered when it comes back, and so is what was removed meanwhile",
    variants: deltaVariants,
    run(world) {
      for (const name of ["kept", "gone"]) world.put(PART, name, "1");
      const first = world.openDelta(PART);
      first.client.send({ typeUrl: PART, resourceNamesSubscribe: ["kept", "gone"] });
      world.run();
      const versions = Object.fromEntries(
        first.client.next().resources.map(({ name, version }) => [name, version]),
      );
      first.stream.cancel();
      world.remove(PART, "gone");
      const again = world.openDelta(PART);
      again.client.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["kept", "gone", "new"],
        initialResourceVersions: versions,
      });
      world.run();
      expect(again.client.next()).toMatchObject({
        resources: [],
        removedResources: expect.arrayContaining(["gone", "new"]) as unknown,
      });
    },
  },
  {
    rules: ["S-VER-2", "S-VER-3"],
    title:
      "contour #6250, go-control-plane #341, envoy #8718: versions are those of every replica and of every start, so neither a restart nor a stale replica looks newer",
    run(world) {
      const versionIn = (from: World): string | undefined => {
        from.put(PART, "a", "1");
        const [answer] = begin(from, from.connect().of(PART), "a");
        return isDelta(from.variant) ? answer?.resources[0]?.version : answer?.version;
      };
      const replica = createWorld({ variant: world.variant });
      for (let i = 0; i < 7; i++) replica.put(OTHER_PART, `before ${i}`);
      const version = versionIn(world);
      expect(version).not.toBe("");
      expect(versionIn(replica)).toBe(version);
      replica.put(PART, "a", "2");
      expect(versionIn(replica)).toBe(version);
    },
  },
  {
    rules: ["S-NONCE-9"],
    title:
      "java-control-plane #70, grpc-java #11796: who drops everything and subscribes again is answered",
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      begin(world, client, "a");
      client.unsubscribe("a");
      acceptAll(world, client);
      client.subscribe("a");
      expect(textOf(acceptAll(world, client))).toEqual(["a=1"]);
    },
  },
  {
    rules: ["S-LIM-6"],
    title: "go-control-plane #546 #1324: a change is encoded once, not once for each client",
    run(world) {
      world.put(PART, "a", "0");
      const clients = Array.from({ length: 50 }, () => world.connect().of(PART));
      for (const client of clients) begin(world, client, "a");
      const { encoded } = world.context.frames.counters;
      for (let change = 1; change <= 10; change++) {
        world.put(PART, "a", String(change));
        world.run();
        for (const client of clients) client.ack(client.next());
      }
      expect(world.context.frames.counters.encoded - encoded).toBe(10);
    },
  },
  {
    rules: ["S-ORD-3"],
    title:
      "envoy #32823: an extension that a listener refers to is not removed before the listener has let go",
    variants: adsVariants,
    world: { types: envoyTypes },
    run(world) {
      world.cache.put({
        typeUrl: listener.typeUrl,
        name: "l",
        value: rdsListener("l", "r", "with"),
      });
      world.put(extension.typeUrl, "filter");
      const peer = world.connect();
      begin(world, peer.of(listener.typeUrl), "*");
      begin(world, peer.of(extension.typeUrl), "filter");
      world.cache.transaction((writer) => {
        writer.put({
          typeUrl: listener.typeUrl,
          name: "l",
          value: rdsListener("l", "r", "without"),
        });
        writer.remove(extension.typeUrl, "filter");
      });
      world.run();
      const before = peer.answers();
      expect(before.map(({ typeUrl }) => typeUrl)).toEqual([listener.typeUrl]);
      for (const answer of before) peer.of(answer.typeUrl).ack(answer);
      world.run();
      expect(peer.answers().flatMap(({ removed }) => removed)).toEqual(
        isDelta(world.variant) ? ["filter"] : [],
      );
    },
  },
]);

runCases("known failures of other servers, at a cold start", [
  {
    rules: ["S-RECON-7", "S-STREAM-9"],
    title:
      "go-control-plane #1356, kgateway #14688 #14703: a client that comes back with a version before the data is there is answered when it is",
    world: { ready: false },
    run(world) {
      const warm = createWorld({ variant: world.variant });
      warm.put(FULL, "a", "1");
      const [answer] = begin(warm, warm.connect().of(FULL), "a");
      const client = world.connect().of(FULL);
      client.subscribe("a");
      world.run();
      expect([client.rest(), answer?.names]).toEqual([[], ["a"]]);
      world.put(FULL, "a", "1");
      world.cache.commit({});
      expect(textOf(acceptAll(world, client))).toEqual(["a=1"]);
    },
  },
]);
