import { create, toBinary } from "@bufbuild/protobuf";
import { StatusCode, type Status } from "@xdstp/core";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServerStats } from "../src/index.ts";
import { createDice } from "./dice.ts";
import { badEnvelope, badFrame, badHeaders, badMessage, type FuzzFrame } from "./fuzz-inputs.ts";
import { kindOf, openFuzzServers, type FuzzServers, type FuzzTarget } from "./fuzz-servers.ts";
import { paths, types, variants, type VariantName } from "./harness.ts";
import {
  callFrame,
  dataFrame,
  enveloped,
  openRaw,
  opening,
  ping,
  type RawAnswers,
} from "./raw-http2.ts";

/**
 * Bad input against real servers on loopback, with and without TLS: a message ends at most its stream, a frame or header block at most its
 * connection, nobody else notices, and memory returns to its base. A third of the inputs each; 400,000 at XDSTP_SCALE=1.
 *
 * Only what has arrived counts: of messages what the servers have counted; of frames and header blocks those after which a PING was
 * answered, or which have ended their connection.
 */
const total = Math.round(400_000 * Number(process.env.XDSTP_SCALE ?? "0.01"));
const share = Math.max(100, Math.ceil(total / 3));
const seed = Number(process.env.XDSTP_SEED ?? Math.floor(Math.random() * 0x7fff_ffff));
const dice = createDice(seed);
const n = (value: number): string => value.toLocaleString("en");

let servers: FuzzServers;
beforeAll(async () => {
  servers = await openFuzzServers(seed);
});
afterAll(async () => {
  await servers.close();
});

/**
 * Uses the connections. One in twelve, and at least the first, uses TLS, because a TLS handshake
 * takes as long as several other connections.
 */
async function onConnections(
  connections: number,
  use: (target: FuzzTarget) => Promise<void>,
): Promise<void> {
  const {
    targets: [plain, tls],
  } = servers;
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => use(i % 12 === 0 ? tls : plain)),
  );
}

describe(`servers under garbage, seed ${seed}`, () => {
  it(`lose a stream at most over each of ${n(share)} bad messages: their neighbours on the connection are served on [S-STREAM-7]`, async () => {
    const [ended, connections, overTls] = [
      countEnded(),
      countOpened(servers.targets),
      countOpened([servers.targets[1]]),
    ];
    const before = {
      acks: servers.acks,
      received: servers.counted(received),
      lies: servers.counted(badEnvelopes),
    };
    const sent: SentMessages = { good: 0, bad: 0, lies: 0 };
    await servers.soak(share, async () => {
      const arrived = sent.bad + sent.lies;
      await onConnections(6, async (target) => messagesOn(target, sent));
      return sent.bad + sent.lies - arrived;
    });
    const others = sent.good + servers.acks - before.acks;
    const [bad, lies] = [
      servers.counted(received) - before.received - others,
      servers.counted(badEnvelopes) - before.lies,
    ];
    console.log(
      `fuzz, seed ${seed}: ${n(bad)} bad messages reached a handler, and ${n(lies)} bad envelopes a reader, one per stream, on ${n(connections())} connections, ${n(overTls())} of them over TLS: ${n(ended())} ended their stream with an error, none a connection`,
    );
    expect({ seed, bad, lies }).toEqual({ seed, bad: sent.bad, lies: sent.lies });
  });

  it(`lose a connection at most over each of ${n(share)} bad frames [S-STREAM-7]`, async () => {
    await fuzzConnections("frames", (stream) => badFrame(dice, stream));
  });

  it(`lose a connection at most over each of ${n(share)} bad header blocks [S-STREAM-7]`, async () => {
    await fuzzConnections("header blocks", (stream) => ({
      bytes: badHeaders(dice, stream),
      short: false,
    }));
  });

  it.each(variants)("serve whoever comes afterwards (%s)", async (variant) => {
    for (const target of servers.targets) await servers.serves(target, variant);
  });
});

const received = (wire: ServerStats["wire"]): number => wire.messagesReceived;
const badEnvelopes = ({ cuts }: ServerStats["wire"]): number =>
  (cuts.malformed ?? 0) + (cuts.compressed ?? 0) + (cuts["too-large"] ?? 0);

/** Counts the connections that the servers accept from now on. */
function countOpened(targets: readonly FuzzTarget[]): () => number {
  const opened = (): number =>
    targets.reduce((sum, { server }) => sum + server.stats().wire.connectionsOpened, 0);
  const before = opened();
  return () => opened() - before;
}

/** Counts the streams that the servers end with an error from now on. */
function countEnded(): () => number {
  let ended = 0;
  const byServer = ({ code }: Status): boolean =>
    code !== StatusCode.OK && code !== StatusCode.UNAVAILABLE && code !== StatusCode.CANCELLED;
  const stops = servers.targets.map(({ server }) =>
    server.events((event) => {
      if (event.kind === "stream-closed" && byServer(event.status)) ended++;
    }),
  );
  return () => {
    for (const stop of stops) stop();
    return ended;
  };
}

const asks: Readonly<Record<"delta" | "sotw", Buffer>> = {
  delta: enveloped(
    toBinary(
      DeltaDiscoveryRequestSchema,
      create(DeltaDiscoveryRequestSchema, {
        node: { id: "n" },
        typeUrl: types.cluster,
        resourceNamesSubscribe: ["a"],
      }),
    ),
  ),
  sotw: enveloped(
    toBinary(
      DiscoveryRequestSchema,
      create(DiscoveryRequestSchema, {
        node: { id: "n" },
        typeUrl: types.cluster,
        resourceNames: ["a"],
      }),
    ),
  ),
};

/**
 * The messages that were sent: good ones, bad ones, and those whose envelope does not match them.
 */
interface SentMessages {
  good: number;
  bad: number;
  lies: number;
}

const waves = 4;
const perWave = 20;

/**
 * Opens streams with one bad message each. A stream that was opened before them must be served when
 * all of them have ended.
 */
async function messagesOn(target: FuzzTarget, sent: SentMessages): Promise<void> {
  const connection = openRaw(target);
  const until = async (enough: (answers: RawAnswers) => boolean): Promise<void> => {
    expect({ seed, alive: await connection.until(enough) }).toEqual({ seed, alive: true });
  };
  connection.write(Buffer.concat([opening, callFrame(1, paths["delta/ads"]), ping]));
  await until(({ pongs }) => pongs === 1);
  for (let wave = 0; wave < waves; wave++) {
    connection.write(
      Buffer.concat(
        Array.from({ length: perWave }, (_, i) =>
          badCall(2 * (wave * perWave + i) + 3, dice.pick(variants), sent),
        ),
      ),
    );
    await until(({ ended }) => ended >= (wave + 1) * perWave);
  }
  connection.write(dataFrame(1, asks.delta, false));
  sent.good++;
  await until(({ served }) => served);
  connection.cut();
  await connection.closed;
}

/** Opens a call with one bad message, sometimes after a good one. */
function badCall(stream: number, variant: VariantName, sent: SentMessages): Buffer {
  const [behind, lie] = [dice.below(2) === 0, dice.below(25) === 0];
  if (behind) sent.good++;
  if (lie) sent.lies++;
  else sent.bad++;
  const message = badMessage(dice, variant);
  const good = behind ? [dataFrame(stream, asks[kindOf(variant)], false)] : [];
  return Buffer.concat([
    callFrame(stream, paths[variant]),
    ...good,
    dataFrame(stream, lie ? badEnvelope(dice, message) : enveloped(message), true),
  ]);
}

/** The results of the connections with bad frames or header blocks. */
interface Ends {
  connections: number;
  arrived: number;
  /** The connections that an input has ended, and the streams that the server has. */
  ended: number;
  streams: number;
}

/**
 * Sends bad inputs whose effect must stay within their connection. `next` returns the bytes for a
 * stream.
 */
async function fuzzConnections(what: string, next: (stream: number) => FuzzFrame): Promise<void> {
  const [opened, overTls] = [countOpened(servers.targets), countOpened([servers.targets[1]])];
  const ends: Ends = { connections: 0, arrived: 0, ended: 0, streams: 0 };
  await servers.soak(share, async () => {
    const { arrived } = ends;
    await onConnections(48, async (target) => {
      ends.connections++;
      if (dice.below(20) === 0) await brokenOff(target, next);
      else await badConnection(target, next, ends);
    });
    return ends.arrived - arrived;
  });
  console.log(
    `fuzz, seed ${seed}: ${n(ends.arrived)} bad ${what} reached a session, on ${n(ends.connections)} connections, ${n(overTls())} of them over TLS: ${n(ends.ended)} ended their connection, ${n(ends.streams)} streams were ended`,
  );
  // Each connection had a session: if it ended without an answer, the session ended it because of
  // what it had read.
  expect({ seed, opened: opened() }).toEqual({ seed, opened: ends.connections });
}

const perConnection = 4;

/** Opens a connection, usually with a call on stream 1. */
const begin = (): Buffer =>
  Buffer.concat([
    opening,
    ...(dice.below(4) > 0
      ? [callFrame(1, paths["delta/ads"]), dataFrame(1, asks.delta, false)]
      : []),
  ]);

/**
 * Sends bad inputs on one connection until one of them ends it. A PING follows each input, and the
 * next input is sent when the PING is answered.
 */
async function badConnection(
  target: FuzzTarget,
  next: (stream: number) => FuzzFrame,
  ends: Ends,
): Promise<void> {
  const connection = openRaw(target);
  connection.write(begin());
  for (let i = 0, going = true; going && i < perConnection; i++) {
    const { bytes, short } = next(2 * i + 3);
    connection.write(Buffer.concat([bytes, ping]));
    // It may swallow the PING: then only the end tells, and only an error that it has arrived.
    if (short) connection.end();
    const alive = await connection.until(({ pongs }) => pongs > i);
    const fatal = !alive && (connection.answers.rejected || !short);
    if (alive || fatal) ends.arrived++;
    if (fatal) ends.ended++;
    going = alive && !short;
  }
  ends.streams += connection.answers.ended;
  if (dice.below(8) === 0) connection.end();
  else connection.cut();
  await connection.closed;
}

/** Opens a connection that ends in the middle of an input. */
async function brokenOff(target: FuzzTarget, next: (stream: number) => FuzzFrame): Promise<void> {
  const connection = openRaw(target);
  const bytes = Buffer.concat([begin(), next(3).bytes]);
  connection.write(bytes.subarray(0, dice.below(bytes.length)));
  connection.end();
  await connection.closed;
}
