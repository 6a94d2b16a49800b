import { expect } from "vitest";
import { acceptAll } from "../harness/accept-all.ts";
import { addHeldFeed, type HeldFeed } from "../harness/held-feed.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import type { TypeClient } from "../harness/type-client.ts";
import type { World } from "../harness/create-world.ts";
import { deltaVariants, sotwVariants, type Variant } from "../harness/variant.ts";

const CAP_MS = 10_000;
const glob = "xdstp://a/test.Full/ns/*";
/** With context parameters, so that `*` does not have it (S-WILD-8). */
const located = "xdstp://a/test.Part/x?k=v";
const member = (id: string): string => `xdstp://a/test.Full/ns/${id}`;

interface Scene {
  readonly world: World;
  readonly feed: HeldFeed;
  readonly client: TypeClient;
}

/** A case in which nothing is known until the feed says it. */
function unsettled(
  rules: readonly string[],
  title: string,
  variants: readonly Variant[],
  typeUrl: string,
  run: (scene: Scene) => void,
): Parameters<typeof runCases>[1][number] {
  return {
    rules,
    title,
    variants,
    world: { ready: false },
    run(world) {
      run({ world, feed: addHeldFeed(world.cache), client: world.connect().of(typeUrl) });
    },
  };
}

/** The names of each response that has come, sorted, removals behind a minus. */
function told({ world, client }: Scene): readonly (readonly string[])[] {
  return acceptAll(world, client).map(({ names, removed }) =>
    [...names, ...removed.map((name) => `-${name}`)].sort(),
  );
}

runCases("when a response goes out in delta", [
  unsettled(
    ["S-RECON-6", "S-MISS-1"],
    "answers each name when it is known, and sends nothing empty while some are not",
    deltaVariants,
    PART,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("a", "b", "c");
      expect(told(scene)).toEqual([]);
      feed.put(PART, "b");
      expect(told(scene)).toEqual([["b"]]);
      feed.miss(PART, "c");
      expect(told(scene)).toEqual([["-c"]]);
      feed.put(PART, "b", "new");
      expect(told(scene)).toEqual([["b"]]);
      feed.put(PART, "a");
      expect(told(scene)).toEqual([["a"]]);
    },
  ),
  unsettled(
    ["S-RECON-6"],
    "sends the one response that is due when the last pending name is unsubscribed",
    deltaVariants,
    PART,
    (scene) => {
      const { client } = scene;
      client.subscribe("a");
      expect(told(scene)).toEqual([]);
      client.unsubscribe("a");
      expect(told(scene)).toEqual([[]]);
    },
  ),
  unsettled(
    ["S-GLOB-3"],
    "answers a glob when it is known, not by its first member, and never as empty before",
    deltaVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe(glob);
      expect(told(scene)).toEqual([]);
      feed.put(FULL, member("1"));
      expect(told(scene)).toEqual([]);
      feed.settle(FULL, glob);
      expect(told(scene)).toEqual([[member("1")]]);
      feed.put(FULL, member("2"));
      expect(told(scene)).toEqual([[member("2")]]);
    },
  ),
  unsettled(
    ["S-GLOB-3"],
    "names a glob that turns out to be empty",
    deltaVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe(glob);
      feed.settle(FULL, glob);
      expect(told(scene)).toEqual([[`-${glob}`]]);
    },
  ),
  unsettled(
    ["S-WILD-7"],
    "answers * when it is known, though it is empty",
    deltaVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe();
      expect(told(scene)).toEqual([]);
      feed.settle(FULL, "*");
      expect(told(scene)).toEqual([[]]);
    },
  ),
  unsettled(
    ["S-WILD-7"],
    "answers * without members in a response of its own, before names that were requested with it",
    deltaVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("a");
      client.subscribe("*");
      feed.miss(FULL, "a");
      feed.settle(FULL, "*");
      expect(told(scene)).toEqual([[], ["-a"]]);
      feed.put(FULL, "b");
      expect(told(scene)).toEqual([["b"]]);
    },
  ),
  unsettled(
    ["S-WILD-7", "S-RECON-6"],
    "answers * without members when it is known, though a name that was requested before it is pending",
    deltaVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("a");
      client.subscribe("*");
      feed.settle(FULL, "*");
      expect(told(scene)).toEqual([[]]);
      feed.miss(FULL, "a");
      expect(told(scene)).toEqual([["-a"]]);
    },
  ),
  unsettled(
    ["S-WILD-7", "S-RECON-6"],
    "answers * without members when it is known, though a name of the same request is pending",
    deltaVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("*", "a");
      feed.settle(FULL, "*");
      expect(told(scene)).toEqual([[]]);
      feed.put(FULL, "a");
      expect(told(scene)).toEqual([["a"]]);
    },
  ),
  unsettled(
    ["S-WILD-7"],
    "answers * without members in a response of its own while one of two names is pending",
    deltaVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("a", "b");
      client.subscribe("*");
      feed.miss(FULL, "a");
      feed.settle(FULL, "*");
      expect(told(scene)).toEqual([[], ["-a"]]);
      feed.miss(FULL, "b");
      expect(told(scene)).toEqual([["-b"]]);
    },
  ),
  unsettled(
    ["S-DSUB-3"],
    "answers a name that is asked for twice before it is known once",
    deltaVariants,
    PART,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("a");
      client.subscribe("a");
      feed.put(PART, "a");
      expect(told(scene)).toEqual([["a"]]);
    },
  ),
]);

runCases("when a response goes out in SotW", [
  unsettled(
    ["S-FULL-1", "S-STREAM-9"],
    "waits for all names of a full state",
    sotwVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("a", "b");
      feed.put(FULL, "a");
      expect(told(scene)).toEqual([]);
      feed.miss(FULL, "b");
      expect(told(scene)).toEqual([["a"]]);
    },
  ),
  unsettled(
    ["S-STREAM-9"],
    "sends a client that holds nothing what is known after 10 s, if that is not nothing, and the rest with it once it is",
    sotwVariants,
    FULL,
    (scene) => {
      const { world, feed, client } = scene;
      client.subscribe("a", "b");
      feed.put(FULL, "a");
      world.clock.advance(CAP_MS - 1);
      expect(told(scene)).toEqual([]);
      world.clock.advance(1);
      expect(told(scene)).toEqual([["a"]]);
      feed.put(FULL, "b");
      expect(told(scene)).toEqual([["a", "b"]]);
    },
  ),
  unsettled(
    ["S-STREAM-9", "S-FULL-1"],
    "leaves nothing pending out of what follows an answer after 10 s",
    sotwVariants,
    FULL,
    (scene) => {
      const { world, feed, client } = scene;
      client.subscribe("a", "b");
      feed.put(FULL, "a");
      world.clock.advance(CAP_MS);
      expect(told(scene)).toEqual([["a"]]);
      client.subscribe("c");
      feed.put(FULL, "c");
      world.clock.advance(CAP_MS);
      expect(told(scene)).toEqual([]);
      feed.miss(FULL, "b");
      expect(told(scene)).toEqual([["a", "c"]]);
    },
  ),
  unsettled(
    ["S-STREAM-9"],
    "goes on waiting after 10 s for the first that exists",
    sotwVariants,
    FULL,
    (scene) => {
      const { world, feed, client } = scene;
      client.subscribe("a", "b", "c");
      feed.miss(FULL, "c");
      world.clock.advance(CAP_MS);
      expect(told(scene)).toEqual([]);
      world.clock.advance(CAP_MS);
      feed.put(FULL, "b");
      expect(told(scene)).toEqual([["b"]]);
    },
  ),
  unsettled(
    ["S-STREAM-9"],
    "sends an empty full state only once it is known to be empty",
    sotwVariants,
    FULL,
    (scene) => {
      const { world, feed, client } = scene;
      client.subscribe();
      world.clock.advance(CAP_MS);
      expect(told(scene)).toEqual([]);
      feed.settle(FULL, "*");
      expect(told(scene)).toEqual([[]]);
    },
  ),
  unsettled(
    ["S-FULL-1"],
    "never leaves out a name that is merely pending in a later response",
    sotwVariants,
    FULL,
    (scene) => {
      const { world, feed, client } = scene;
      client.subscribe("a");
      feed.put(FULL, "a");
      expect(told(scene)).toEqual([["a"]]);
      client.subscribe("b");
      feed.put(FULL, "a", "new");
      world.clock.advance(CAP_MS);
      expect(told(scene)).toEqual([]);
      feed.put(FULL, "b");
      expect(told(scene)).toEqual([["a", "b"]]);
    },
  ),
  unsettled(
    ["S-SUB-4"],
    "stops waiting for a name that leaves the list",
    sotwVariants,
    FULL,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("a", "b");
      feed.put(FULL, "a");
      expect(told(scene)).toEqual([]);
      client.unsubscribe("b");
      expect(told(scene)).toEqual([["a"]]);
    },
  ),
  {
    rules: ["S-STREAM-9"],
    title: "lets a client that came with a version wait without a cap",
    variants: sotwVariants,
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const { client } = world.openSotw(FULL);
      client.send({ typeUrl: FULL, resourceNames: ["a", "b"], versionInfo: "1" });
      feed.put(FULL, "a");
      world.clock.advance(100 * CAP_MS);
      world.run();
      expect(client.rest()).toEqual([]);
      feed.put(FULL, "b");
      world.run();
      expect(client.next().resources).toHaveLength(2);
    },
  },
  unsettled(
    ["S-FULL-7", "S-FULL-5"],
    "sends each name of another type when it is known",
    sotwVariants,
    PART,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe("a", "b", "c");
      expect(told(scene)).toEqual([]);
      feed.put(PART, "b");
      expect(told(scene)).toEqual([["b"]]);
      feed.miss(PART, "c");
      expect(told(scene)).toEqual([]);
      feed.put(PART, "a");
      expect(told(scene)).toEqual([["a"]]);
    },
  ),
  unsettled(
    ["S-WILD-7"],
    "answers * of another type when it is known, though it is empty, once",
    sotwVariants,
    PART,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe();
      expect(told(scene)).toEqual([]);
      feed.settle(PART, "*");
      expect(told(scene)).toEqual([[]]);
    },
  ),
  unsettled(
    ["S-WILD-7"],
    "answers * of another type without members when it is known, though a name is pending",
    sotwVariants,
    PART,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe(located);
      client.subscribe("*");
      feed.settle(PART, "*");
      expect(told(scene)).toEqual([[]]);
      feed.put(PART, located);
      expect(told(scene)).toEqual([[located]]);
    },
  ),
  unsettled(
    ["S-WILD-7"],
    "answers * of another type without members in a response of its own, before names that were requested with it",
    sotwVariants,
    PART,
    (scene) => {
      const { feed, client } = scene;
      client.subscribe(located);
      client.subscribe("*");
      feed.put(PART, located);
      feed.settle(PART, "*");
      expect(told(scene)).toEqual([[], [located]]);
    },
  ),
]);
