import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import type { TypeClient } from "../harness/type-client.ts";
import { deltaVariants as variants } from "../harness/variant.ts";

const glob = "xdstp://a/test.Part/ns/*";
const member = (id: string): string => `xdstp://a/test.Part/ns/${id}`;

/** Changes a resource, and expects that the client is sent the change, or is not. */
function expectUpdates(world: World, client: TypeClient, name: string, told: boolean): void {
  world.put(PART, name, `change ${world.cache.revision}`);
  expect(
    acceptAll(world, client).map(({ names }) => names),
    name,
  ).toEqual(told ? [[name]] : []);
}

runCases("subscribing in delta", [
  {
    rules: ["S-DSUB-1"],
    title: "adds names in the first request, an unasked one, an ACK and a NACK",
    variants,
    run(world) {
      for (const name of ["a", "b", "c", "d"]) world.put(PART, name);
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      const first = client.next();
      client.ack(first, { add: ["b"] });
      world.run();
      const inAck = client.next();
      client.ack(inAck);
      client.subscribe("c");
      world.run();
      const unasked = client.next();
      client.nack(unasked, "no c", { add: ["d"] });
      world.run();
      const inNack = client.next();
      expect([first, inAck, unasked, inNack].map(({ names }) => names)).toEqual([
        ["a"],
        ["b"],
        ["c"],
        ["d"],
      ]);
      client.ack(inNack);
      for (const name of ["c", "a", "b", "d"]) expectUpdates(world, client, name, true);
    },
  },
  {
    rules: ["S-DSUB-1"],
    title: "drops names in an unasked request, an ACK and a NACK",
    variants,
    run(world) {
      for (const name of ["a", "b", "c", "d"]) world.put(PART, name);
      const client = world.connect().of(PART);
      begin(world, client, "a", "b", "c", "d");
      client.unsubscribe("a");
      world.put(PART, "d", "new");
      world.run();
      client.ack(client.next(), { drop: ["b"] });
      world.put(PART, "d", "newer");
      world.run();
      client.nack(client.next(), "no d", { drop: ["c"] });
      for (const name of ["a", "b", "c"]) expectUpdates(world, client, name, false);
      expectUpdates(world, client, "d", true);
    },
  },
  {
    rules: ["S-DSUB-1"],
    title: "leaves a name that stands in both lists unsubscribed",
    variants,
    run(world) {
      world.put(PART, "a");
      world.put(PART, "b");
      const client = world.connect().of(PART);
      begin(world, client, "b");
      client.change({ add: ["a"], drop: ["a"] });
      expect(acceptAll(world, client)).toEqual([]);
      expectUpdates(world, client, "a", false);
      expectUpdates(world, client, "b", true);
    },
  },
  {
    rules: ["S-DSUB-1", "S-RECON-6"],
    title:
      "answers a first request with * in both lists by one empty response, and subscribes to nothing",
    variants,
    run(world) {
      world.put(PART, "a");
      const client = world.connect().of(PART);
      client.change({ add: ["*"], drop: ["*"] });
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [] }]);
      expectUpdates(world, client, "a", false);
    },
  },
  {
    rules: ["S-DSUB-2"],
    title: "keeps the set upon an ACK and an unasked request without names",
    variants,
    run(world) {
      world.put(PART, "a");
      const client = world.connect().of(PART);
      begin(world, client, "a");
      client.change({});
      expect(acceptAll(world, client)).toEqual([]);
      expectUpdates(world, client, "a", true);
      world.put(PART, "b");
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  {
    rules: ["S-DSUB-3"],
    title: "answers a name that is subscribed twice twice, with the same version",
    variants,
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      const [first] = begin(world, client, "a");
      const [again, ...more] = begin(world, client, "a");
      expect(more).toEqual([]);
      expect(again?.resources).toEqual(first?.resources);
      expect(again?.nonce).not.toBe(first?.nonce);
    },
  },
  {
    rules: ["S-DSUB-3"],
    title: "answers a name that is subscribed again with a response in flight, after the ACK",
    variants,
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      const first = client.next();
      client.subscribe("a");
      world.run();
      expect(client.rest()).toEqual([]);
      client.ack(first);
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([["a"]]);
    },
  },
  ...[glob, "*"].map((collection) => ({
    rules: ["S-DSUB-3"],
    title: `sends all members again when ${collection} is subscribed again`,
    variants,
    run(world: World) {
      for (const id of ["1", "2", "3"]) world.put(PART, member(id));
      const client = world.connect().of(PART);
      begin(world, client, collection);
      const [again, ...more] = begin(world, client, collection);
      expect(again?.names).toEqual(["1", "2", "3"].map(member));
      expect(more).toEqual([]);
    },
  })),
  {
    rules: ["S-DSUB-3"],
    title: "counts a name that is subscribed again only once against the limit",
    variants,
    world: { limits: { subscriptions: 2 } },
    run(world) {
      world.put(PART, "a");
      world.put(PART, "b");
      const client = world.connect().of(PART);
      begin(world, client, "a", "b");
      expect(begin(world, client, "a").map(({ names }) => names)).toEqual([["a"]]);
    },
  },
  {
    rules: ["S-LIM-4", "S-STREAM-10"],
    title:
      "ends a stream that subscribes to one name too many, and watches nothing for it any more",
    variants,
    world: { limits: { subscriptions: 2, nameLength: 20 } },
    run(world) {
      for (const names of [
        ["a", "b", "c", "d", "e"],
        ["x".repeat(21), "b"],
      ]) {
        const peer = world.connect();
        peer.of(PART).subscribe(...names);
        world.run();
        expect(peer.streamOf(PART).stream.closed).toMatchObject({ code: 8 });
        expect(world.cache.counters.topics).toBe(0);
      }
      const fits = world.connect();
      expect(begin(world, fits.of(PART), "x".repeat(20), "b")).toMatchObject([
        { removed: ["x".repeat(20), "b"] },
      ]);
      expect(fits.streamOf(PART).stream.closed).toBeUndefined();
    },
  },
  {
    rules: ["S-LIM-4"],
    title:
      "ends a stream whose lists are longer than it can have subscriptions, whatever is in them",
    variants,
    world: { limits: { subscriptions: 2 } },
    run(world) {
      const [full, dropping, repeating] = [world.connect(), world.connect(), world.connect()];
      for (const peer of [full, dropping]) begin(world, peer.of(PART), "a", "b");
      full.of(PART).unsubscribe("b", "b");
      dropping.of(PART).unsubscribe("c", "d", "e");
      repeating.of(PART).subscribe("a", "a", "a");
      world.run();
      expect(full.streamOf(PART).stream.closed).toBeUndefined();
      expect(dropping.streamOf(PART).stream.closed).toEqual({
        code: 8,
        message: "more than 2 names to unsubscribe in one request",
      });
      expect(repeating.streamOf(PART).stream.closed).toEqual({
        code: 8,
        message: "more than 2 subscriptions of one type",
      });
    },
  },
  {
    rules: ["S-DSUB-5"],
    title: "ignores that a name is unsubscribed that was never subscribed",
    variants,
    run(world) {
      world.put(PART, "a");
      world.put(PART, "b");
      const client = world.connect().of(PART);
      begin(world, client, "a");
      client.unsubscribe("b", glob, "*");
      expect(acceptAll(world, client)).toEqual([]);
      expectUpdates(world, client, "a", true);
    },
  },
  {
    rules: ["S-DSUB-5"],
    title: "says nothing to an unsubscribe, and sends the whole resource when the name comes back",
    variants,
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      const [first] = begin(world, client, "a");
      client.unsubscribe("a");
      expect(acceptAll(world, client)).toEqual([]);
      expect(begin(world, client, "a")).toMatchObject([
        { resources: first?.resources, removed: [] },
      ]);
    },
  },
  {
    rules: ["S-DSUB-5"],
    title: "finds the name to unsubscribe in any spelling",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const client = world.connect().of(PART);
      begin(world, client, member("%31"));
      client.unsubscribe(`${member("1")}?`);
      expect(acceptAll(world, client)).toEqual([]);
      expectUpdates(world, client, member("1"), false);
    },
  },
  ...[glob, "*"].flatMap((cover) => [
    {
      rules: ["S-DSUB-6"],
      title: `sends a resource whose name is unsubscribed while ${cover} covers it`,
      variants,
      run(world: World) {
        world.put(PART, member("1"), "1");
        const client = world.connect().of(PART);
        begin(world, client, cover, member("1"));
        client.unsubscribe(member("1"));
        expect(acceptAll(world, client)).toMatchObject([{ names: [member("1")], removed: [] }]);
        expectUpdates(world, client, member("1"), true);
      },
    },
    {
      rules: ["S-DSUB-6"],
      title: `names as removed what is unsubscribed while ${cover} would cover it and it does not exist`,
      variants,
      run(world: World) {
        world.put(PART, member("2"));
        const client = world.connect().of(PART);
        begin(world, client, cover, member("1"));
        client.unsubscribe(member("1"));
        expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [member("1")] }]);
      },
    },
  ]),
  {
    rules: ["S-DSUB-6"],
    title: "names as removed what is unsubscribed while * is held that does not cover it",
    variants,
    run(world) {
      const name = `${member("1")}?k=v`;
      world.put(PART, name);
      const client = world.connect().of(PART);
      begin(world, client, "*", name);
      client.unsubscribe(name);
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [name] }]);
    },
  },
  {
    rules: ["S-DSUB-6"],
    title: "says nothing of a name that is unsubscribed under a glob of another parent",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const client = world.connect().of(PART);
      begin(world, client, "xdstp://a/test.Part/other/*", member("1"));
      client.unsubscribe(member("1"));
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  {
    rules: ["S-DSUB-7"],
    title: "updates whatever a name, a glob or * covers, each under its own name",
    variants,
    run(world) {
      const named = `${member("n")}?k=v`;
      for (const name of ["opaque", named, member("1")]) world.put(PART, name);
      const client = world.connect().of(PART);
      begin(world, client, "*", glob, named);
      for (const name of ["opaque", named, member("1")]) expectUpdates(world, client, name, true);
      expectUpdates(world, client, `${member("other")}?k=v`, false);
    },
  },
  {
    rules: ["S-DSUB-9"],
    title: "sends the one of a hundred resources that changed",
    variants,
    run(world) {
      const names = Array.from({ length: 100 }, (_, n) => `r${n}`);
      for (const name of names) world.put(PART, name);
      const client = world.connect().of(PART);
      const first = begin(world, client, ...names);
      expect(first.flatMap((answer) => answer.names).sort()).toEqual([...names].sort());
      world.put(PART, "r42", "new");
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "r42", text: "new" }], removed: [] },
      ]);
    },
  },
  {
    rules: ["S-DSUB-10"],
    title: "merges what happens to a name while a response is unanswered",
    variants,
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      const first = client.next();
      world.put(PART, "a", "2");
      world.put(PART, "a", "3");
      world.remove(PART, "a");
      world.put(PART, "a", "1");
      world.run();
      expect(client.rest()).toEqual([]);
      client.ack(first);
      const more = acceptAll(world, client);
      expect(more.length).toBeLessThanOrEqual(1);
      for (const answer of more)
        expect(answer).toMatchObject({ resources: first.resources, removed: [] });
    },
  },
  {
    rules: ["S-DSUB-10"],
    title: "says only the removal of a name that changed and went",
    variants,
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      client.subscribe("*");
      world.run();
      const first = client.next();
      world.put(PART, "a", "2");
      world.put(PART, "b");
      world.remove(PART, "a");
      client.ack(first);
      expect(acceptAll(world, client)).toMatchObject([{ names: ["b"], removed: ["a"] }]);
    },
  },
  ...["*", glob].map((cover) => ({
    rules: ["S-DSUB-12"],
    title: `owes a removal for a name that was unsubscribed in flight and came under ${cover} before the ACK`,
    variants,
    run(world: World) {
      world.put(PART, member("1"));
      const client = world.connect().of(PART);
      client.subscribe(member("1"));
      world.run();
      const first = client.next();
      client.unsubscribe(member("1"));
      world.remove(PART, member("1"));
      client.subscribe(cover);
      client.ack(first);
      expect(acceptAll(world, client).flatMap(({ removed }) => removed)).toContain(member("1"));
    },
  })),
  {
    rules: ["S-DSUB-12"],
    title: "owes the removal of a member too, of a glob that was unsubscribed in flight",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const client = world.connect().of(PART);
      client.subscribe(glob);
      world.run();
      const first = client.next();
      client.unsubscribe(glob);
      world.remove(PART, member("1"));
      client.subscribe("*");
      client.ack(first);
      expect(acceptAll(world, client).flatMap(({ removed }) => removed)).toContain(member("1"));
    },
  },
]);
