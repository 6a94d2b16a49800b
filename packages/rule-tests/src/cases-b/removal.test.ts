import {
  cluster,
  clusterLoadAssignment,
  envoyTypes,
  listener,
  routeConfiguration,
  typedExtensionConfig,
  virtualHost,
} from "@xdstp/resource-types";
import { clientQuirks } from "@xdstp/server";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { ecdsListener, rdsListener } from "../harness/envoy-payloads.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants as variants, sotwVariants } from "../harness/variant.ts";

const envoy = { node: { id: "n", userAgentName: "envoy" } };
const withEnvoyTypes = { types: envoyTypes, quirks: clientQuirks };

runCases("removal and missing resources", [
  ...["a", "*"].map((wanted) => ({
    rules: ["S-REM-1"],
    title: `names what was deleted and was asked for by ${wanted}, and sends it again when it is created again`,
    variants,
    run(world: World) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      begin(world, client, wanted);
      world.remove(PART, "a");
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: ["a"] }]);
      world.put(PART, "a", "2");
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "a", text: "2" }], removed: [] },
      ]);
      world.remove(PART, "a");
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: ["a"] }]);
    },
  })),
  {
    rules: ["S-REM-1"],
    title: "sends what changed and what was deleted in one transaction together",
    variants,
    run(world) {
      for (const name of ["a", "b", "c"]) world.put(PART, name);
      const client = world.connect().of(PART);
      begin(world, client, "a", "b", "c");
      world.cache.transaction((writer) => {
        writer.remove(PART, "a");
        writer.put({ typeUrl: PART, name: "b", value: new Uint8Array([10, 1, 98, 16, 1]) });
      });
      expect(acceptAll(world, client)).toMatchObject([{ names: ["b"], removed: ["a"] }]);
    },
  },
  {
    rules: ["S-REM-1"],
    title: "ends the stream of a client that is further behind than removals are remembered",
    variants,
    world: { cache: { tombstoneCount: 3 } },
    run(world) {
      const names = Array.from({ length: 10 }, (_, n) => `r${n}`);
      for (const name of ["open", ...names]) world.put(PART, name);
      const peer = world.connect();
      const client = peer.of(PART);
      client.subscribe("*");
      world.run();
      const first = client.next();
      for (const name of names) world.remove(PART, name);
      client.ack(first);
      world.run();
      expect(client.rest()).toEqual([]);
      expect(peer.streamOf(PART).stream.closed).toMatchObject({ code: 14 });
    },
  },
  {
    rules: ["S-FULL-1", "S-FULL-2"],
    title:
      "goes on from what exists for a client that is further behind than removals are remembered",
    variants: sotwVariants,
    world: { cache: { tombstoneCount: 3 } },
    run(world) {
      const names = Array.from({ length: 10 }, (_, n) => `r${n}`);
      const peer = world.connect();
      const open = [FULL, PART].map((typeUrl) => {
        for (const name of ["stays", ...names]) world.put(typeUrl, name);
        const client = peer.of(typeUrl);
        client.subscribe("*");
        world.run();
        return { client, first: client.next() };
      });
      for (const typeUrl of [FULL, PART]) for (const name of names) world.remove(typeUrl, name);
      for (const { client, first } of open) {
        world.put(client.typeUrl, "stays", "new");
        client.ack(first);
        expect(acceptAll(world, client)).toMatchObject([
          { resources: [{ name: "stays", text: "new" }] },
        ]);
      }
      expect(peer.streamOf(PART).stream.closed).toBeUndefined();
    },
  },
  {
    rules: ["S-MISS-1"],
    title: "names a missing resource in the first response, and sends it when it appears",
    variants,
    run(world) {
      world.put(PART, "b");
      const client = world.connect().of(PART);
      expect(begin(world, client, "a", "b")).toMatchObject([{ names: ["b"], removed: ["a"] }]);
      world.put(PART, "a");
      expect(acceptAll(world, client)).toMatchObject([{ names: ["a"], removed: [] }]);
    },
  },
  {
    rules: ["S-MISS-1"],
    title: "names a missing resource at once that is asked for later, also in an ACK",
    variants,
    run(world) {
      world.put(PART, "a");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      client.ack(client.next(), { add: ["b"] });
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: ["b"] }]);
      expect(begin(world, client, "c")).toMatchObject([{ names: [], removed: ["c"] }]);
      world.put(PART, "c");
      expect(acceptAll(world, client)).toMatchObject([{ names: ["c"] }]);
    },
  },
  {
    rules: ["S-MISS-1", "S-RECON-6"],
    title: "does not tell Envoy of a missing route configuration, and sends it when it appears",
    variants,
    world: withEnvoyTypes,
    run(world) {
      const client = world.connect(envoy).of(routeConfiguration.typeUrl);
      expect(begin(world, client, "r")).toMatchObject([{ names: [], removed: [] }]);
      expect(begin(world, client, "r")).toEqual([]);
      expect(begin(world, client, "s")).toEqual([]);
      world.put(routeConfiguration.typeUrl, "r");
      expect(acceptAll(world, client)).toMatchObject([{ names: ["r"] }]);
      world.remove(routeConfiguration.typeUrl, "r");
      expect(acceptAll(world, client)).toMatchObject([{ names: [], removed: ["r"] }]);
    },
  },
  {
    rules: ["S-MISS-1"],
    title: "tells others of a missing route configuration, and Envoy of a missing assignment",
    variants,
    world: withEnvoyTypes,
    run(world) {
      const other = world.connect().of(routeConfiguration.typeUrl);
      expect(begin(world, other, "r")).toMatchObject([{ removed: ["r"] }]);
      const client = world.connect(envoy).of(clusterLoadAssignment.typeUrl);
      expect(begin(world, client, "e")).toMatchObject([{ removed: ["e"] }]);
    },
  },
  {
    rules: ["S-MISS-2"],
    title: "names what is missing as removed, not as a resource without body",
    variants,
    world: withEnvoyTypes,
    run(world) {
      for (const { typeUrl } of [cluster, clusterLoadAssignment, routeConfiguration]) {
        const client = world.connect().of(typeUrl);
        expect(begin(world, client, "m"), typeUrl).toMatchObject([
          { resources: [], removed: ["m"] },
        ]);
      }
    },
  },
  ...[envoy, {}].map((options) => ({
    rules: ["S-MISS-2"],
    title: `sends ${options === envoy ? "Envoy" : "anyone"} a missing virtual host as a resource without body, each time it is asked for`,
    variants,
    world: withEnvoyTypes,
    run(world: World) {
      const client = world.connect(options).of(virtualHost.typeUrl);
      const missing = {
        resources: [{ name: "routes/m", aliases: ["routes/m"], hasBody: false, version: "" }],
        removed: [],
      };
      world.put(virtualHost.typeUrl, "routes/a");
      expect(begin(world, client, "routes/a", "routes/m")).toMatchObject([
        { names: ["routes/a", "routes/m"], removed: [] },
      ]);
      expect(begin(world, client, "routes/m")).toMatchObject([missing]);
      world.put(virtualHost.typeUrl, "routes/m");
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name: "routes/m", hasBody: true }], removed: [] },
      ]);
      world.remove(virtualHost.typeUrl, "routes/m");
      expect(acceptAll(world, client)).toMatchObject([{ resources: [], removed: ["routes/m"] }]);
      expect(begin(world, client, "routes/m")).toMatchObject([missing]);
    },
  })),
  {
    rules: ["S-MISS-2"],
    title: "sends a virtual host that went before it was asked for as a resource without body",
    variants,
    world: withEnvoyTypes,
    run(world) {
      world.put(virtualHost.typeUrl, "routes/m");
      const client = world.connect(envoy).of(virtualHost.typeUrl);
      begin(world, client, "routes/other");
      world.remove(virtualHost.typeUrl, "routes/m");
      expect(begin(world, client, "routes/m")).toMatchObject([
        { resources: [{ name: "routes/m", hasBody: false }], removed: [] },
      ]);
    },
  },
  {
    rules: ["S-MISS-6"],
    title: "says once per subscribe that a name is missing, whatever else changes",
    variants,
    run(world) {
      const client = world.connect().of(PART);
      expect(begin(world, client, "m", "a")).toMatchObject([{ removed: ["m", "a"] }]);
      world.put(PART, "a", "1");
      expect(acceptAll(world, client)).toMatchObject([{ names: ["a"], removed: [] }]);
      world.put(PART, "unrelated");
      expect(acceptAll(world, client)).toEqual([]);
      expect(begin(world, client, "b")).toMatchObject([{ removed: ["b"] }]);
      expect(begin(world, client, "m")).toMatchObject([{ removed: ["m"] }]);
      world.put(PART, "a", "2");
      expect(acceptAll(world, client)).toMatchObject([{ names: ["a"], removed: [] }]);
    },
  },
  ...["delta/ads", "delta/per-type"].map((variant) => ({
    rules: ["S-REM-3"],
    title:
      "does not say that an extension config is gone while a listener refers to it, to old and new clients",
    variants: variants.filter((one) => one === variant),
    world: withEnvoyTypes,
    run(world: World) {
      world.put(typedExtensionConfig.typeUrl, "filter", "1");
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: ecdsListener("l", "filter") });
      const peer = world.connect(envoy);
      const [parts, listeners] = [peer.of(typedExtensionConfig.typeUrl), peer.of(listener.typeUrl)];
      begin(world, listeners, "l");
      begin(world, parts, "filter");
      world.remove(typedExtensionConfig.typeUrl, "filter");
      expect(acceptAll(world, parts)).toEqual([]);
      expect(
        begin(world, world.connect(envoy).of(typedExtensionConfig.typeUrl), "filter"),
      ).toMatchObject([{ names: ["filter"], removed: [] }]);
      world.put(listener.typeUrl, "l", "without");
      expect(acceptAll(world, listeners)).toMatchObject([{ names: ["l"] }]);
      expect(acceptAll(world, parts)).toMatchObject([{ removed: ["filter"] }]);
    },
  })),
  {
    rules: ["S-FULL-8", "S-FULL-5"],
    title:
      "says in SotW that routes are gone by the listener that lets go of them, and by nothing else",
    variants: sotwVariants,
    world: withEnvoyTypes,
    run(world) {
      world.put(routeConfiguration.typeUrl, "r");
      world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: rdsListener("l", "r") });
      const peer = world.connect();
      const [listeners, routes] = [peer.of(listener.typeUrl), peer.of(routeConfiguration.typeUrl)];
      begin(world, listeners, "l");
      begin(world, routes, "r");
      world.cache.transaction((writer) => {
        writer.remove(routeConfiguration.typeUrl, "r");
        writer.put({ typeUrl: listener.typeUrl, name: "l", value: rdsListener("l", "other") });
      });
      expect(acceptAll(world, listeners)).toMatchObject([{ names: ["l"] }]);
      expect(acceptAll(world, routes)).toEqual([]);
      world.put(routeConfiguration.typeUrl, "other");
      routes.change({ add: ["other"], drop: ["r"] });
      expect(acceptAll(world, routes)).toMatchObject([{ names: ["other"] }]);
    },
  },
]);
