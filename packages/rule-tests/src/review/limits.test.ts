import { StatusCode } from "@xdstp/core";
import { expect } from "vitest";
import { acceptAll } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { adsVariants, deltaVariants } from "../harness/variant.ts";

const exhausted = (message: string): unknown => ({ code: StatusCode.RESOURCE_EXHAUSTED, message });

runCases("limits of what one stream makes the server keep", [
  {
    rules: ["S-LIM-4"],
    title:
      "ends a stream that lists more versions as held than it may, and takes as many as it may",
    variants: deltaVariants,
    world: { limits: { heldVersions: 2 } },
    run(world) {
      const [few, many] = [world.openDelta(PART), world.openDelta(PART)];
      few.client.send({ typeUrl: PART, initialResourceVersions: { a: "1", b: "1" } });
      many.client.send({ typeUrl: PART, initialResourceVersions: { a: "1", b: "1", c: "1" } });
      world.run();
      expect(few.stream.closed).toBeUndefined();
      expect(many.stream.closed).toEqual(exhausted("more than 2 initial_resource_versions"));
    },
  },
  {
    rules: ["S-LIM-4"],
    title: "ends a stream that lists a name as held which is longer than a name may be",
    variants: deltaVariants,
    world: { limits: { nameLength: 3 } },
    run(world) {
      const { client, stream } = world.openDelta("abc");
      client.send({ typeUrl: "abc", initialResourceVersions: { abcd: "1" } });
      expect(stream.closed).toEqual(
        exhausted("a name in initial_resource_versions is longer than 3 bytes"),
      );
    },
  },
  {
    rules: ["S-LIM-4"],
    title: "ends a stream that asks for a type whose URL is longer than any",
    variants: adsVariants,
    run(world) {
      const peer = world.connect();
      peer.of("t".repeat(1024)).subscribe("a");
      expect(peer.streamOf(PART).stream.closed).toBeUndefined();
      peer.of("t".repeat(1025)).subscribe("a");
      expect(peer.streamOf(PART).stream.closed).toEqual(exhausted("type_url is longer than 1024"));
    },
  },
  ...[
    { id: "x".repeat(98) },
    { id: "n", clientFeatures: Array.from({ length: 98 }, () => "") },
  ].map((node, index) => ({
    rules: ["S-LIM-4"],
    title: `ends a stream whose node has more than is kept of one, by ${index === 0 ? "a long id" : "many features"}`,
    world: { limits: { nodeLength: 100 } },
    run(world: World) {
      const [long, usual] = [world.connect({ node }), world.connect({ node: { id: "n" } })];
      for (const peer of [long, usual]) peer.of(PART).subscribe("a");
      expect(long.streamOf(PART).stream.closed).toEqual(
        exhausted("the node is longer than 100 without its extensions and metadata"),
      );
      expect(usual.streamOf(PART).stream.closed).toBeUndefined();
    },
  })),
  {
    rules: ["S-DSUB-3", "S-LIM-4"],
    title: "answers more names again than a call takes arguments, where the limit is raised so far",
    variants: ["delta/per-type"],
    world: { limits: { subscriptions: 200_000 } },
    run(world) {
      const client = world.connect().of(PART);
      const names = Array.from({ length: 150_000 }, (_, index) => `n${index}`);
      client.change({ add: names });
      acceptAll(world, client);
      client.change({ add: names });
      expect(acceptAll(world, client).flatMap(({ removed }) => removed)).toHaveLength(names.length);
    },
  },
]);
