import {
  cluster,
  clusterLoadAssignment,
  envoyTypes,
  lbEndpoint,
  listener,
} from "@xdstp/resource-types";
import { clientQuirks } from "@xdstp/server";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import { inlineEntry, listOf } from "../harness/list-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
import { runCases } from "../harness/rule-case.ts";

const world = { types: envoyTypes, quirks: clientQuirks };
const variants = ["sotw/ads"] as const;
const named = (
  userAgentName: string,
  clientFeatures: readonly string[] = [],
): { node: { id: string; userAgentName: string; clientFeatures: string[] } } => ({
  node: { id: "n", userAgentName, clientFeatures: [...clientFeatures] },
});

runCases("gRPC clients", [
  ...["gRPC C-core", "gRPC Go", "gRPC Java", "gRPC Node Pure JS"].map((agent) => ({
    rules: ["C-GRPC-2", "S-WILD-6"],
    title: `get what they name and nothing else, on one SotW stream of ADS: ${agent}`,
    variants,
    world,
    run(world: Parameters<typeof begin>[0]) {
      for (const { typeUrl } of [listener, cluster, clusterLoadAssignment])
        for (const name of ["mine", "other"]) world.put(typeUrl, name);
      const peer = world.connect(named(agent));
      for (const { typeUrl } of [listener, cluster, clusterLoadAssignment]) {
        const client = peer.of(typeUrl);
        expect(begin(world, client, "mine").map(({ names }) => names)).toEqual([["mine"]]);
        world.put(typeUrl, "other", "2");
        expect(acceptAll(world, client).flatMap(({ names }) => names)).toEqual([]);
      }
    },
  })),
  {
    rules: ["C-GRPC-15"],
    title: "get an LbEndpointCollection by name, wrapped, with inline entries, and its changes",
    variants,
    world,
    run(world) {
      const name = "xdstp://a/envoy.config.endpoint.v3.LbEndpointCollection/cell";
      const list = (id: string): Uint8Array =>
        listOf(inlineEntry(id, lbEndpoint.typeUrl, payloadOf(id)));
      const typeUrl = "type.googleapis.com/envoy.config.endpoint.v3.LbEndpointCollection";
      world.cache.put({ typeUrl, name, value: list("1") });
      const client = world
        .connect(
          named("gRPC Go", [
            "xds.config.resource-in-sotw",
            "xds.endpoint.supports_lb_endpoint_collection",
          ]),
        )
        .of(typeUrl);
      expect(begin(world, client, name)).toMatchObject([
        {
          typeUrl,
          resources: [{ name, wrapped: true, payloadTypeUrl: typeUrl, payload: list("1") }],
        },
      ]);
      world.cache.put({ typeUrl, name, value: list("2") });
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ name, payload: list("2") }] },
      ]);
    },
  },
  {
    rules: ["C-GRPC-17", "S-SUB-9"],
    title:
      "that serve wait for their listener, which may come, go and come again on the same stream",
    variants,
    world,
    run(world) {
      const name = "grpc/server?xds.resource.listening_address=0.0.0.0:50051";
      const client = world.connect(named("gRPC Go")).of(listener.typeUrl);
      expect(begin(world, client, name).flatMap(({ names }) => names)).toEqual([]);
      world.clock.advance(3_600_000);
      world.put(listener.typeUrl, name, "1");
      expect(acceptAll(world, client)).toMatchObject([{ names: [name] }]);
      world.remove(listener.typeUrl, name);
      expect(acceptAll(world, client)).toMatchObject([{ names: [] }]);
      world.put(listener.typeUrl, name, "2");
      expect(acceptAll(world, client)).toMatchObject([{ names: [name] }]);
    },
  },
  {
    rules: ["C-GRPC-18", "S-ACK-8"],
    title:
      "reject a cluster with another config source than ads or self; the server shows it, keeps the others going, and sends the correction",
    variants,
    world,
    run(world) {
      world.put(cluster.typeUrl, "c", "eds_config: path");
      const peer = world.connect(named("gRPC Go"));
      const client = peer.of(cluster.typeUrl);
      client.subscribe("c");
      world.run();
      client.nack(client.next(), "EDS config source is not ADS or self");
      world.run();
      expect(client.rest()).toEqual([]);
      expect(world.status()[0]?.types[0]).toMatchObject({
        state: "NACKED",
        lastError: { message: "EDS config source is not ADS or self" },
      });
      world.put(clusterLoadAssignment.typeUrl, "c");
      expect(begin(world, peer.of(clusterLoadAssignment.typeUrl), "c")).toMatchObject([
        { names: ["c"] },
      ]);
      world.put(cluster.typeUrl, "c", "eds_config: ads");
      expect(acceptAll(world, client)).toMatchObject([
        { resources: [{ text: "eds_config: ads" }] },
      ]);
    },
  },
]);
