import {
  forwardSource,
  StatusCode,
  XdsError,
  type Entry,
  type ResourceSource,
  type StatusName,
  type Topic,
} from "@xdstp/core";
import { envoyTypes, virtualHost } from "@xdstp/resource-types";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, isDelta, sotwVariants } from "../harness/variant.ts";

const bothKinds = [PART, FULL];

/** Says of a name that there is none, and why. */
function fail(world: World, typeUrl: string, name: string, code: StatusName, text = "why"): void {
  world.cache.commit({ remove: [{ typeUrl, name, error: new XdsError(code, text) }] });
}

const told = (name: string, code: StatusName, message = "why"): object => ({
  name,
  code: StatusCode[code],
  message,
});

/** A source in which a glob as a whole has an error. */
function withBadGlob(source: ResourceSource, glob: string): ResourceSource {
  const entry: Entry = {
    revision: 1,
    since: 0,
    superseded: false,
    name: glob,
    error: new XdsError("PERMISSION_DENIED", "not for you"),
  };
  const bad: Topic = {
    interest: { name: glob },
    settled: true,
    head: 1,
    hash: 0,
    changes: () => [],
    members: () => [entry],
    get: () => undefined,
    removed: () => [],
    watch: () => undefined,
    unwatch: () => undefined,
  };
  return forwardSource(source, {
    topic: (typeUrl, interest) => (interest.name === glob ? bad : source.topic(typeUrl, interest)),
  });
}

runCases("errors per resource", [
  ...bothKinds.map((typeUrl) => ({
    rules: ["S-ERR-1"],
    title: `are told once for a ${typeUrl}, again when they change, and end with the resource`,
    run(world: World) {
      world.put(typeUrl, "good", "1");
      fail(world, typeUrl, "bad", "UNAVAILABLE");
      const client = world.connect().of(typeUrl);
      expect(begin(world, client, "good", "bad")).toMatchObject([
        { names: ["good"], errors: [told("bad", "UNAVAILABLE")] },
      ]);
      world.put(typeUrl, "good", "2");
      expect(acceptAll(world, client)).toMatchObject([{ names: ["good"], errors: [] }]);
      fail(world, typeUrl, "bad", "UNAVAILABLE");
      expect(acceptAll(world, client)).toEqual([]);
      fail(world, typeUrl, "bad", "INTERNAL", "worse");
      expect(acceptAll(world, client)).toMatchObject([
        { errors: [told("bad", "INTERNAL", "worse")] },
      ]);
      world.put(typeUrl, "bad", "1");
      const [good] = acceptAll(world, client);
      expect(good?.names).toContain("bad");
      expect(good?.errors).toEqual([]);
    },
  })),
  {
    rules: ["S-ERR-1", "S-FULL-5"],
    title: "may be all that a SotW response says",
    variants: sotwVariants,
    run(world) {
      for (const typeUrl of bothKinds) {
        fail(world, typeUrl, "bad", "PERMISSION_DENIED");
        const client = world.connect().of(typeUrl);
        expect(begin(world, client, "bad")).toMatchObject([
          { resources: [], errors: [told("bad", "PERMISSION_DENIED")] },
        ]);
      }
    },
  },
  {
    rules: ["S-ERR-2", "S-FULL-1"],
    title: "do not take the others out of a full state",
    variants: sotwVariants,
    run(world) {
      for (const name of ["a", "b"]) world.put(FULL, name);
      fail(world, FULL, "forbidden", "PERMISSION_DENIED");
      const client = world.connect().of(FULL);
      expect(begin(world, client, "a", "forbidden", "b")).toMatchObject([
        { names: ["a", "b"], errors: [told("forbidden", "PERMISSION_DENIED")] },
      ]);
      fail(world, FULL, "b", "UNAVAILABLE");
      expect(acceptAll(world, client)).toMatchObject([
        { names: ["a"], errors: [told("b", "UNAVAILABLE")] },
      ]);
    },
  },
  ...(
    [
      "NOT_FOUND",
      "PERMISSION_DENIED",
      "UNAVAILABLE",
      "INTERNAL",
      "UNKNOWN",
      "RESOURCE_EXHAUSTED",
    ] as const
  ).map((code) => ({
    rules: ["S-ERR-3", "B-ERR-6"],
    title: `of code ${code} are said so that a client drops only what is not there for it`,
    variants: deltaVariants,
    run(world: World) {
      const isRemoved = code === "NOT_FOUND" || code === "PERMISSION_DENIED";
      const errors = code === "NOT_FOUND" ? [] : [told("bad", code)];
      world.put(PART, "bad", "1");
      const client = world.connect().of(PART);
      begin(world, client, "bad");
      fail(world, PART, "bad", code);
      expect(acceptAll(world, client)).toMatchObject([
        { removed: isRemoved ? ["bad"] : [], errors, resources: [] },
      ]);
      expect(begin(world, world.connect().of(PART), "bad")).toMatchObject([
        { removed: isRemoved ? ["bad"] : [], errors, resources: [] },
      ]);
      const { client: back } = world.openDelta(PART);
      back.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["bad"],
        initialResourceVersions: { bad: "1" },
      });
      world.run();
      expect(back.next().removedResources).toEqual(isRemoved ? ["bad"] : []);
    },
  })),
  {
    rules: ["S-ERR-3", "S-MISS-2"],
    title: "that are transient do not say of a virtual host that there is none",
    variants: deltaVariants,
    world: { types: envoyTypes },
    run(world) {
      fail(world, virtualHost.typeUrl, "r/h", "UNAVAILABLE");
      expect(begin(world, world.connect().of(virtualHost.typeUrl), "r/h")).toMatchObject([
        { resources: [], removed: [], errors: [told("r/h", "UNAVAILABLE")] },
      ]);
    },
  },
  {
    rules: ["S-ERR-5"],
    title: "bear the name of a glob as a whole, and of a member that of the member",
    variants: deltaVariants,
    world: { source: (cache) => withBadGlob(cache, "xdstp://a/test.Part/bad/*") },
    run(world) {
      const [bad, glob, member] = [
        "xdstp://a/test.Part/bad/*",
        "xdstp://a/test.Part/x/*",
        "xdstp://a/test.Part/x/1",
      ];
      world.put(PART, member, "1");
      const client = world.connect().of(PART);
      expect(begin(world, client, bad, glob)).toMatchObject([
        {
          names: [member],
          removed: [bad],
          errors: [told(bad, "PERMISSION_DENIED", "not for you")],
        },
      ]);
      fail(world, PART, member, "INTERNAL");
      const [answer] = acceptAll(world, client);
      expect(answer?.errors).toEqual([told(member, "INTERNAL")]);
      expect(answer?.removed).not.toContain(member);
    },
  },
  ...bothKinds.map((typeUrl) => ({
    rules: ["B-ERR-6"],
    title: `leave a client that does not read them right, with a ${typeUrl}`,
    run(world: World) {
      fail(world, typeUrl, "bad", "PERMISSION_DENIED", "x".repeat(100_000));
      const client = world.connect().of(typeUrl);
      const [first] = begin(world, client, "bad");
      expect(first?.removed).toEqual(isDelta(world.variant) ? ["bad"] : []);
      expect(first?.errors[0]?.message).toHaveLength(1_024);
      world.put(typeUrl, "bad", "1");
      expect(acceptAll(world, client)).toMatchObject([{ resources: [{ name: "bad", text: "1" }] }]);
      world.remove(typeUrl, "bad");
      expect(acceptAll(world, client).flatMap(({ removed }) => removed)).toEqual(
        isDelta(world.variant) ? ["bad"] : [],
      );
    },
  })),
  ...(
    [
      ["has come with a version", "of before", ["good", "bad"]],
      ["asks for nothing that exists", "", ["bad"]],
    ] as const
  ).map(([who, versionInfo, names]) => ({
    rules: ["B-ERR-6"],
    title: `that will pass take nothing from a client that does not read them and ${who}: there is no full state before they are over`,
    variants: sotwVariants,
    run(world: World) {
      world.put(FULL, "good", "1");
      fail(world, FULL, "bad", "UNAVAILABLE");
      const { client } = world.openSotw(FULL);
      client.send({ typeUrl: FULL, resourceNames: [...names], versionInfo });
      world.run();
      world.clock.advance(60_000);
      world.run();
      expect(client.rest()).toEqual([]);
      world.put(FULL, "bad", "1");
      world.run();
      expect(client.next().resources).toHaveLength(names.length);
    },
  })),
  {
    rules: ["S-SIZE-4", "S-ERR-1"],
    title:
      "tell a client that is known to read them of a resource that is too large, beside the rest and alone",
    world: {
      limits: { responseBytes: 2_000 },
      quirks: [
        {
          client: "reader",
          rule: "S-SIZE-4",
          difference: "d",
          reason: "r",
          effect: { readsErrors: true },
        },
      ],
    },
    run(world) {
      world.put(PART, "giant", "x".repeat(3_000));
      world.put(PART, "small");
      const large = { name: "giant", code: StatusCode.RESOURCE_EXHAUSTED };
      const reader = world.connect({ node: { id: "n", userAgentName: "reader" } }).of(PART);
      expect(begin(world, reader, "giant", "small")).toMatchObject([
        { names: ["small"], errors: [large], removed: [] },
      ]);
      const other = world.connect().of(PART);
      expect(begin(world, other, "giant", "small")).toMatchObject([
        { names: ["small"], errors: [] },
      ]);
      world.put(PART, "giant", "y".repeat(3_000));
      expect(acceptAll(world, reader)).toMatchObject([{ names: [], errors: [large], removed: [] }]);
      expect(acceptAll(world, other)).toEqual([]);
      world.put(PART, "giant", "fits");
      expect(acceptAll(world, reader)).toMatchObject([{ names: ["giant"], errors: [] }]);
    },
  },
]);
