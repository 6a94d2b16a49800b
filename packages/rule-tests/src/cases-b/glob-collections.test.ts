import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import { countReads } from "../harness/count-reads.ts";
import type { World } from "../harness/create-world.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants as variants, sotwVariants } from "../harness/variant.ts";

const glob = "xdstp://a/test.Part/ns/*";
const member = (id: string): string => `xdstp://a/test.Part/ns/${id}`;
const fullGlob = "xdstp://a/test.Full/ns/*";
const fullMember = (id: string): string => `xdstp://a/test.Full/ns/${id}`;

interface GlobVector {
  readonly id: string;
  readonly glob: string;
  readonly name: string;
  readonly matches: boolean;
}

const vectors = JSON.parse(
  readFileSync(new URL("../../../../docs/vectors/glob-match.json", import.meta.url), "utf8"),
) as readonly GlobVector[];
/** The type in a name of a vector, as a type URL; where there is none, any will do. */
const typeOf = (name: string): string =>
  `type.googleapis.com/${/^xdstp:\/\/[^/]*\/([^/?#]+)/.exec(name)?.[1] ?? "test.Part"}`;

runCases("glob collections", [
  {
    rules: ["S-GLOB-1"],
    title: "sends the members of two globs and a name beside them, each as a resource of its own",
    variants,
    run(world) {
      const other = "xdstp://a/test.Part/other/*";
      const all = [member("1"), member("2"), "xdstp://a/test.Part/other/1", "named"];
      for (const name of [...all, "xdstp://a/test.Part/third/1", "unnamed", member("deep/1")])
        world.put(PART, name, name);
      const client = world.connect().of(PART);
      const answers = begin(world, client, glob, other, "named");
      expect(
        answers.flatMap(({ resources }) => resources.map(({ name, text }) => [name, text])).sort(),
      ).toEqual(all.map((name) => [name, name]).sort());
      expect(answers.flatMap(({ removed }) => removed)).toEqual([]);
    },
  },
  {
    rules: ["S-GLOB-1"],
    title: "sends members that come later",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const client = world.connect().of(PART);
      begin(world, client, glob);
      world.put(PART, member("2"));
      expect(acceptAll(world, client)).toMatchObject([{ names: [member("2")], removed: [] }]);
      world.put(PART, "xdstp://a/test.Part/other/1");
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  {
    rules: ["S-GLOB-2"],
    title: "puts one resource on the wire when one joins ten thousand",
    variants: ["delta/ads"],
    run(world) {
      world.cache.transaction((writer) => {
        for (let n = 0; n < 10_000; n++)
          writer.put({ typeUrl: PART, name: member(`${n}`), value: new Uint8Array([10, 1, 97]) });
      });
      const client = world.connect().of(PART);
      expect(begin(world, client, glob).flatMap(({ names }) => names)).toHaveLength(10_000);
      world.put(PART, member("new"));
      expect(acceptAll(world, client)).toMatchObject([{ names: [member("new")], removed: [] }]);
    },
  },
  {
    rules: ["S-GLOB-2", "S-GLOB-5"],
    title: "updates, adds and removes members one by one",
    variants,
    run(world) {
      for (const id of ["1", "2", "3"]) world.put(PART, member(id));
      const client = world.connect().of(PART);
      begin(world, client, glob);
      world.put(PART, member("2"), "new");
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: member("2"), text: "new" }], removed: [] },
      ]);
      world.put(PART, member("4"));
      expect(acceptAll(world, client)).toMatchObject([{ names: [member("4")], removed: [] }]);
      world.remove(PART, member("1"));
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [member("1")] }]);
    },
  },
  ...[glob, "xdstp://a/test.Part/ns/%2A", "xdstp://a/test.Part/ns/*?"].map((spelling) => ({
    rules: ["S-GLOB-3", "N-42", "N-50"],
    title: `names ${spelling} as removed each time it is empty, as it was spelled, and keeps the subscription`,
    variants,
    run(world: World) {
      const client = world.connect().of(PART);
      expect(begin(world, client, spelling)).toMatchObject([{ names: [], removed: [spelling] }]);
      world.put(PART, member("1"));
      expect(acceptAll(world, client)).toMatchObject([{ names: [member("1")], removed: [] }]);
      world.remove(PART, member("1"));
      const [emptied, ...more] = acceptAll(world, client);
      expect([...(emptied?.removed ?? [])].sort()).toEqual([spelling, member("1")].sort());
      expect(more).toEqual([]);
      world.put(PART, member("2"));
      expect(acceptAll(world, client)).toMatchObject([{ names: [member("2")], removed: [] }]);
    },
  })),
  {
    rules: ["S-GLOB-3"],
    title: "does not name a glob as removed while a member is left, nor again while it stays empty",
    variants,
    run(world) {
      world.put(PART, member("1"));
      world.put(PART, member("2"));
      const client = world.connect().of(PART);
      begin(world, client, glob);
      world.remove(PART, member("1"));
      expect(acceptAll(world, client)).toMatchObject([{ removed: [member("1")] }]);
      world.remove(PART, member("2"));
      acceptAll(world, client);
      world.put(PART, "xdstp://a/test.Part/other/1");
      world.remove(PART, member("3"));
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  {
    rules: ["S-GLOB-3", "N-42"],
    title: "names an empty glob to each client as that client spelled it",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const spellings = [glob, "xdstp://a/test.Part/ns/%2A"];
      const clients = spellings.map((spelling) => {
        const client = world.connect().of(PART);
        begin(world, client, spelling);
        return client;
      });
      world.remove(PART, member("1"));
      expect(
        clients.map((client) =>
          acceptAll(world, client)
            .flatMap(({ removed }) => removed)
            .filter((name) => name !== member("1")),
        ),
      ).toEqual(spellings.map((spelling) => [spelling]));
    },
  },
  {
    rules: ["S-GLOB-3", "N-42"],
    title: "takes two spellings of a glob for one, and answers under the one that came first",
    variants,
    run(world) {
      const client = world.connect().of(PART);
      expect(begin(world, client, "xdstp://a/test.Part/ns/%2A", glob)).toMatchObject([
        { names: [], removed: ["xdstp://a/test.Part/ns/%2A"] },
      ]);
    },
  },
  {
    rules: ["S-GLOB-4"],
    title: "sends members with exactly the parameters of the glob",
    variants,
    run(world) {
      for (const query of ["", "?a=1", "?a=1&b=2", "?a=2", "?b=2"])
        world.put(PART, `${member("1")}${query}`);
      for (const [asked, got] of [
        [`${glob}?b=2&a=1`, "?a=1&b=2"],
        [`${glob}?a=1`, "?a=1"],
        [glob, ""],
      ] as const) {
        const client = world.connect().of(PART);
        expect(
          begin(world, client, asked).flatMap(({ names }) => names),
          asked,
        ).toEqual([`${member("1")}${got}`]);
      }
    },
  },
  {
    rules: ["S-GLOB-4", "N-51"],
    title: "matches what the vectors match, and nothing else",
    variants,
    run(world) {
      const seen = { matched: 0, apart: 0 };
      for (const { id, glob: asked, name, matches } of vectors.filter(({ name: stored }) =>
        stored.startsWith("xdstp:"),
      )) {
        const typeUrl = typeOf(asked);
        if (typeOf(name) === typeUrl && !isGlobOrInvalid(world, typeUrl, name)) {
          const client = world.connect().of(typeUrl);
          const names = begin(world, client, asked).flatMap((answer) => answer.names);
          expect(names.length > 0, `${id}: ${asked} and ${name}`).toBe(matches || asked === name);
          seen[names.length > 0 ? "matched" : "apart"]++;
          client.unsubscribe(asked);
          world.remove(typeUrl, name);
        }
      }
      expect(Math.min(seen.matched, seen.apart)).toBeGreaterThan(5);
    },
  },
  {
    rules: ["S-GLOB-5"],
    title: "names a member that was removed, also the last one, by its own name",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const client = world.connect().of(PART);
      begin(world, client, glob);
      world.remove(PART, member("%31"));
      expect(acceptAll(world, client).flatMap(({ removed }) => removed)).toContain(member("1"));
    },
  },
  {
    rules: ["S-GLOB-6"],
    title: "keeps a member that is subscribed by name when its glob is unsubscribed",
    variants,
    run(world) {
      for (const id of ["1", "2"]) world.put(PART, member(id));
      const client = world.connect().of(PART);
      begin(world, client, glob, member("1"));
      client.unsubscribe(glob);
      expect(acceptAll(world, client)).toEqual([]);
      for (const id of ["1", "2"]) world.put(PART, member(id), "new");
      expect(acceptAll(world, client)).toMatchObject([{ names: [member("1")], removed: [] }]);
      world.remove(PART, member("1"));
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [member("1")] }]);
    },
  },
  {
    rules: ["S-GLOB-6", "S-DSUB-6"],
    title: "keeps all members when a name among them is unsubscribed, then none when the glob is",
    variants,
    run(world) {
      for (const id of ["1", "2"]) world.put(PART, member(id));
      const client = world.connect().of(PART);
      begin(world, client, glob, member("1"));
      client.unsubscribe(member("1"));
      acceptAll(world, client);
      for (const id of ["1", "2"]) world.put(PART, member(id), "new");
      expect(acceptAll(world, client).flatMap(({ names }) => names)).toEqual([
        member("1"),
        member("2"),
      ]);
      client.unsubscribe(glob);
      expect(acceptAll(world, client)).toEqual([]);
      for (const id of ["1", "2"]) world.put(PART, member(id), "newer");
      world.remove(PART, member("2"));
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  {
    rules: ["S-GLOB-6"],
    title: "says nothing of a glob that was empty when it is unsubscribed under *",
    variants,
    run(world) {
      world.put(PART, member("1"));
      const client = world.connect().of(PART);
      begin(world, client, "*", glob);
      client.subscribe("*");
      world.run();
      const open = client.next();
      world.remove(PART, member("1"));
      client.unsubscribe(glob);
      client.ack(open);
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [member("1")] }]);
    },
  },
]);

runCases("globs in SotW", [
  {
    rules: ["S-GLOB-1", "S-FULL-1", "C-GLOB-10"],
    title: "sends all members of a glob in each response, for a type of full state",
    variants: sotwVariants,
    run(world) {
      for (const id of ["1", "2"]) world.put(FULL, fullMember(id));
      world.put(FULL, "opaque");
      const client = world.connect().of(FULL);
      expect(begin(world, client, fullGlob).map(({ names }) => names)).toEqual([
        [fullMember("1"), fullMember("2")],
      ]);
      world.put(FULL, fullMember("3"));
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([
        ["1", "2", "3"].map(fullMember),
      ]);
      for (const id of ["1", "2", "3"]) world.remove(FULL, fullMember(id));
      expect(
        acceptAll(world, client)
          .map(({ names }) => names)
          .at(-1),
      ).toEqual([]);
    },
  },
  {
    rules: ["S-GLOB-1", "S-FULL-5", "C-GLOB-10"],
    title:
      "answers a glob as missing, that is not at all, for other types, and names beside it as ever",
    variants: sotwVariants,
    run(world) {
      world.put(PART, member("1"));
      world.put(PART, "named");
      const client = world.connect().of(PART);
      expect(begin(world, client, glob)).toEqual([]);
      expect(begin(world, client, "named").map(({ names }) => names)).toEqual([["named"]]);
      world.put(PART, member("1"), "new");
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
]);

runCases("the cost of globs", [
  {
    rules: ["B-GLOB-13"],
    title: "does the same work for a change whatever the number and the size of the globs",
    variants,
    run({ variant }) {
      const costs = [
        [1, 1],
        [1, 2_000],
        [500, 1],
        [500, 20],
      ].map(([globs = 0, members = 0]) => {
        const counted = countReads({ variant });
        const { world } = counted;
        const clients = ["one", "two"].map(() => world.connect().of(PART));
        world.cache.transaction((writer) => {
          for (let g = 0; g < globs; g++)
            for (let m = 0; m < members; m++)
              writer.put({
                typeUrl: PART,
                name: `xdstp://a/test.Part/g${g}/${m}`,
                value: new Uint8Array([10, 1, 97]),
              });
        });
        for (const client of clients)
          begin(
            world,
            client,
            ...Array.from({ length: globs }, (_, g) => `xdstp://a/test.Part/g${g}/*`),
          );
        counted.reset();
        world.put(PART, "xdstp://a/test.Part/g0/new");
        for (const client of clients)
          expect(acceptAll(world, client).flatMap(({ names }) => names)).toEqual([
            "xdstp://a/test.Part/g0/new",
          ]);
        return counted.reads;
      });
      expect(costs[0]).toBeGreaterThan(0);
      expect(costs).toEqual(costs.map(() => costs[0]));
    },
  },
]);

/** Returns true if the cache rejects the name, since it is a glob or breaks a rule of names. Otherwise the cache keeps it. */
function isGlobOrInvalid(world: World, typeUrl: string, name: string): boolean {
  const { rejected = [] } = world.cache.commit({
    put: [
      {
        typeUrl,
        resource: { name, version: "", payload: { typeUrl, value: new Uint8Array([10, 1, 97]) } },
      },
    ],
  });
  return rejected.length > 0;
}
