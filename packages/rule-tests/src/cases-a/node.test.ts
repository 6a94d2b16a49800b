import { create, toBinary } from "@bufbuild/protobuf";
import { StatusCode } from "@xdstp/core";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
  NodeSchema,
} from "@xdstp/protos/discovery";
import { clientQuirks } from "@xdstp/server";
import { expect } from "vitest";
import { FULL, OTHER_FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { adsVariants, isDelta, sotwVariants } from "../harness/variant.ts";
import type { OpenStream } from "../harness/peer.ts";
import type { World } from "../harness/create-world.ts";

/** Opens a stream whose client sends no node but what the case says. */
function open(
  world: World,
  typeUrl: string,
): OpenStream & {
  readonly send: (request: { typeUrl: string; node?: object; responseNonce?: string }) => void;
} {
  const raw = isDelta(world.variant)
    ? world.openDelta(typeUrl, { node: null })
    : world.openSotw(typeUrl, { node: null });
  return {
    ...raw,
    send(request) {
      raw.client.send(request);
    },
  };
}

/** A node of 61 KB, nearly all of it extensions, in which nothing can be decoded. */
const extensions = concatBytes(
  Array.from({ length: 61 }, () => lengthDelimited(9, new Uint8Array(1_000).fill(0xff))),
);

/** An encoded request whose node has these extensions. */
function requestOf(
  world: World,
  request: { readonly typeUrl: string; readonly responseNonce?: string },
): Uint8Array {
  const node = concatBytes([toBinary(NodeSchema, create(NodeSchema, { id: "n" })), extensions]);
  if (isDelta(world.variant))
    return concatBytes([
      toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request)),
      lengthDelimited(1, node),
    ]);
  return concatBytes([
    toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request)),
    lengthDelimited(2, node),
  ]);
}

runCases("the node", [
  {
    rules: ["S-NODE-2"],
    title: "holds from the first message on for all types of the stream, also after a NACK",
    variants: adsVariants,
    world: { quirks: clientQuirks },
    run(world) {
      world.put(FULL, "a");
      world.put(OTHER_PART, "b");
      const peer = world.connect({ node: { id: "n", userAgentName: "gRPC Go" } });
      peer.of(FULL).subscribe("a");
      world.run();
      peer.of(FULL).nack(peer.of(FULL).next(), "no");
      peer.of(OTHER_PART).subscribe(); // to a gRPC client an empty list is not a wildcard [S-WILD-6]
      world.put(OTHER_PART, "c");
      world.run();
      expect(
        peer
          .of(OTHER_PART)
          .rest()
          .flatMap(({ names }) => names),
      ).toEqual([]);
    },
  },
  {
    rules: ["S-NODE-2"],
    title: "switches wrapping on for every type of the stream",
    variants: ["sotw/ads"],
    run(world) {
      world.put(FULL, "xdstp://a/test.Full/x");
      world.put(PART, "xdstp://a/test.Part/x");
      const peer = world.connect({
        node: { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] },
      });
      peer.of(FULL).subscribe("xdstp://a/test.Full/%78");
      peer.of(PART).subscribe("xdstp://a/test.Part/%78");
      world.run();
      expect(peer.of(FULL).next().resources).toMatchObject([
        { name: "xdstp://a/test.Full/%78", wrapped: true },
      ]);
      expect(peer.of(PART).next().resources).toMatchObject([
        { name: "xdstp://a/test.Part/%78", wrapped: true },
      ]);
    },
  },
  {
    rules: ["S-NODE-2"],
    title: "must come with the first message",
    run(world) {
      const { stream, send } = open(world, FULL);
      send({ typeUrl: FULL });
      expect(stream.closed?.code).toBe(StatusCode.INVALID_ARGUMENT);
    },
  },
  {
    rules: ["S-NODE-2", "S-NODE-6"],
    title: "may be empty: without an id and without any field",
    run(world) {
      world.put(FULL, "a");
      const peer = world.connect({ node: {} });
      peer.of(FULL).subscribe("a");
      world.run();
      expect(peer.of(FULL).next().names).toEqual(["a"]);
      expect(peer.streamOf(FULL).stream.closed).toBeUndefined();
    },
  },
  {
    rules: ["S-NODE-3"],
    title: "may come again with the same id and cluster, whatever else it says",
    run(world) {
      world.put(FULL, "a");
      const { stream, send } = open(world, FULL);
      send({ typeUrl: FULL, node: { id: "n", cluster: "c" } });
      world.run();
      send({
        typeUrl: FULL,
        node: {
          id: "n",
          cluster: "c",
          userAgentName: "x",
          dynamicParameters: { [FULL]: { params: { k: "v" } } },
        },
      });
      expect(stream.closed).toBeUndefined();
    },
  },
  {
    rules: ["S-NODE-3", "S-NODE-2"],
    title:
      "may come again with other dynamic parameters, which replace the earlier ones; all else stays as it was said first",
    run(world) {
      const { send } = open(world, FULL);
      const params = (...pairs: readonly [string, string][]): object => ({
        [FULL]: { params: Object.fromEntries(pairs) },
      });
      const say = (node: object): unknown => {
        send({ typeUrl: FULL, node });
        return world.status()[0]?.node;
      };
      expect(say({ id: "n", dynamicParameters: params(["k", "1"], ["l", "1"]) })).toMatchObject({
        id: "n",
        dynamicParameters: { [FULL]: { k: "1", l: "1" } },
      });
      const second = say({
        id: "n",
        userAgentName: "other",
        dynamicParameters: params(["k", "2"]),
      });
      expect(second).toMatchObject({
        userAgentName: "",
        dynamicParameters: { [FULL]: { k: "2" } },
      });
      expect(second).not.toHaveProperty(["dynamicParameters", FULL, "l"]);
      send({ typeUrl: FULL });
      expect(world.status()[0]?.node).toBe(second);
      expect(say({ id: "n", dynamicParameters: params(["k", "2"]) })).toBe(second);
      expect(say({ id: "n" })).not.toHaveProperty("dynamicParameters");
    },
  },
  {
    rules: ["S-LIM-4"],
    title: "must not be longer than a limit with its dynamic parameters",
    run(world) {
      const { stream, send } = open(world, FULL);
      send({
        typeUrl: FULL,
        node: { id: "n", dynamicParameters: { [FULL]: { params: { k: "x".repeat(20_000) } } } },
      });
      expect(stream.closed?.code).toBe(StatusCode.RESOURCE_EXHAUSTED);
    },
  },
  ...(
    [
      ["id", { id: "other", cluster: "c" }],
      ["cluster", { id: "n", cluster: "other" }],
    ] as const
  ).map(([what, node]) => ({
    rules: ["S-NODE-3"],
    title: `must not come again with another ${what}`,
    run(world: World): void {
      const { stream, send } = open(world, FULL);
      send({ typeUrl: FULL, node: { id: "n", cluster: "c" } });
      expect(stream.closed).toBeUndefined();
      send({ typeUrl: FULL, node });
      expect(stream.closed?.code).toBe(StatusCode.INVALID_ARGUMENT);
    },
  })),
  {
    rules: ["S-NODE-3"],
    title: "must not change with an ACK either",
    run(world) {
      world.put(FULL, "a");
      const { stream, send } = open(world, FULL);
      send({ typeUrl: FULL, node: { id: "n" } });
      world.run();
      expect(stream.unread).toBe(1);
      const nonce = world.status()[0]?.types[0]?.nonceSent ?? "";
      send({ typeUrl: FULL, responseNonce: nonce, node: { id: "other" } });
      expect(stream.closed?.code).toBe(StatusCode.INVALID_ARGUMENT);
    },
  },
  ...["xds.config.supports-resource-in-sotw", "xds.config.resource-in-sotw"].map((feature) => ({
    rules: ["S-NODE-6"],
    title: `switches wrapping on by ${feature}`,
    variants: sotwVariants,
    run(world: World): void {
      world.put(OTHER_FULL, "xdstp://a/test.OtherFull/x");
      const client = world.connect({ node: { id: "n", clientFeatures: [feature] } }).of(OTHER_FULL);
      client.subscribe("xdstp://a/test.OtherFull/%78");
      world.run();
      expect(client.next().resources).toMatchObject([
        { name: "xdstp://a/test.OtherFull/%78", wrapped: true },
      ]);
    },
  })),
  {
    rules: ["S-NODE-6"],
    title: "is not wrapped for without the feature",
    variants: sotwVariants,
    run(world) {
      world.put(OTHER_FULL, "xdstp://a/test.OtherFull/x");
      const client = world
        .connect({ node: { id: "n", clientFeatures: ["xds.config.supports-resource-ttl"] } })
        .of(OTHER_FULL);
      client.subscribe("xdstp://a/test.OtherFull/%78");
      world.run();
      expect(client.next().resources).toMatchObject([{ wrapped: false }]);
    },
  },
  {
    rules: ["S-NODE-6"],
    title: "has extensions that are skipped undecoded, in the first message and in an ACK",
    run(world) {
      world.put(FULL, "a", "1");
      const { stream } = open(world, FULL);
      stream.send(requestOf(world, { typeUrl: FULL }));
      world.run();
      expect(stream.closed).toBeUndefined();
      expect(stream.unread).toBe(1);
      const sent = world.status()[0]?.types[0]?.nonceSent ?? "";
      stream.send(requestOf(world, { typeUrl: FULL, responseNonce: sent }));
      expect(world.status()[0]).toMatchObject({
        node: { id: "n" },
        types: [{ state: "SYNCED", nonceAccepted: sent }],
      });
      expect(JSON.stringify(world.status()[0]?.node).length).toBeLessThan(1_000);
    },
  },
  {
    rules: ["B-NODE-7"],
    title: "does not change what an xdstp name stands for: same version, same bytes",
    run(world) {
      const name = "xdstp://a/test.Part/x?region=eu";
      world.put(PART, name, "1");
      const nodes = [
        { id: "n" },
        {
          id: "m",
          cluster: "c",
          userAgentName: "envoy",
          locality: { region: "us" },
          clientFeatures: ["xds.config.supports-resource-in-sotw"],
        },
      ];
      const answers = nodes.map((node) => {
        const client = world.connect({ node }).of(PART);
        client.subscribe(name);
        world.run();
        return client.next();
      });
      const [one, other] = answers;
      expect(one?.names).toEqual([name]);
      expect(other?.version).toBe(one?.version);
      expect(other?.resources).toEqual(one?.resources);
    },
  },
  {
    rules: ["B-NODE-9"],
    title: "of the server is named in each response, also an empty one",
    world: { controlPlane: "cp-1" },
    run(world) {
      const client = world.connect().of(FULL);
      client.subscribe();
      world.run();
      const empty = client.next();
      expect(empty).toMatchObject({ names: [], controlPlane: "cp-1" });
      client.ack(empty);
      world.put(FULL, "a");
      world.run();
      expect(client.next()).toMatchObject({ names: ["a"], controlPlane: "cp-1" });
    },
  },
  {
    rules: ["B-NODE-9"],
    title: "of the server is left out where it has no name",
    run(world) {
      const client = world.connect().of(FULL);
      client.subscribe();
      world.run();
      expect(client.next().controlPlane).toBeUndefined();
    },
  },
]);
