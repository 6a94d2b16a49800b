import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, isDelta, sotwVariants, type Variant } from "../harness/variant.ts";

const wrapping = { node: { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] } };
const name = (rest: string): string => `xdstp://a/test.Part/${rest}`;
/** Names that cannot exist, and why. */
const impossible: readonly (readonly [rule: string, what: string, name: string])[] = [
  ["N-18", "a fragment", name("x#entry=y")],
  ["N-18", "a fragment on a glob", name("ns/*#alt=xdstp://b/test.Part/x")],
  ["N-02", "no authority marker", "xdstp:a/test.Part/x"],
  ["N-05", "a bad escape", name("%zz")],
  ["N-08", "no type", "xdstp://a"],
  ["B-TYPE-5", "another type", "xdstp://a/test.OtherPart/x"],
];
/** The pairs are one name. */
const spellings: readonly (readonly [rule: string, stored: string, asked: string])[] = [
  ["N-05", name("~x"), name("%7ex")],
  ["N-35", name("x?a=1&b=2"), name("x?b=2&a=1")],
  ["N-11", name("x"), name("x?")],
  ["N-44", name("x?a="), name("x?a")],
  ["N-09", name("").slice(0, -1), name("")],
];
/** Each is a resource of its own. */
const distinct: readonly (readonly [rule: string, names: readonly string[]])[] = [
  ["N-44", [name("x"), name("x?a=1"), name("x?a=2"), name("x?a=1&b=2")]],
  ["N-10", [name("a/../b"), name("b"), name("./b")]],
  [
    "N-07",
    [
      "xdstp://A/test.Part/x",
      "xdstp://a/test.Part/x",
      "xdstp:///test.Part/x",
      "xdstp://a:80/test.Part/x",
    ],
  ],
  ["N-43", ["xdstp://a/test.Part/x", "XDSTP://a/test.Part/x", "x", "test.Part/x"]],
];

/** Returns the answers to a client that subscribes to these names: resources, then removals behind a minus. */
function answers(world: World, typeUrl: string, ...names: readonly string[]): readonly string[] {
  return begin(world, world.connect(wrapping).of(typeUrl), ...names)
    .flatMap((answer) => [...answer.names, ...answer.removed.map((gone) => `-${gone}`)])
    .sort();
}

/** A missing name is named in delta, and not spoken of in SotW. */
function missing(variant: Variant, ...names: readonly string[]): readonly string[] {
  return isDelta(variant) ? names.map((one) => `-${one}`).sort() : [];
}

runCases("names as a server answers them", [
  ...impossible.map(([rule, what, asked]) => ({
    rules: [rule],
    title: `answers a name with ${what} like one that does not exist, as it was spelled, and those beside it as ever`,
    run(world: World) {
      world.put(PART, name("x"));
      world.put(PART, name("ns/1"));
      world.put(OTHER_PART, "xdstp://a/test.OtherPart/x");
      expect(answers(world, PART, asked, name("x"))).toEqual(
        [...missing(world.variant, asked), name("x")].sort(),
      );
      expect(answers(world, PART, asked)).toEqual(missing(world.variant, asked));
    },
  })),
  ...spellings.flatMap(([rule, stored, asked]) => [
    {
      rules: ["N-40", "N-42", rule],
      title: `answers ${asked}, stored as ${stored}, under the spelling that was asked`,
      run(world: World) {
        world.put(PART, stored, "1");
        const client = world.connect(wrapping).of(PART);
        expect(begin(world, client, asked)).toMatchObject([
          { resources: [{ name: asked, text: "1" }] },
        ]);
        world.put(PART, stored, "2");
        expect(acceptAll(world, client)).toMatchObject([
          { resources: [{ name: asked, text: "2" }] },
        ]);
        if (!isDelta(world.variant)) return;
        world.remove(PART, stored);
        expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: [asked] }]);
      },
    },
    {
      rules: ["N-42"],
      title: `names ${asked} as missing in that spelling, and sends it so when it appears as ${stored}`,
      variants: deltaVariants,
      run(world: World) {
        const client = world.connect().of(PART);
        expect(begin(world, client, asked)).toMatchObject([{ removed: [asked] }]);
        world.put(PART, stored, "1");
        expect(acceptAll(world, client)).toMatchObject([
          { resources: [{ name: asked, text: "1" }] },
        ]);
      },
    },
  ]),
  {
    rules: ["N-42", "S-DUP-1"],
    title: "answers a name that was asked in two spellings once, in the first of them",
    run(world) {
      world.put(PART, name("~x"), "1");
      const client = world.connect(wrapping).of(PART);
      expect(begin(world, client, name("%7Ex"), name("~x"))).toMatchObject([
        { names: [name("%7Ex")] },
      ]);
      world.put(PART, name("~x"), "2");
      expect(acceptAll(world, client)).toMatchObject([{ names: [name("%7Ex")] }]);
    },
  },
  {
    rules: ["N-42"],
    title: "emits the stored spelling where nothing was asked by that name",
    run(world) {
      world.put(PART, name("~x"));
      expect(answers(world, PART, "*")).toEqual([name("~x")]);
      if (isDelta(world.variant)) expect(answers(world, PART, name("*"))).toEqual([name("~x")]);
    },
  },
  {
    rules: ["N-42", "S-DUP-1"],
    title: "answers in the spelling that was asked where a wildcard covers the name too",
    run(world) {
      world.put(PART, name("~x"));
      expect(answers(world, PART, "*", name("%7Ex"))).toEqual([name("%7Ex")]);
    },
  },
  ...distinct.flatMap(([rule, names]) =>
    names.map((asked) => ({
      rules: [rule],
      title: `answers ${asked} by itself and not by its likes`,
      run(world: World) {
        for (const stored of names) world.put(PART, stored);
        expect(answers(world, PART, asked)).toEqual([asked]);
      },
    })),
  ),
  ...[
    ["N-50", name("ns/a*")],
    ["N-50", name("ns/**")],
    ["N-50", name("*/x")],
    ["N-50", name("ns/x?k=/*")],
    ["N-56", "ns/*"],
    ["N-43", "foo/*"],
  ].map(([rule = "", asked = ""]) => ({
    rules: [rule],
    title: `takes ${asked} for an ordinary name`,
    run(world: World) {
      for (const other of ["ns/x", "ns/a1", "ns/xx", "y/x", "ns/x?k=/y"])
        world.put(PART, name(other));
      for (const other of ["ns/x", "foo/x"]) world.put(PART, other);
      expect(answers(world, PART, asked)).toEqual(missing(world.variant, asked));
      world.put(PART, asked);
      expect(answers(world, PART, asked)).toEqual([asked]);
    },
  })),
  {
    rules: ["N-52", "N-53"],
    title: "gives a glob what has its parent: no deeper ids, no empty id, no other parent",
    variants: deltaVariants,
    run(world) {
      const ids = ["ns/a", "ns/b", "ns", "nsx/a", "ns/a/b", "ns//a", "/x", "x", ""];
      for (const id of ids) world.put(PART, name(id));
      expect(answers(world, PART, name("ns/*"))).toEqual([name("ns/a"), name("ns/b")]);
      expect(answers(world, PART, name("*"))).toEqual([name("ns"), name("x")]);
      expect(answers(world, PART, name("/*"))).toEqual([name("/x")]);
    },
  },
  {
    rules: ["N-55"],
    title: "lets a client by name and a client by glob both see a resource",
    variants: deltaVariants,
    run(world) {
      world.put(PART, name("ns/1"));
      const clients = [name("ns/1"), name("ns/*")].map((asked) => {
        const client = world.connect().of(PART);
        expect(begin(world, client, asked)).toMatchObject([{ names: [name("ns/1")] }]);
        return client;
      });
      world.put(PART, name("ns/1"), "new");
      for (const client of clients)
        expect(acceptAll(world, client)).toMatchObject([
          { resources: [{ name: name("ns/1"), text: "new" }] },
        ]);
    },
  },
  {
    rules: ["N-81"],
    title: "writes names as strings, those of xdstp as URIs, in resources and removals",
    run(world) {
      const names = ["opaque name", name("ns/a%20b?k=%C3%BC")];
      for (const stored of names) world.put(PART, stored);
      const asked = [name("ns/*?k=ü"), "opaque name", name("missing")];
      if (isDelta(world.variant)) {
        const { client } = world.openDelta(PART);
        client.send({
          typeUrl: PART,
          resourceLocatorsSubscribe: asked.map((text) => ({ name: text })),
        });
        world.run();
        const { resources, removedResources, removedResourceNames } = client.next();
        expect(resources.map((resource) => [resource.name, resource.resourceName]).sort()).toEqual(
          names.map((text) => [text, undefined]),
        );
        expect([removedResources, removedResourceNames]).toEqual([[name("missing")], []]);
      } else {
        const client = world.connect(wrapping).of(PART);
        expect(begin(world, client, "opaque name", name("ns/a b?k=ü"))).toMatchObject([
          { resources: [{ name: "opaque name" }, { name: name("ns/a b?k=ü"), wrapped: true }] },
        ]);
      }
    },
  },
]);

const mine = { cache: { authorities: ["mine"] } };

runCases("authorities as a server answers them", [
  {
    rules: ["S-AUTH-8"],
    title: "answers a name of a foreign authority as missing, and its own as ever",
    world: mine,
    run(world) {
      const [own, foreign, empty] = ["mine", "foreign", ""].map(
        (authority) => `xdstp://${authority}/test.Part/x`,
      ) as [string, string, string];
      world.put(PART, own);
      world.put(PART, "opaque");
      expect(answers(world, PART, own, foreign, empty, "opaque")).toEqual(
        [...missing(world.variant, foreign, empty), "opaque", own].sort(),
      );
    },
  },
  {
    rules: ["S-AUTH-8"],
    title: "answers a glob of a foreign authority as empty",
    variants: deltaVariants,
    world: mine,
    run(world) {
      world.put(PART, "xdstp://mine/test.Part/ns/1");
      expect(
        answers(world, PART, "xdstp://foreign/test.Part/ns/*", "xdstp://mine/test.Part/ns/*"),
      ).toEqual(["-xdstp://foreign/test.Part/ns/*", "xdstp://mine/test.Part/ns/1"]);
    },
  },
  {
    rules: ["S-AUTH-8", "S-FULL-1"],
    title: "leaves names of a foreign authority out of a full state",
    variants: sotwVariants,
    world: mine,
    run(world) {
      world.put(FULL, "a");
      expect(
        begin(world, world.connect().of(FULL), "a", "xdstp://foreign/test.Full/x").map(
          ({ names }) => names,
        ),
      ).toEqual([["a"]]);
    },
  },
  {
    rules: ["B-AUTH-9"],
    title: "takes an authority for a name and not for an address, whoever the peer is",
    run(world) {
      const names = ["a.b", "10.0.0.1:80", "a.b:443", "not a host"].map(
        (authority) => `xdstp://${encodeURIComponent(authority)}/test.Part/x`,
      );
      for (const stored of names) world.put(PART, stored, stored);
      const client = world.connect(wrapping).of(PART);
      const got = begin(world, client, ...names).flatMap(({ resources }) =>
        resources.map(({ name: asked, text }) => [asked, text]),
      );
      expect(got.sort()).toEqual(names.map((asked) => [asked, asked]).sort());
    },
  },
]);
