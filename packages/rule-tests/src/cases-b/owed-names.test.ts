import { XdsError } from "@xdstp/core";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { Answer } from "../harness/answer.ts";
import type { World } from "../harness/create-world.ts";
import { PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import type { TypeClient } from "../harness/type-client.ts";
import { deltaVariants as variants } from "../harness/variant.ts";

const glob = "xdstp://a/test.Part/ns/*";
const member = (id: string): string => `xdstp://a/test.Part/ns/${id}`;
const REFERRER = "type.googleapis.com/test.Referrer";
/** Removals of parts wait for what refers to them. */
const related = { types: [{ typeUrl: PART, refersTo: [REFERRER] }, { typeUrl: REFERRER }] };

/** A client with these subscriptions, up to date but for one response that it has not answered. */
function inFlight(
  world: World,
  ...names: readonly string[]
): { readonly client: TypeClient; readonly open: Answer } {
  const client = world.connect().of(PART);
  begin(world, client, "other", ...names);
  world.put(PART, "other", "in flight");
  world.run();
  return { client, open: client.next() };
}

/** Returns the names that are removed at the client, and those that it is sent. */
function told(
  world: World,
  client: TypeClient,
  open: Answer,
): { readonly names: readonly string[]; readonly removed: readonly string[] } {
  client.ack(open);
  const answers = acceptAll(world, client);
  return {
    names: answers.flatMap(({ names }) => names).sort(),
    removed: answers.flatMap(({ removed }) => removed).sort(),
  };
}

runCases("names owed after a change of subscription", [
  ...["*", glob].map((cover) => ({
    rules: ["S-DSUB-6"],
    title: `tells the removal of a name that was unsubscribed before it was told, where ${cover} covers it`,
    variants,
    run(world: World) {
      world.put(PART, member("1"));
      const { client, open } = inFlight(world, member("1"), cover);
      world.remove(PART, member("1"));
      client.unsubscribe(member("1"));
      expect(told(world, client, open).removed).toContain(member("1"));
    },
  })),
  {
    rules: ["S-GLOB-6", "S-REM-1"],
    title:
      "tells the removal of a member whose glob was unsubscribed before it was told, where * covers it",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const { client, open } = inFlight(world, glob, "*");
      world.remove(PART, member("1"));
      client.unsubscribe(glob);
      expect(told(world, client, open)).toEqual({ names: [], removed: [member("1")] });
    },
  },
  {
    rules: ["S-WILD-4", "S-REM-1"],
    title:
      "tells the change and the removal of members whose * was unsubscribed before they were told, where a glob covers them",
    variants,
    run(world) {
      world.put(PART, member("1"));
      world.put(PART, member("2"));
      world.put(PART, "opaque");
      const { client, open } = inFlight(world, "*", glob);
      world.remove(PART, member("1"));
      world.put(PART, member("2"), "new");
      world.remove(PART, "opaque");
      client.unsubscribe("*");
      expect(told(world, client, open)).toEqual({ names: [member("2")], removed: [member("1")] });
    },
  },
  ...["*", glob].map((collection) => ({
    rules: ["S-DSUB-3", "S-REM-1"],
    title: `sends the members and the removals not told yet when ${collection} is subscribed again`,
    variants,
    run(world: World) {
      world.put(PART, member("1"));
      world.put(PART, member("2"));
      const { client, open } = inFlight(world, collection);
      world.remove(PART, member("1"));
      client.subscribe(collection);
      world.remove(PART, member("2"));
      world.put(PART, member("3"));
      const { names, removed } = told(world, client, open);
      expect(names).toContain(member("3"));
      expect(removed).toEqual(expect.arrayContaining([member("1"), member("2")]));
    },
  })),
  {
    rules: ["S-GLOB-6", "S-REM-1"],
    title: "tells a removal that comes while * gives way to a glob",
    variants,
    run(world) {
      world.put(PART, member("1"));
      world.put(PART, member("2"));
      const { client, open } = inFlight(world, "*");
      client.change({ add: [glob], drop: ["*"] });
      world.remove(PART, member("1"));
      expect(told(world, client, open)).toEqual({ names: [member("2")], removed: [member("1")] });
    },
  },
  {
    rules: ["S-ACK-8", "S-DSUB-3"],
    title:
      "sends what was rejected again when it had changed before a glob was asked for again and rejected",
    variants,
    run(world) {
      for (const name of [member("1"), member("2"), "other"]) world.put(PART, name);
      const client = world.connect().of(PART);
      client.subscribe(glob, "other");
      world.run();
      const open = client.next();
      world.remove(PART, member("1"));
      client.subscribe(glob);
      client.nack(open, "member 1 is bad");
      expect(acceptAll(world, client).flatMap(({ names }) => names)).toEqual(
        expect.arrayContaining([member("2"), "other"]),
      );
    },
  },
  {
    rules: ["S-ACK-8"],
    title:
      "sends the rest of what was rejected when a name of it is unsubscribed, also where the response after it is rejected",
    variants,
    run(world) {
      for (const name of ["bad", "good", "later"]) world.put(PART, name);
      const client = world.connect().of(PART);
      client.subscribe("bad", "good");
      world.run();
      client.nack(client.next(), "bad is bad");
      client.subscribe("later");
      world.run();
      const open = client.next();
      expect(open.names).toEqual(["later"]);
      client.unsubscribe("bad");
      client.nack(open, "later is bad too");
      expect(acceptAll(world, client).flatMap(({ names }) => names)).toContain("good");
    },
  },
  {
    rules: ["S-SUB-4"],
    title: "takes a name that is unsubscribed out of what is being prepared, it alone",
    variants,
    run(world) {
      world.put(PART, "a");
      world.put(PART, "b");
      const { client, open } = inFlight(world, "a", "b");
      world.put(PART, "a", "new");
      world.put(PART, "b", "new");
      client.unsubscribe("a");
      expect(told(world, client, open)).toEqual({ names: ["b"], removed: [] });
    },
  },
  {
    rules: ["S-SUB-4"],
    title: "takes a name out of its pending first answer too",
    variants,
    run(world) {
      world.put(PART, "a");
      world.put(PART, "b");
      const { client, open } = inFlight(world);
      client.subscribe("a", "b", "missing");
      client.unsubscribe("a", "missing");
      expect(told(world, client, open)).toEqual({ names: ["b"], removed: [] });
    },
  },
  {
    rules: ["S-GLOB-3"],
    title: "forgets that a glob was empty when a member comes before it was said",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const { client, open } = inFlight(world, glob);
      world.remove(PART, member("1"));
      world.put(PART, member("2"));
      expect(told(world, client, open)).toEqual({ names: [member("2")], removed: [member("1")] });
    },
  },
  {
    rules: ["S-GLOB-3", "S-ORD-1"],
    title: "forgets that a glob was empty too where the removal waits for what refers to it",
    variants: ["delta/ads"],
    world: related,
    run(world) {
      world.put(PART, member("1"));
      const { client, referrer, open } = waiting(world, glob);
      world.remove(PART, member("1"));
      expect(acceptAll(world, client)).toEqual([]);
      world.put(PART, member("2"));
      expect(acceptAll(world, client)).toMatchObject([{ names: [member("2")], removed: [] }]);
      referrer.ack(open);
      acceptAll(world, referrer);
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [member("1")] }]);
    },
  },
  {
    rules: ["S-GLOB-3", "S-ORD-1"],
    title: "names a glob that is empty when it is asked for at once, though removals have to wait",
    variants: ["delta/ads"],
    world: related,
    run(world) {
      const { client } = waiting(world, "other");
      expect(begin(world, client, glob)).toMatchObject([{ names: [], removed: [glob] }]);
    },
  },
  {
    rules: ["S-DSUB-3", "S-ORD-1"],
    title:
      "lets a removal wait also where its glob is asked for again, and sends the other members",
    variants: ["delta/ads"],
    world: related,
    run(world) {
      for (const id of ["1", "2"]) world.put(PART, member(id));
      const { client, referrer, open } = waiting(world, glob);
      world.remove(PART, member("1"));
      expect(begin(world, client, glob)).toMatchObject([{ names: [member("2")], removed: [] }]);
      referrer.ack(open);
      acceptAll(world, referrer);
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [member("1")] }]);
    },
  },
  {
    rules: ["S-GLOB-3", "S-ACK-8"],
    title: "does not take a glob for empty again that was rejected as empty and has a member now",
    variants,
    run(world) {
      world.put(PART, "other");
      const client = world.connect().of(PART);
      client.subscribe(glob, "other");
      world.run();
      const open = client.next();
      expect(open).toMatchObject({ names: ["other"], removed: [glob] });
      world.put(PART, member("1"));
      client.unsubscribe("other");
      client.nack(open, "no");
      expect(acceptAll(world, client)).toMatchObject([{ names: [member("1")], removed: [] }]);
    },
  },
  {
    rules: ["S-REM-1", "S-ORD-1"],
    title: "tells a removal once that waited and was said again with another reason",
    variants: ["delta/ads"],
    world: related,
    run(world) {
      world.put(PART, "a");
      const { client, referrer, open } = waiting(world, "a");
      world.remove(PART, "a");
      world.run();
      world.cache.commit({
        remove: [{ typeUrl: PART, name: "a", error: new XdsError("NOT_FOUND", "gone for good") }],
      });
      world.run();
      expect(client.rest()).toEqual([]);
      referrer.ack(open);
      acceptAll(world, referrer);
      expect(acceptAll(world, client).flatMap(({ removed }) => removed)).toEqual(["a"]);
    },
  },
  {
    rules: ["S-REM-1", "S-ORD-1"],
    title: "drops a removal that waited when the resource is there again",
    variants: ["delta/ads"],
    world: related,
    run(world) {
      world.put(PART, "a", "1");
      const { client, referrer, open } = waiting(world, "a");
      world.remove(PART, "a");
      world.run();
      world.put(PART, "a", "2");
      expect(acceptAll(world, client)).toMatchObject([{ names: ["a"], removed: [] }]);
      referrer.ack(open);
      acceptAll(world, referrer);
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  {
    rules: ["S-DSUB-5", "S-ORD-1"],
    title: "drops a removal that waited when its name is unsubscribed",
    variants: ["delta/ads"],
    world: related,
    run(world) {
      world.put(PART, "a");
      const { client, referrer, open } = waiting(world, "a");
      world.remove(PART, "a");
      world.run();
      client.unsubscribe("a");
      referrer.ack(open);
      acceptAll(world, referrer);
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
]);

/** A client with these parts, up to date, while something that refers to parts is unsent behind an unanswered response. */
function waiting(
  world: World,
  ...names: readonly string[]
): { readonly client: TypeClient; readonly referrer: TypeClient; readonly open: Answer } {
  const peer = world.connect();
  const client = peer.of(PART);
  const referrer = peer.of(REFERRER);
  begin(world, client, ...names);
  world.put(REFERRER, "r", "1");
  referrer.subscribe("r");
  world.run();
  const open = referrer.next();
  world.put(REFERRER, "r", "2");
  world.run();
  return { client, referrer, open };
}
