import { clusterLoadAssignment, envoyTypes } from "@xdstp/resource-types";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { sotwVariants as variants } from "../harness/variant.ts";

const fullStateTypes = [
  "config.listener.v3.Listener",
  "config.cluster.v3.Cluster",
  "config.route.v3.ScopedRouteConfiguration",
].map((name) => `type.googleapis.com/envoy.${name}`);
const partialTypes = [
  "config.route.v3.RouteConfiguration",
  "config.endpoint.v3.ClusterLoadAssignment",
  "extensions.transport_sockets.tls.v3.Secret",
  "service.runtime.v3.Runtime",
  "config.core.v3.TypedExtensionConfig",
].map((name) => `type.googleapis.com/envoy.${name}`);
const hundred = Array.from({ length: 100 }, (_, n) => `r${n}`);
const sorted = (names: readonly string[]): readonly string[] => [...names].sort();

runCases("full state in SotW", [
  ...fullStateTypes.flatMap((typeUrl) =>
    [["*"], hundred].map((wanted) => ({
      rules: ["S-FULL-1"],
      title: `sends all hundred of ${typeUrl}, asked for by ${wanted.length === 1 ? "*" : "name"}, when one changes`,
      variants,
      world: { types: envoyTypes },
      run(world: World) {
        for (const name of hundred) world.put(typeUrl, name);
        const client = world.connect().of(typeUrl);
        begin(world, client, ...wanted);
        world.put(typeUrl, "r42", "new");
        const [only, ...more] = acceptAll(world, client);
        expect(more).toEqual([]);
        expect(sorted(only?.names ?? [])).toEqual(sorted(hundred));
        expect(only?.resources.find(({ name }) => name === "r42")?.text).toBe("new");
      },
    })),
  ),
  {
    rules: ["S-FULL-1"],
    title: "leaves out what was removed, and sends an empty response when the last one goes",
    variants,
    run(world) {
      world.put(FULL, "a");
      world.put(FULL, "b");
      const client = world.connect().of(FULL);
      begin(world, client, "*");
      world.remove(FULL, "a");
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([["b"]]);
      world.remove(FULL, "b");
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([[]]);
    },
  },
  {
    rules: ["S-FULL-1"],
    title: "sends everything again for a name that is new in the list",
    variants,
    run(world) {
      for (const name of ["a", "b", "c"]) world.put(FULL, name);
      const client = world.connect().of(FULL);
      begin(world, client, "a", "b");
      expect(begin(world, client, "c").map(({ names }) => sorted(names))).toEqual([
        ["a", "b", "c"],
      ]);
    },
  },
  {
    rules: ["S-FULL-1", "S-SUB-11"],
    title: "says nothing of what left the list, and leaves it out of the next response",
    variants,
    run(world) {
      world.put(FULL, "a");
      world.put(FULL, "b");
      const client = world.connect().of(FULL);
      begin(world, client, "a", "b");
      client.unsubscribe("a");
      expect(acceptAll(world, client)).toEqual([]);
      world.put(FULL, "b", "new");
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([["b"]]);
    },
  },
  ...partialTypes.map((typeUrl) => ({
    rules: ["S-FULL-2"],
    title: `sends the one of a hundred of ${typeUrl} that changed`,
    variants,
    world: { types: envoyTypes },
    run(world: World) {
      for (const name of hundred) world.put(typeUrl, name);
      const client = world.connect().of(typeUrl);
      begin(world, client, ...hundred);
      world.put(typeUrl, "r42", "new");
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "r42", text: "new" }] },
      ]);
    },
  })),
  {
    rules: ["S-FULL-2"],
    title: "sends what is newly wanted and nothing that was sent before",
    variants,
    run(world) {
      for (const name of ["a", "b", "c"]) world.put(PART, name);
      const client = world.connect().of(PART);
      begin(world, client, "a", "b");
      expect(begin(world, client, "c").map(({ names }) => names)).toEqual([["c"]]);
    },
  },
  {
    rules: ["S-FULL-5"],
    title: "says nothing when a subscribed resource of a type without full state goes",
    variants,
    run(world) {
      world.put(PART, "a");
      world.put(PART, "b");
      const client = world.connect().of(PART);
      begin(world, client, "a", "b");
      world.remove(PART, "a");
      expect(acceptAll(world, client)).toEqual([]);
      world.put(PART, "b", "new");
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([["b"]]);
    },
  },
  {
    rules: ["S-FULL-5"],
    title: "says nothing when the last member of a wildcard without full state goes",
    variants,
    run(world) {
      world.put(PART, "a");
      const client = world.connect().of(PART);
      begin(world, client, "*");
      world.remove(PART, "a");
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  ...partialTypes.map((typeUrl) => ({
    rules: ["S-FULL-5"],
    title: `says nothing to names of ${typeUrl} that are all missing`,
    variants,
    world: { types: envoyTypes },
    run(world: World) {
      const client = world.connect().of(typeUrl);
      expect(begin(world, client, "a", "b")).toEqual([]);
      expect(begin(world, client, "c")).toEqual([]);
      world.put(typeUrl, "b");
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([["b"]]);
    },
  })),
  {
    rules: ["S-FULL-5"],
    title: "says nothing, for a type without full state, when wanted is nothing any more",
    variants,
    run(world) {
      world.put(PART, "a");
      const client = world.connect().of(PART);
      begin(world, client, "a");
      client.unsubscribe("a");
      expect(acceptAll(world, client)).toEqual([]);
    },
  },
  ...[clusterLoadAssignment.typeUrl, ...fullStateTypes].map((typeUrl) => ({
    rules: ["S-FULL-7"],
    title: `sends the one of ${typeUrl} that exists beside one that is missing`,
    variants,
    world: { types: envoyTypes },
    run(world: World) {
      world.put(typeUrl, "exists");
      const client = world.connect().of(typeUrl);
      expect(begin(world, client, "exists", "missing").map(({ names }) => names)).toEqual([
        ["exists"],
      ]);
      world.put(typeUrl, "exists", "new");
      expect(acceptAll(world, client).map(({ names }) => names)).toEqual([["exists"]]);
      world.put(typeUrl, "missing");
      expect(acceptAll(world, client).flatMap(({ names }) => names)).toContain("missing");
    },
  })),
]);
