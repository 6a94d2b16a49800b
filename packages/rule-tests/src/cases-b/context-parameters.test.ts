import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, isDelta } from "../harness/variant.ts";

const wrapping = { node: { id: "n", clientFeatures: ["xds.config.supports-resource-in-sotw"] } };
const name = (query = ""): string => `xdstp://a/test.Full/x${query}`;

runCases("context parameters", [
  {
    rules: ["S-CTX-4"],
    title:
      "are matched exactly: with one more or one less, or another value, there is no such resource",
    run(world) {
      world.put(FULL, name("?k=1"), "one");
      const others = [name(), name("?k=2"), name("?k=1&l=1")];
      const [answer] = begin(world, world.connect(wrapping).of(FULL), name("?k=1"), ...others);
      expect(answer?.resources).toMatchObject([{ name: name("?k=1"), text: "one" }]);
      if (isDelta(world.variant))
        expect([...(answer?.removed ?? [])].sort()).toEqual([...others].sort());
    },
  },
  {
    rules: ["S-CTX-4"],
    title:
      "that the source ignores are dropped before the look-up, and the answer has the name that was asked",
    world: { cache: { ignoredParameters: ["region", "xds.node.id"] } },
    run(world) {
      world.put(FULL, name("?k=1"), "one");
      world.put(FULL, name(), "none");
      const [asked, plain, other] = [
        name("?k=1&region=eu&xds.node.id=7"),
        name("?region=eu"),
        name("?l=1"),
      ];
      const client = world.connect(wrapping).of(FULL);
      const [answer] = begin(world, client, asked, plain, name(), other);
      expect(answer?.resources.map((one) => [one.name, one.text]).sort()).toEqual(
        [
          [asked, "one"],
          [plain, "none"],
          [name(), "none"],
        ].sort(),
      );
      world.put(FULL, name("?k=1"), "two");
      expect(acceptAll(world, client)[0]?.resources).toEqual(
        expect.arrayContaining([expect.objectContaining({ name: asked, text: "two" })]),
      );
      world.remove(FULL, name());
      const [gone] = acceptAll(world, client);
      expect(isDelta(world.variant) ? [...(gone?.removed ?? [])].sort() : gone?.names).toEqual(
        isDelta(world.variant) ? [name(), plain].sort() : [asked],
      );
    },
  },
  {
    rules: ["S-CTX-4", "S-GLOB-4"],
    title: "of a glob are never dropped, since its members have them",
    variants: deltaVariants,
    world: { cache: { ignoredParameters: ["region"] } },
    run(world) {
      world.put(PART, "xdstp://a/test.Part/x/1");
      world.put(PART, "xdstp://a/test.Part/x/1?region=eu");
      expect(
        begin(world, world.connect().of(PART), "xdstp://a/test.Part/x/*?region=eu"),
      ).toMatchObject([{ names: ["xdstp://a/test.Part/x/1?region=eu"] }]);
    },
  },
  ...["xds.node.id=n1", "k=-1", "k=(a|b)", "k=constraint:x"].map((query) => ({
    rules: ["B-CTX-2"],
    title: `that are reserved are passed through without meaning: ${query}`,
    run(world: Parameters<typeof begin>[0]) {
      world.put(FULL, name(`?${query}`), "1");
      expect(
        begin(world, world.connect(wrapping).of(FULL), name(`?${query}`))[0]?.resources,
      ).toMatchObject([{ text: "1" }]);
    },
  })),
]);
