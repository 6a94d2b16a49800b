import { expect } from "vitest";
import type { World } from "../harness/create-world.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases, type RuleCase } from "../harness/rule-case.ts";
import type { TypeClient } from "../harness/type-client.ts";
import { isDelta, sotwVariants } from "../harness/variant.ts";

/** A client that has accepted these resources. */
function settled(world: World, typeUrl: string, ...names: readonly string[]): TypeClient {
  for (const name of names) world.put(typeUrl, name, "1");
  const client = world.connect().of(typeUrl);
  client.subscribe(...names);
  world.run();
  client.ack(client.next());
  return client;
}

/** The cases that hold for every type, each with what a full-state type has to say next to. */
function casesOf(typeUrl: string): readonly RuleCase[] {
  const full = typeUrl === FULL;
  const kind = full ? "a full-state type" : "another type";
  return [
    {
      rules: ["S-SUB-1"],
      title: `answers only the newest of three requests: ${kind}`,
      variants: sotwVariants,
      run(world) {
        for (const name of ["a", "b", "c", "d"]) world.put(typeUrl, name);
        const { client } = world.openSotw(typeUrl);
        client.send({ typeUrl, resourceNames: ["a"] });
        client.send({ typeUrl, resourceNames: ["a", "d"] });
        client.send({ typeUrl, resourceNames: ["b", "c"] });
        world.run();
        const [only, ...more] = client.rest();
        expect(more).toEqual([]);
        expect(
          only?.resources.map(({ value }) => Buffer.from(value).toString("latin1", 2, 3)),
        ).toEqual(["b", "c"]);
      },
    },
    {
      rules: ["S-SUB-2"],
      title: `sends what exists at once, and the rest when it comes to exist: ${kind}`,
      variants: sotwVariants,
      run(world) {
        world.put(typeUrl, "a");
        const client = world.connect().of(typeUrl);
        client.subscribe("a", "later");
        world.run();
        const first = client.next();
        expect(first.names).toEqual(["a"]);
        client.ack(first);
        world.put(typeUrl, "later");
        world.run();
        expect(client.next().names.toSorted()).toEqual(full ? ["a", "later"] : ["later"]);
      },
    },
    {
      rules: ["S-SUB-3"],
      title: `sends a name that is new in the list again, though it was sent before and is unchanged: ${kind}`,
      variants: sotwVariants,
      run(world) {
        const client = settled(world, typeUrl, "a", "b");
        client.unsubscribe("b");
        world.run();
        expect(client.rest()).toEqual([]);
        client.subscribe("b");
        world.run();
        const again = client.next();
        expect(again.names.toSorted()).toEqual(full ? ["a", "b"] : ["b"]);
        client.ack(again);
        world.run();
        expect(client.rest()).toEqual([]);
      },
    },
    {
      rules: ["S-SUB-3", "S-SUB-5"],
      title: `sends the only name again after an empty list: ${kind}`,
      variants: sotwVariants,
      run(world) {
        const client = settled(world, typeUrl, "a");
        client.unsubscribe("a");
        world.run();
        client.subscribe("a");
        world.run();
        expect(client.next().names).toEqual(["a"]);
      },
    },
    {
      rules: ["S-SUB-4"],
      title: `takes a name that left the list out of a response that is being prepared, and nothing else: ${kind}`,
      variants: sotwVariants,
      run(world) {
        const client = settled(world, typeUrl, "a", "b");
        for (const name of ["a", "b"]) world.put(typeUrl, name, "2");
        client.unsubscribe("a");
        world.run();
        const answer = client.next();
        expect(answer.resources).toMatchObject([{ name: "b", text: "2" }]);
        client.ack(answer);
        world.put(typeUrl, "a", "3");
        world.run();
        expect(client.rest()).toEqual([]);
      },
    },
    {
      rules: ["S-SUB-4"],
      title: `takes it out of what waits for an ACK, too: ${kind}`,
      variants: sotwVariants,
      run(world) {
        const client = settled(world, typeUrl, "a", "b");
        world.put(typeUrl, "b", "2");
        world.run();
        const open = client.next();
        for (const name of ["a", "b"]) world.put(typeUrl, name, "3");
        world.run();
        expect(client.rest()).toEqual([]);
        client.ack(open, { drop: ["a"] });
        world.run();
        expect(client.next().resources).toMatchObject([{ name: "b", text: "3" }]);
      },
    },
    {
      rules: ["S-SUB-5"],
      title: `wants nothing any more with an empty list after any name: ${kind}`,
      variants: sotwVariants,
      run(world) {
        const client = settled(world, typeUrl, "a");
        client.unsubscribe("a");
        world.run();
        world.put(typeUrl, "a", "2");
        world.put(typeUrl, "b", "1");
        world.remove(typeUrl, "a");
        world.run();
        expect(client.rest()).toEqual([]);
      },
    },
    {
      rules: ["S-SUB-6"],
      title: `takes one empty string for the name of something that does not exist, not for a wildcard: ${kind}`,
      variants: sotwVariants,
      run(world) {
        world.put(typeUrl, "a");
        const { client } = world.openSotw(typeUrl);
        client.send({ typeUrl, resourceNames: [""] });
        world.run();
        const answers = client.rest();
        expect(answers.flatMap(({ resources }) => resources)).toEqual([]);
        const [empty] = answers;
        if (!full) expect(answers).toEqual([]);
        client.send({
          typeUrl,
          resourceNames: [],
          versionInfo: empty?.versionInfo ?? "",
          responseNonce: empty?.nonce ?? "",
        });
        world.put(typeUrl, "b");
        world.run();
        expect(client.rest().flatMap(({ resources }) => resources)).toEqual([]);
      },
    },
    {
      rules: ["S-SUB-7"],
      title: `counts duplicate names once, and finds nothing new in another order: ${kind}`,
      variants: sotwVariants,
      run(world) {
        for (const name of ["a", "b"]) world.put(typeUrl, name);
        const { client } = world.openSotw(typeUrl);
        client.send({ typeUrl, resourceNames: ["a", "a", "b"] });
        world.run();
        const first = client.next();
        expect(first.resources).toHaveLength(2);
        expect(world.status()[0]?.types[0]?.subscriptions).toBe(2);
        client.ack(first, { resourceNames: ["b", "a"] });
        client.ack(first, { resourceNames: ["b", "b", "a", "b"] });
        world.run();
        expect(client.rest()).toEqual([]);
      },
    },
    {
      rules: ["S-SUB-9"],
      title: `remembers a name that does not exist, and sends the resource when it appears a minute later: ${kind}`,
      variants: sotwVariants,
      run(world) {
        const client = world.connect().of(typeUrl);
        client.subscribe("a");
        world.run();
        for (const empty of client.rest()) client.ack(empty);
        world.clock.advance(60_000);
        world.run();
        expect(client.rest()).toEqual([]);
        world.put(typeUrl, "a", "1");
        world.run();
        expect(client.next().resources).toMatchObject([{ name: "a", text: "1" }]);
      },
    },
    {
      rules: ["S-SUB-11"],
      title: `needs no response to a list that only shrinks, by itself or with an ACK: ${kind}`,
      variants: sotwVariants,
      run(world) {
        const client = settled(world, typeUrl, "a", "b", "c");
        client.unsubscribe("a");
        world.run();
        expect(client.rest()).toEqual([]);
        world.put(typeUrl, "c", "2");
        world.run();
        client.ack(client.next(), { drop: ["b"] });
        world.run();
        expect(client.rest()).toEqual([]);
        world.put(typeUrl, "c", "3");
        world.run();
        expect(client.next().names).toEqual(["c"]);
      },
    },
    {
      rules: ["S-SUB-11"],
      title: `needs none when the wildcard is left for a name that it covered and none when that goes: ${kind}`,
      variants: sotwVariants,
      run(world) {
        for (const name of ["a", "b"]) world.put(typeUrl, name);
        const client = world.connect().of(typeUrl);
        client.subscribe("*", "a");
        world.run();
        client.ack(client.next());
        client.unsubscribe("*");
        world.run();
        expect(client.rest()).toEqual([]);
        world.put(typeUrl, "b", "2");
        world.run();
        expect(client.rest()).toEqual([]);
        client.unsubscribe("a");
        world.run();
        expect(client.rest()).toEqual([]);
      },
    },
    {
      rules: ["B-SUB-12"],
      title: `takes opaque names beside xdstp names, in one request and in two: ${kind}`,
      run(world) {
        const names = [
          "opaque",
          `xdstp://a/${typeUrl.slice(typeUrl.indexOf("/") + 1)}/x`,
          "opaque/2",
        ];
        for (const name of names) world.put(typeUrl, name, "1");
        const client = world.connect().of(typeUrl);
        const [one = "", other = "", third = ""] = names;
        client.subscribe(one, other);
        world.run();
        const first = client.next();
        expect(first.names.toSorted()).toEqual([one, other].toSorted());
        client.ack(first);
        client.subscribe(third);
        world.run();
        const second = client.next();
        expect(second.names.toSorted()).toEqual(
          full && !isDelta(world.variant) ? names.toSorted() : [third],
        );
        client.ack(second);
        for (const name of names) world.put(typeUrl, name, "2");
        world.run();
        expect(client.next().names.toSorted()).toEqual(names.toSorted());
      },
    },
  ];
}

runCases("subscribing in SotW", [
  ...casesOf(FULL),
  ...casesOf(PART),
  {
    rules: ["S-SUB-1"],
    title:
      "acts upon the newest list also where an older one had names that exist and the newest has none",
    variants: sotwVariants,
    run(world) {
      world.put(PART, "a");
      const { client } = world.openSotw(PART);
      client.send({ typeUrl: PART, resourceNames: ["a"] });
      client.send({ typeUrl: PART, resourceNames: [] });
      world.run();
      expect(client.rest()).toEqual([]);
    },
  },
]);
