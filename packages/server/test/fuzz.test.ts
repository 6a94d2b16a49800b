import { once } from "node:events";
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer, type XdsServer } from "../src/index.ts";
import { createClient, payload, readResponse, type TestClient } from "./client.ts";
import { connectTo, openCall, requestsOf, type GrpcCall } from "./grpc-call.ts";
import { paths, readyCache, types, variants, type VariantName } from "./harness.ts";

/**
 * Bad input against a real server on loopback: a message ends at most its stream, a frame or header block at most its connection,
 * nobody else notices, and memory returns to its base. A third of the inputs each; 1,000,000 at XDSTP_SCALE=1.
 */
const total = Math.round(1_000_000 * Number(process.env.XDSTP_SCALE ?? "0.01"));
const share = Math.max(100, Math.round(total / 3));
const seed = Number(process.env.XDSTP_SEED ?? Math.floor(Math.random() * 0x7fff_ffff));

/** Random whole numbers below a bound; the same seed gives the same ones (mulberry32). */
function createRandom(from: number): (below: number) => number {
  let state = from;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const random = createRandom(seed);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
const noise = (most: number): Buffer => Buffer.from(Array.from({ length: random(most) }, () => random(256)));

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const cache = readyCache();
let server: XdsServer;
let port = 0;
/** A connection of its own that must notice nothing. */
let witness: { readonly call: GrpcCall; readonly client: TestClient };
let round = 0;
/** What the server itself threw. */
const faults: unknown[] = [];

async function nextFor(call: GrpcCall): Promise<ReturnType<typeof readResponse>> {
  const bytes = await call.next();
  if (bytes === undefined) throw new Error(`seed ${seed}: the witness lost its stream: ${JSON.stringify(await call.status)}`);
  return readResponse(bytes, "delta");
}

/** A change reaches the witness, on the stream that it had from the beginning. */
async function witnessSees(): Promise<void> {
  round++;
  cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", String(round)) });
  const response = await nextFor(witness.call);
  expect({ seed, names: response.names }).toEqual({ seed, names: ["a"] });
  witness.client.ack(response);
}

/** Nothing is left of those who sent garbage. */
async function quiet(): Promise<void> {
  while (server.stats().wire.connections > 1 || server.status().length > 1) await new Promise((resolve) => { setImmediate(resolve); });
}

function memory(): number {
  for (let i = 0; i < 3; i++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Runs a batch some times; memory after all of it is that after the first fifth, but for a little. */
async function soak(batches: number, batch: () => Promise<void>): Promise<void> {
  let base = 0;
  for (let i = 0; i < batches; i++) {
    await batch();
    await witnessSees();
    if (i !== Math.floor(batches / 5)) continue;
    await quiet();
    base = memory();
  }
  await quiet();
  const grown = memory() - base;
  expect({ seed, grown: grown > Math.max(4 << 20, base * 0.05) ? grown : "little" }).toEqual({ seed, grown: "little" });
  expect({ seed, faults }).toEqual({ seed, faults: [] });
}

beforeAll(async () => {
  cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
  // Garbage gets no pause here: what is tested is what it does, not how much of it is let in.
  server = createServer({ source: cache, limits: { changeBurst: 1_000_000_000, minPingIntervalMs: 1, firstSyncMs: 50 } });
  server.events((event) => { if (event.kind === "fault") faults.push(event.error); });
  ({ port } = await server.listen({ port: 0 }));
  const call = openCall(await connectTo(port), paths["delta/ads"]);
  witness = { call, client: createClient(requestsOf(call), "delta") };
  witness.client.ask(types.cluster, ["a"]);
  witness.client.ack(await nextFor(call));
});

afterAll(async () => {
  await server.close({ graceMs: 1 });
});

/** A message that a client could send. */
function goodMessage(variant: VariantName): Uint8Array {
  const names = Array.from({ length: random(6) }, () => pick(["a", "b", "*", "", "xdstp://x/t/*", "xdstp://a/t/n?k=v", "\u{1f600}"]));
  const node = { id: pick(["n", ""]), cluster: "c", userAgentName: pick(["envoy", "gRPC Go", ""]), metadata: { a: 1 } };
  const typeUrl = pick([types.cluster, types.cluster, types.listener, types.own, ""]);
  const errorDetail = random(4) === 0 ? { errorDetail: { code: random(20), message: "no" } } : {};
  const responseNonce = pick(["", "1", "9007199254740993", "x"]);
  return variant.startsWith("delta")
    ? toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, { node, typeUrl, responseNonce, ...errorDetail, resourceNamesSubscribe: names, resourceNamesUnsubscribe: names.slice(random(3)), initialResourceVersions: { a: "1" }, resourceLocatorsSubscribe: [{ name: "a", dynamicParameters: { k: "v" } }] }))
    : toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node, typeUrl, responseNonce, ...errorDetail, resourceNames: names, versionInfo: pick(["", "1"]) }));
}

/** The same with some bytes changed, cut, doubled or nested, or bytes that never were a message. */
function badMessage(variant: VariantName): Uint8Array {
  const message = Buffer.from(goodMessage(variant));
  const at = random(message.length + 1);
  switch (random(6)) {
    case 0: return noise(64);
    case 1: return message.subarray(0, at);
    case 2: return Buffer.concat([message.subarray(0, at), noise(8), message.subarray(at)]);
    case 3: return Buffer.concat([message, message]);
    case 4: return Buffer.concat([Buffer.alloc(random(200), 0x0b), message]);
    default:
      for (let i = 0; i <= random(4); i++) if (message.length > 0) message[random(message.length)] = random(256);
      return message;
  }
}

function enveloped(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(random(50) === 0 ? random(0xffff_ffff) : message.length, 1);
  if (random(50) === 0) head[0] = random(256);
  return Buffer.concat([head, message]);
}

/** Sends messages on one stream; the stream may end, the session must not. */
async function badStream(session: ClientHttp2Session, variant: VariantName, messages: number): Promise<void> {
  const call: ClientHttp2Stream = session.request({ ":method": "POST", ":path": paths[variant], "content-type": "application/grpc", te: "trailers" });
  call.on("error", () => undefined).resume();
  for (let i = 0; i < messages && !call.destroyed; i++) call.write(enveloped(i === 0 && random(2) === 0 ? goodMessage(variant) : badMessage(variant)));
  if (random(4) === 0) call.close(random(14));
  else call.end();
  if (!call.closed) await once(call, "close");
}

describe(`a server under garbage, seed ${seed}`, () => {
  it(`loses a stream at most over ${share} bad messages: its neighbours on the connection are served on [S-STREAM-7]`, async () => {
    const perBatch = 100;
    await soak(Math.max(5, Math.ceil(share / perBatch)), async () => {
      const session = await connectTo(port);
      const neighbour = openCall(session, paths["delta/ads"]);
      await Promise.all(Array.from({ length: perBatch / 5 }, async () => badStream(session, pick(variants), 5)));
      createClient(requestsOf(neighbour), "delta").ask(types.cluster, ["a"]);
      expect((await nextFor(neighbour)).names).toEqual(["a"]);
      session.destroy();
    });
  });

  it(`loses a connection at most over ${share} bad frames [S-STREAM-7]`, async () => {
    await soak(Math.max(5, Math.ceil(share / 200)), async () => {
      await Promise.all(Array.from({ length: 20 }, async () => sendRaw(port, Array.from({ length: 10 }, badFrame))));
    });
  });

  it(`loses a connection at most over ${share} bad header blocks [S-STREAM-7]`, async () => {
    await soak(Math.max(5, Math.ceil(share / 200)), async () => {
      await Promise.all(Array.from({ length: 20 }, async () => sendRaw(port, Array.from({ length: 10 }, (_, i) => badHeaders(2 * i + 1)))));
    });
  });

  it("serves whoever comes afterwards, in each variant", async () => {
    for (const variant of variants) {
      const session = connectHttp2(`http://127.0.0.1:${port}`);
      const call = openCall(session, paths[variant]);
      createClient(requestsOf(call), variant.startsWith("delta") ? "delta" : "sotw").ask(types.cluster, ["a"]);
      expect(readResponse(await call.next() ?? new Uint8Array(0), variant.startsWith("delta") ? "delta" : "sotw").names).toEqual(["a"]);
      session.destroy();
    }
  });
});

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Sends frames on a connection of their own and ends it, in one of the ways in which connections end. */
async function sendRaw(to: number, frames: readonly Buffer[]): Promise<void> {
  const socket: Socket = connect(to, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  const closed = new Promise((resolve) => { socket.once("close", resolve); });
  await Promise.race([once(socket, "connect"), closed]);
  const bytes = Buffer.concat([preface, frame(4, 0, 0, Buffer.alloc(0)), ...frames]);
  socket.write(random(20) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes);
  if (random(3) === 0) socket.resetAndDestroy();
  else socket.end();
  await closed;
}

function frame(type: number, flags: number, stream: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(random(100) === 0 ? random(0xff_ffff) : body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

const goodHeaders = (path: string): Buffer => Buffer.from([0x83, 0x86, 0x04, path.length, ...Buffer.from(path), 0x01, 1, 0x61, 0x0f, 0x10, 16, ...Buffer.from("application/grpc")]);

/** A frame of any type with any flags, a whole call among them so that some frames meet an open stream. */
function badFrame(): Buffer {
  const stream = pick([0, 1, 1, 3, 5, 0x7fff_ffff]);
  switch (random(6)) {
    case 0: return frame(1, 4, 1, goodHeaders(paths["delta/ads"]));
    case 1: return frame(0, random(2), 1, enveloped(badMessage("delta/ads")));
    case 2: return frame(3, 0, stream, Buffer.from([0, 0, 0, random(14)]));
    case 3: return frame(8, 0, stream, noise(9));
    default: return frame(random(14), random(256), stream, noise(48));
  }
}

/** A header block that is broken as HPACK, as HTTP or as gRPC, now and then in pieces. */
function badHeaders(stream: number): Buffer {
  const path = pick([paths["sotw/ads"], "", "/", "a/b", "/a//b", "/a/%62", "/../a", "*", "x".repeat(100)]);
  const block = Buffer.concat([goodHeaders(path), pick([Buffer.alloc(0), noise(40), Buffer.from([0x40, 3, 0x58, 0x2d, 0x59, 1, 0]), Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])])]);
  if (random(3) === 0) block[random(block.length)] = random(256);
  if (random(3) > 0) return frame(1, 4 | random(2), stream, block);
  const at = random(block.length);
  const rest = random(4) === 0 ? badFrame() : frame(9, random(4) === 0 ? 0 : 4, stream, block.subarray(at));
  return Buffer.concat([frame(1, 0, stream, block.subarray(0, at)), rest]);
}
