import type { SecureClientSessionOptions } from "node:http2";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import type { ByteStream, ByteStreamHandler, Message, Status } from "@xdstp/core";
import { onTestFinished } from "vitest";
import {
  createGrpcServer,
  type GrpcEvent,
  type GrpcServer,
  type GrpcServerOptions,
  type StreamCall,
} from "../src/server/index.ts";
import { createRawClient, type RawClient } from "./raw-client.ts";

/** The streaming method of these tests. */
export const echoPath = "/test.Echo/Stream";

/** A call, as the server of a test saw it. */
export interface SeenCall {
  readonly call: StreamCall;
  readonly out: ByteStream;
  readonly messages: Buffer[];
  readonly closed: Promise<Status>;
  closedTimes: number;
  drained: number;
}

/** A server for one test, with everything that it saw. */
export interface TestServer {
  readonly server: GrpcServer;
  readonly port: number;
  readonly clock: FakeClock;
  readonly events: GrpcEvent[];
  readonly calls: SeenCall[];
  client(tls?: SecureClientSessionOptions): Promise<RawClient>;
  /**
   * Resolves with the first event, past or future, for which `fits` returns true. `fits` is called
   * again after each event and each new call.
   */
  event<K extends GrpcEvent["kind"]>(
    kind: K,
    fits?: (event: Extract<GrpcEvent, { kind: K }>) => boolean,
  ): Promise<Extract<GrpcEvent, { kind: K }>>;
}

/** The options in which a test differs. */
export interface TestServerOptions extends Partial<GrpcServerOptions> {
  /** Overrides members of the handler, which otherwise echoes each message. */
  readonly handler?: (seen: SeenCall) => Partial<ByteStreamHandler>;
}

/** Returns bytes as a message. */
export function messageOf(bytes: Uint8Array | string): Message {
  const body = Buffer.from(bytes);
  const all = Buffer.alloc(5 + body.length);
  all.writeUInt32BE(body.length, 1);
  all.set(body, 5);
  return { bytes: all.subarray(5), enveloped: all };
}

/**
 * Creates a server that echoes on {@link echoPath}. When the test ends, the server is closed, and
 * nothing may be left open.
 */
export async function useServer(options: TestServerOptions = {}): Promise<TestServer> {
  const clock = createFakeClock();
  const events: GrpcEvent[] = [];
  const calls: SeenCall[] = [];
  const clients: RawClient[] = [];
  const listeners = new Set<() => void>();
  const { handler, ...server } = options;
  const look = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const accept = (call: StreamCall, out: ByteStream): ByteStreamHandler => {
    const made = seeCall(calls, call, out, handler);
    look();
    return made;
  };
  const grpc = createGrpcServer({
    accept,
    isStreaming: (path) => path === echoPath,
    clock,
    onEvent: (event) => {
      events.push(event);
      look();
    },
    ...server,
  });
  const { port } = await grpc.listen({ port: 0 });
  onTestFinished(async () => {
    for (const client of clients) client.close();
    await grpc.close({ graceMs: 1000 });
    const { connections, streams, calls: open } = grpc.stats();
    if (connections + streams + open + clock.pending > 0)
      throw new Error(
        `left behind: ${JSON.stringify({ connections, streams, open, timers: clock.pending })}`,
      );
  });
  const event: TestServer["event"] = async (kind, fits = () => true) => {
    const find = (): GrpcEvent | undefined =>
      events.find((each) => each.kind === kind && fits(each as never));
    return await new Promise((resolve) => {
      const listener = (): void => {
        const found = find();
        if (found === undefined) return;
        listeners.delete(listener);
        resolve(found as never);
      };
      listeners.add(listener);
      listener();
    });
  };
  const client = async (tls?: SecureClientSessionOptions): Promise<RawClient> => {
    const made = await createRawClient(port, tls);
    clients.push(made);
    return made;
  };
  return { server: grpc, port, clock, events, calls, client, event };
}

function seeCall(
  calls: SeenCall[],
  call: StreamCall,
  out: ByteStream,
  override: TestServerOptions["handler"],
): ByteStreamHandler {
  const { promise: closed, resolve: ended } = Promise.withResolvers<Status>();
  const seen: SeenCall = { call, out, messages: [], closed, closedTimes: 0, drained: 0 };
  calls.push(seen);
  const given = override?.(seen) ?? {};
  return {
    onMessage(message) {
      seen.messages.push(Buffer.from(message));
      out.send(messageOf(message));
    },
    onDrained() {
      seen.drained += 1;
    },
    ...given,
    onClosed(status) {
      seen.closedTimes += 1;
      given.onClosed?.(status);
      ended(status);
    },
  };
}
