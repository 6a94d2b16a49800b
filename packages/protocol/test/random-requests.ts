import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  type DeltaDiscoveryRequest,
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
} from "@xdstp/protos/discovery";
import { concatBytes } from "@xdstp/core/wire";
import type { VariantName } from "../src/wire/request-fields.ts";
import type { Random } from "./random.ts";

const types = [
  "",
  "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  "type.googleapis.com/a.B",
  `type.googleapis.com/${"long.".repeat(40)}T`,
  "typ\u00e9",
];
const names = [
  "",
  "*",
  "a",
  "xdstp://authority/envoy.config.cluster.v3.Cluster/some/cluster?a=1&b=2",
  "n\u00e4me",
  "x".repeat(127),
  "x".repeat(128),
  "x".repeat(20_000),
];
const nonces = [
  "",
  "0",
  "7",
  "42",
  "1000000",
  "999999999999999",
  "1000000000000000",
  "007",
  "-1",
  "1.5",
  "x1",
  "\u0661",
];
const versions = ["", "1", "v17", "0123456789abcdef0123456789abcdef", "\u00fc"];
const node = {
  id: "node-1",
  cluster: "front",
  extensions: [
    {
      name: "envoy.filters.http.router",
      category: "envoy.filters.http",
      typeUrls: ["envoy.extensions.filters.http.router.v3.Router"],
    },
    { name: "second" },
  ],
  clientFeatures: ["xds.config.resource-in-sotw"],
};
const locator = { name: "n", dynamicParameters: { a: "1" } };
const error = { code: 3, message: "rejected" };

const piecesOf = <Desc extends DescMessage>(
  schema: Desc,
  inits: readonly MessageInitShape<Desc>[],
): readonly Uint8Array[] => inits.map((init) => toBinary(schema, create(schema, init)));

/**
 * Encoded requests of one field each, by field, in the order of field numbers. Joined, they form
 * whole messages.
 */
const pieces: Readonly<Record<VariantName, readonly (readonly Uint8Array[])[]>> = {
  sotw: [
    piecesOf(
      DiscoveryRequestSchema,
      versions.map((versionInfo) => ({ versionInfo })),
    ),
    piecesOf(DiscoveryRequestSchema, [{ node }, { node: {} }, { node: { id: "other" } }]),
    piecesOf(
      DiscoveryRequestSchema,
      names.map((name) => ({ resourceNames: [name] })),
    ),
    piecesOf(
      DiscoveryRequestSchema,
      types.map((typeUrl) => ({ typeUrl })),
    ),
    piecesOf(
      DiscoveryRequestSchema,
      nonces.map((responseNonce) => ({ responseNonce })),
    ),
    piecesOf(DiscoveryRequestSchema, [{ errorDetail: error }, { errorDetail: {} }]),
    piecesOf(DiscoveryRequestSchema, [{ resourceLocators: [locator] }]),
  ],
  delta: [
    piecesOf(DeltaDiscoveryRequestSchema, [{ node }, { node: {} }, { node: { id: "other" } }]),
    piecesOf(
      DeltaDiscoveryRequestSchema,
      types.map((typeUrl) => ({ typeUrl })),
    ),
    piecesOf(
      DeltaDiscoveryRequestSchema,
      names.map((name) => ({ resourceNamesSubscribe: [name] })),
    ),
    piecesOf(
      DeltaDiscoveryRequestSchema,
      names.map((name) => ({ resourceNamesUnsubscribe: [name] })),
    ),
    piecesOf(DeltaDiscoveryRequestSchema, [{ initialResourceVersions: { a: "1" } }]),
    piecesOf(
      DeltaDiscoveryRequestSchema,
      nonces.map((responseNonce) => ({ responseNonce })),
    ),
    piecesOf(DeltaDiscoveryRequestSchema, [{ errorDetail: error }, { errorDetail: {} }]),
    piecesOf(DeltaDiscoveryRequestSchema, [{ resourceLocatorsSubscribe: [locator] }]),
    piecesOf(DeltaDiscoveryRequestSchema, [{ resourceLocatorsUnsubscribe: [locator] }]),
  ],
};

/** The fields of an ACK, as indices into {@link pieces}. */
const ackFields: Readonly<Record<VariantName, readonly number[]>> = {
  sotw: [0, 2, 3, 4],
  delta: [1, 5],
};
/**
 * An empty single field, unknown fields of the other wire types, groups, overlong tags and lengths.
 * No known field has another wire type, since @bufbuild/protobuf would read it as if it had its
 * own.
 */
const oddities: readonly Uint8Array[] = [
  [0x12, 0],
  [0x2a, 0],
  [0x32, 0],
  [0x78, 1],
  [0x7d, 1, 2, 3, 4],
  [0x79, 1, 2, 3, 4, 5, 6, 7, 8],
  [0x7b, 0x7c],
  [0x82, 1, 1, 65],
  [0x9a, 0, 1, 65],
  [0x1a, 0x81, 0, 65],
  [0x02, 0],
  [0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x7a, 1, 65],
].map((bytes) => Uint8Array.from(bytes));

/** A request: mostly an ACK in canonical order, sometimes any fields in any order. */
export function randomRequest(random: Random, variant: VariantName): Uint8Array {
  const ack = random.chance(0.6);
  const parts = pieces[variant].flatMap((choices, index) => {
    const usual = ackFields[variant].includes(index);
    if (!random.chance(ack ? Number(usual) * 0.9 : 0.4)) return [];
    const repeats = variant === "sotw" && index === 2 ? random.int(4) : 1;
    return Array.from({ length: repeats }, () => random.pick(choices));
  });
  if (random.chance(0.15))
    parts.splice(random.int(parts.length + 1), 0, random.pick(random.pick(pieces[variant])));
  if (random.chance(0.1)) parts.splice(random.int(parts.length + 1), 0, random.pick(oddities));
  if (random.chance(0.2)) parts.sort(() => random.int(3) - 1);
  return concatBytes(parts);
}

/** A request; in a third of the cases with bytes that are changed, cut off, inserted or removed. */
export function randomMessage(random: Random, variant: VariantName): Uint8Array {
  const message = randomRequest(random, variant);
  if (!random.chance(1 / 3)) return message;
  const at = random.int(message.length + 1);
  const near = random.chance(0.5) ? Math.min(at, random.int(8)) : at;
  switch (random.int(4)) {
    case 0:
      return message.subarray(0, at);
    case 1:
      return concatBytes([
        message.subarray(0, near),
        Uint8Array.of(random.int(256)),
        message.subarray(near),
      ]);
    case 2:
      return concatBytes([message.subarray(0, near), message.subarray(near + 1 + random.int(3))]);
    default:
      return message.map((byte, index) =>
        index === near || random.chance(0.001) ? random.int(256) : byte,
      );
  }
}

/**
 * Decodes a message in full. undefined: that fails. For changed bytes it accepts more than a strict
 * decoder: @bufbuild/protobuf lets a nested field run beyond the end of its message.
 */
export function decodeDelta(message: Uint8Array): DeltaDiscoveryRequest | undefined {
  try {
    return fromBinary(DeltaDiscoveryRequestSchema, message);
  } catch {
    return undefined;
  }
}
