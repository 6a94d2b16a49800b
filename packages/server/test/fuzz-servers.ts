import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { createSecureContext } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ResourceSource } from "@xdstp/core";
import { createTestAuthority, type TestAuthority } from "@xdstp/testing";
import { expect } from "vitest";
import { createServer, type ServerStats, type XdsServer } from "../src/index.ts";
import { createClient, payload, readResponse } from "./client.ts";
import { openCall, requestsOf } from "./grpc-call.ts";
import { paths, readyCache, types, variants, type VariantName } from "./harness.ts";
import type { RawTarget } from "./raw-http2.ts";

/** A server that gets invalid input, and how to reach it. */
export interface FuzzTarget extends RawTarget {
  readonly server: XdsServer;
  /** The authority of its certificate. Absent: no TLS. */
  readonly ca?: string;
}

/**
 * Two servers with one cache, the second one with TLS. Each server has a separate connection with a
 * stream of each variant, which the invalid input must not affect.
 */
export interface FuzzServers {
  readonly targets: readonly [plain: FuzzTarget, tls: FuzzTarget];
  /** Returns the sum of a counter. */
  counted(of: (wire: ServerStats["wire"]) => number | undefined): number;
  /** The number of messages that the unaffected streams have sent. */
  readonly acks: number;
  /**
   * Runs batches, each of which says how many inputs have arrived, until there are so many. After each of them a change comes to every stream that must notice nothing.
   * Memory after all of them is at most 5 %, or 4 MiB, more than that after the first fifth; nothing was thrown.
   */
  soak(inputs: number, batch: () => Promise<number>): Promise<void>;
  /** Checks that a well-behaved client is served on a separate connection. */
  serves(target: FuzzTarget, variant: VariantName): Promise<void>;
  close(): Promise<void>;
}

/** `delta` or `sotw`. */
export function kindOf(variant: VariantName): "delta" | "sotw" {
  return variant.startsWith("delta") ? "delta" : "sotw";
}

/** Starts the servers. */
export async function openFuzzServers(seed: number): Promise<FuzzServers> {
  const cache = readyCache();
  const put = (round: number): void => {
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", String(round)) });
  };
  put(0);
  const faults: unknown[] = [];
  const targets = [
    await openTarget(cache, faults),
    await openTarget(cache, faults, createTestAuthority()),
  ] as const;
  const witnesses = (
    await Promise.all(targets.map(async (target) => witnessesOf(target, seed)))
  ).flat();
  let round = 0;
  const witnessed = async (): Promise<void> => {
    round++;
    await Promise.all(witnesses.map(async (next) => next()));
  };
  await witnessed();
  await quiet(targets);
  return {
    targets,
    counted: (of) => targets.reduce((sum, { server }) => sum + (of(server.stats().wire) ?? 0), 0),
    get acks() {
      return round * witnesses.length;
    },
    async soak(inputs, batch) {
      let base = 0;
      for (let arrived = 0; arrived < inputs;) {
        arrived += await batch();
        put(round);
        await witnessed();
        if (base === 0 && arrived >= inputs / 5) base = await memory(targets);
      }
      const grown = (await memory(targets)) - base;
      expect({ seed, grown: grown > Math.max(4 << 20, base * 0.05) ? grown : "little" }).toEqual({
        seed,
        grown: "little",
      });
      expect({ seed, faults }).toEqual({ seed, faults: [] });
    },
    async serves(target, variant) {
      const session = await sessionTo(target);
      await askFor(session, variant, seed)();
      session.destroy();
    },
    async close() {
      await Promise.all(targets.map(async ({ server }) => server.close({ graceMs: 1 })));
    },
  };
}

/**
 * Garbage gets no pause here: what is tested is what it does, not how much of it is let in.
 * An error behind a GOAWAY ends a connection only after the grace of that: Node does not tell of it.
 */
const limits = {
  stream: { changeBurst: 1_000_000_000 },
  admission: { firstSyncs: 1_000_000 },
  wire: { goawayGraceMs: 10 },
};

async function openTarget(
  source: ResourceSource,
  faults: unknown[],
  authority?: TestAuthority,
): Promise<FuzzTarget> {
  const certificate = authority?.issue({ dnsNames: ["localhost"], addresses: ["127.0.0.1"] });
  const server = createServer({ source, limits, ...(certificate && { tls: certificate }) });
  server.events((event) => {
    if (event.kind === "fault") faults.push(event.error);
  });
  const { port } = await server.listen({ port: 0 });
  return {
    server,
    port,
    ...(authority && {
      ca: authority.cert,
      secureContext: createSecureContext({ ca: authority.cert }),
    }),
  };
}

async function sessionTo({ port, ca }: FuzzTarget): Promise<ClientHttp2Session> {
  const session = connect(
    `${ca === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    ca === undefined ? {} : { ca },
  );
  await once(session, "connect");
  return session;
}

/** Opens a stream of each variant on one connection. Each gets the next response and accepts it. */
async function witnessesOf(
  target: FuzzTarget,
  seed: number,
): Promise<readonly (() => Promise<void>)[]> {
  const session = await sessionTo(target);
  return variants.map((variant) => askFor(session, variant, seed));
}

function askFor(
  session: ClientHttp2Session,
  variant: VariantName,
  seed: number,
): () => Promise<void> {
  const call = openCall(session, paths[variant]);
  const client = createClient(requestsOf(call), kindOf(variant));
  client.ask(types.cluster, ["a"]);
  return async () => {
    const bytes = await call.next();
    if (bytes === undefined)
      throw new Error(
        `seed ${seed}: a stream was lost that sent nothing bad: ${JSON.stringify(await call.status)}`,
      );
    const response = readResponse(bytes, kindOf(variant));
    expect({ seed, names: response.names }).toEqual({ seed, names: ["a"] });
    client.ack(response);
  };
}

/**
 * Checks that nothing is left of the clients that sent invalid input, and that the other clients
 * have accepted everything that was sent to them.
 */
async function quiet(targets: readonly FuzzTarget[]): Promise<void> {
  const alone = ({ server }: FuzzTarget): boolean =>
    server.stats().wire.connections === 1 && server.status().length === variants.length;
  const answered = ({ server }: FuzzTarget): boolean =>
    server.status().every(({ types: [type] }) => type?.state === "SYNCED");
  while (!targets.every((target) => alone(target) && answered(target)))
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Returns the number of bytes in use when nothing is left to do, after a garbage collection. */
async function memory(targets: readonly FuzzTarget[]): Promise<number> {
  await quiet(targets);
  for (let i = 0; i < 3; i++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
