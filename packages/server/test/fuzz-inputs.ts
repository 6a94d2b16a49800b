import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import type { Dice } from "./dice.ts";
import { paths, types, type VariantName } from "./harness.ts";
import { callHeaders, dataFrame, enveloped, frame, headerBlock, type Header } from "./raw-http2.ts";

/**
 * A bad frame. With `short`, its length is too small, so that the rest of it and what follows it
 * are read as frames too.
 */
export interface FuzzFrame {
  readonly bytes: Buffer;
  readonly short: boolean;
}

/**
 * Returns a message that a client could send, with some bytes changed, cut, doubled or nested, or
 * bytes that never were a message.
 */
export function badMessage(dice: Dice, variant: VariantName): Uint8Array {
  const good = goodMessage(dice, variant);
  const at = dice.below(good.length + 1);
  switch (dice.below(6)) {
    case 0:
      return dice.noise(64);
    case 1:
      return good.subarray(0, at);
    case 2:
      return Buffer.concat([good.subarray(0, at), dice.noise(8), good.subarray(at)]);
    case 3:
      return Buffer.concat([good, good]);
    case 4:
      return Buffer.concat([Buffer.alloc(dice.below(200), 0x0b), good]);
    default:
      return mutated(dice, good, 1 + dice.below(5));
  }
}

function goodMessage({ below, pick }: Dice, variant: VariantName): Buffer {
  const names = Array.from({ length: below(6) }, () =>
    pick(["a", "b", "*", "", "xdstp://x/t/*", "xdstp://a/t/n?k=v", "\u{1f600}"]),
  );
  const node = {
    id: pick(["n", ""]),
    cluster: "c",
    userAgentName: pick(["envoy", "gRPC Go", ""]),
    metadata: { a: 1 },
  };
  const errorDetail = below(4) === 0 ? { errorDetail: { code: below(20), message: "no" } } : {};
  const common = {
    node,
    typeUrl: pick([types.cluster, types.cluster, types.listener, types.own, ""]),
    responseNonce: pick(["", "1", "9007199254740993", "x"]),
    ...errorDetail,
  };
  if (variant.startsWith("sotw"))
    return Buffer.from(
      toBinary(
        DiscoveryRequestSchema,
        create(DiscoveryRequestSchema, {
          ...common,
          resourceNames: names,
          versionInfo: pick(["", "1"]),
        }),
      ),
    );
  const locators = [{ name: "a", dynamicParameters: { k: "v" } }];
  return Buffer.from(
    toBinary(
      DeltaDiscoveryRequestSchema,
      create(DeltaDiscoveryRequestSchema, {
        ...common,
        resourceNamesSubscribe: names,
        resourceNamesUnsubscribe: names.slice(below(3)),
        initialResourceVersions: { a: "1" },
        resourceLocatorsSubscribe: locators,
      }),
    ),
  );
}

/** Returns a message whose five-byte prefix does not match it. No handler gets it. */
export function badEnvelope({ below, pick }: Dice, message: Uint8Array): Buffer {
  const bytes = enveloped(message);
  if (below(2) === 0) bytes[0] = 1 + below(255);
  else bytes.writeUInt32BE(message.length + 1 + below(pick([100, 0xffff_0000])), 1);
  return bytes;
}

/**
 * Returns a frame of any type, in any form, or in the right form with any contents. `stream` has
 * not begun, and there may be a call on stream 1.
 */
export function badFrame(dice: Dice, stream: number): FuzzFrame {
  const bytes = anyFrame(dice, stream);
  const length = bytes.length - 9;
  const lie = dice.below(50);
  if (lie === 0) bytes.writeUIntBE(0x4001 + dice.below(0xff_0000), 0, 3);
  if (lie === 1 && length > 0) bytes.writeUIntBE(dice.below(length), 0, 3);
  return { bytes, short: lie === 1 && length > 0 };
}

function anyFrame(dice: Dice, stream: number): Buffer {
  const { below, pick, noise } = dice;
  if (below(6) > 0) return fittingFrame(dice, stream);
  return frame(
    below(14),
    below(256),
    pick([0, 1, stream, 0x7fff_ffff]),
    below(2) === 0 ? noise(48) : goodBlock(dice),
  );
}

/** Returns a frame whose flags, stream and length are right; its contents may be wrong. */
function fittingFrame(dice: Dice, stream: number): Buffer {
  const { below, pick, bytes, noise } = dice;
  const code = Buffer.from([0, 0, 0, below(14)]);
  switch (below(9)) {
    case 0:
      return dataFrame(1, enveloped(badMessage(dice, "delta/ads")), below(2) === 1);
    case 1:
      return frame(1, 4 | below(2), stream, goodBlock(dice));
    case 2:
      return frame(2, 0, pick([1, stream]), bytes(5));
    case 3:
      return frame(3, 0, 1, code);
    case 4:
      return frame(4, 0, 0, Buffer.concat([Buffer.from([0, below(10)]), bytes(4)]));
    case 5:
      return frame(6, below(2), 0, bytes(8));
    case 6:
      return frame(7, 0, 0, Buffer.concat([bytes(4), code, noise(20)]));
    case 7:
      return frame(8, 0, pick([0, 1]), bytes(4));
    default:
      return frame(10 + below(246), below(256), pick([0, 1, stream]), noise(48));
  }
}

/** Returns the bytes with a few of them changed, or with none changed. */
function goodBlock(dice: Dice): Buffer {
  return mutated(dice, headerBlock(callHeaders(paths["delta/ads"])), dice.below(3));
}

/**
 * Returns a header block that is invalid as HPACK, as HTTP or as gRPC, sometimes in several frames.
 */
export function badHeaders(dice: Dice, stream: number): Buffer {
  const { below, noise } = dice;
  const block = mutated(dice, headerBlock(brokenHeaders(dice)), below(8) === 0 ? 1 : 0);
  if (below(3) > 0)
    return frame(
      1,
      4 | below(2),
      stream,
      below(8) === 0 ? Buffer.concat([block, noise(40)]) : block,
    );
  const at = below(block.length);
  const rest =
    below(8) === 0
      ? anyFrame(dice, stream)
      : frame(9, below(8) === 0 ? 0 : 4, stream, block.subarray(at));
  return Buffer.concat([frame(1, 0, stream, block.subarray(0, at)), rest]);
}

const oddPaths = ["", "/", "a/b", "/a//b", "/a/%62", "/../a", "*", "x".repeat(100)];
const oddHeaders: readonly Header[] = [
  ["connection", "close"],
  ["te", "gzip"],
  ["grpc-timeout", "1"],
  ["grpc-timeout", "99999999H"],
  ["grpc-encoding", "gzip"],
  ["content-type", "text/html"],
  ["transfer-encoding", "chunked"],
  ["x", "\0"],
];

function brokenHeaders({ below, pick, noise }: Dice): readonly Header[] {
  const headers = [...callHeaders(pick([paths["sotw/ads"], ...oddPaths]))];
  const at = below(headers.length);
  const [name, value] = headers[at] ?? ["", ""];
  const text = noise(40).toString("latin1");
  switch (below(7)) {
    case 0:
      return headers.toSpliced(at, 1);
    case 1:
      return [...headers, [name, value]];
    case 2:
      return headers.with(at, [name, text]);
    case 3:
      return headers.with(at, [text, value]);
    case 4:
      return [...headers.toSpliced(at, 1), [name, value]];
    case 5:
      return [
        ...headers,
        [pick(["x-y", "X-Y", "", ":x", "a b", "content-length", "trailer", text]), text],
      ];
    default:
      return [...headers, pick(oddHeaders)];
  }
}

function mutated({ below }: Dice, bytes: Buffer, times: number): Buffer {
  for (let i = 0; i < times && bytes.length > 0; i++) bytes[below(bytes.length)] = below(256);
  return bytes;
}
