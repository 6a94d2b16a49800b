import { onTestFinished } from "vitest";
import type { ByteStream, ByteStreamHandler, Status } from "@xdstp/core";
import {
  createGrpcChannel,
  type ChannelEvent,
  type GrpcChannel,
  type GrpcChannelOptions,
} from "../src/client/index.ts";
import { echoPath } from "./use-server.ts";

/** A call, as the client of a test saw it. */
export interface ClientSeen {
  readonly stream: ByteStream;
  readonly messages: Buffer[];
  readonly closed: Promise<Status>;
  closedTimes: number;
  /** The calls of the handler after `onClosed`. */
  late: number;
  drained: number;
  /** Resolves when this many messages have been received. */
  has(count: number): Promise<void>;
  /** Resolves with the next `onDrained`. */
  roomy(): Promise<void>;
}

/** A channel for one test, with everything that it saw. */
export interface TestChannel {
  readonly channel: GrpcChannel;
  readonly events: ChannelEvent[];
  readonly call: (
    handler?: Partial<ByteStreamHandler>,
    call?: Parameters<GrpcChannel["open"]>[0],
  ) => ClientSeen;
}

/**
 * Creates a channel. When the test ends, the channel is closed, and each handler must have had one
 * `onClosed` and no call after it.
 */
export function useChannel(
  target: number | string,
  options: Partial<GrpcChannelOptions> = {},
): TestChannel {
  const events: ChannelEvent[] = [];
  const calls: ClientSeen[] = [];
  const channel = createGrpcChannel({
    target: typeof target === "number" ? `localhost:${target}` : target,
    onEvent: (event) => {
      events.push(event);
    },
    ...options,
  });
  onTestFinished(async () => {
    await channel.close();
    const wrong = calls.filter((call) => call.closedTimes !== 1 || call.late > 0);
    if (wrong.length > 0)
      throw new Error(`${wrong.length} calls were not told their end once, and last`);
  });
  return {
    channel,
    events,
    call(handler, call = { path: echoPath }) {
      const seen = seeCall((own) => channel.open(call, own), handler);
      calls.push(seen);
      return seen;
    },
  };
}

function seeCall(
  open: (handler: ByteStreamHandler) => ByteStream,
  given: Partial<ByteStreamHandler> = {},
): ClientSeen {
  const waits = new Set<() => void>();
  let ended: (status: Status) => void = () => undefined;
  const look = (): void => {
    for (const wait of [...waits]) wait();
  };
  const until = async (done: () => boolean): Promise<void> => {
    await new Promise<void>((resolve) => {
      const wait = (): void => {
        if (!done()) return;
        waits.delete(wait);
        resolve();
      };
      waits.add(wait);
      wait();
    });
  };
  const note = (): void => {
    if (seen.closedTimes > 0) seen.late += 1;
  };
  const stream = open({
    ...given,
    onMessage(message) {
      note();
      seen.messages.push(Buffer.from(message));
      given.onMessage?.(message);
      look();
    },
    onDrained() {
      note();
      seen.drained += 1;
      given.onDrained?.();
      look();
    },
    onClosed(status) {
      seen.closedTimes += 1;
      given.onClosed?.(status);
      ended(status);
    },
  });
  const seen: ClientSeen = {
    stream,
    messages: [],
    closedTimes: 0,
    late: 0,
    drained: 0,
    closed: new Promise((resolve) => {
      ended = resolve;
    }),
    has: async (count) => {
      await until(() => seen.messages.length >= count);
    },
    roomy: async () => {
      const before = seen.drained;
      await until(() => seen.drained > before);
    },
  };
  return seen;
}
