import { type Clock, StatusCode, type ByteStreamHandler } from "@xdstp/core";
import type { SeededRandom } from "./seeded-random.ts";
import type { NetworkObserver, Network, Serve } from "./network.ts";

import { createConnection, type ConnectionHost, type OpenConnection } from "./connection.ts";

/** Creates a network in memory. It passes byte streams, and does not interpret the bytes. */
export function createNetwork({
  clock,
  random,
  delayMs = [1, 30],
  window = 16,
  keepaliveMs = 20_000,
  observer = {},
}: {
  /** The clock of all events. */
  readonly clock: Clock;
  /** The source of all delays. */
  readonly random: SeededRandom;
  /** The minimum and maximum delay of a message, in milliseconds. Default: 1 to 30. */
  readonly delayMs?: readonly [least: number, most: number];
  /**
   * The number of messages on their way in one direction from which the sender has to wait.
   * Default: 16.
   */
  readonly window?: number;
  /**
   * Milliseconds after which a side that was not notified of a cut treats the connection as lost.
   * Default: 20,000.
   */
  readonly keepaliveMs?: number;
  /** Observes all messages. Default: none. */
  readonly observer?: NetworkObserver;
}): Network {
  const listeners = new Map<string, Serve>();
  const connections = new Set<OpenConnection>();
  let made = 0;
  let duplicates = 0;
  const host: Omit<ConnectionHost, "random"> = {
    clock,
    delayMs,
    window,
    keepaliveMs,
    observer,
    onOver: (connection) => {
      connections.delete(connection);
    },
  };
  const open = (
    address: string,
    handler: ByteStreamHandler,
    isDuplicate: boolean,
  ): OpenConnection => {
    const id = ++made;
    const connection = createConnection(
      { ...host, random: random.fork(id) },
      { id, address, isDuplicate, serve: () => listeners.get(address) },
      handler,
    );
    connections.add(connection);
    return connection;
  };
  return {
    listen(address, serve) {
      if (listeners.has(address))
        throw new Error(`${address}: a server listens there already; close it first`);
      listeners.set(address, serve);
      return {
        close: () => {
          if (listeners.get(address) === serve) listeners.delete(address);
        },
      };
    },
    connect(address, handler) {
      if (duplicates === 0) return open(address, handler, false).stream;
      duplicates--;
      return doubled((given, isDuplicate) => open(address, given, isDuplicate).stream, handler);
    },
    get connections() {
      return [...connections];
    },
    duplicateNext() {
      duplicates++;
    },
  };
}

const deaf: ByteStreamHandler = {
  onMessage: () => undefined,
  onDrained: () => undefined,
  onClosed: () => undefined,
};

/** Sends everything twice. The second call ends with the first one. */
function doubled(
  open: (handler: ByteStreamHandler, isDuplicate: boolean) => OpenConnection["stream"],
  handler: ByteStreamHandler,
): OpenConnection["stream"] {
  const second: { stream?: OpenConnection["stream"] } = {};
  const stream = open(
    {
      onMessage: (message) => {
        handler.onMessage(message);
      },
      onOpened: () => {
        handler.onOpened?.();
      },
      onDrained: () => {
        handler.onDrained();
      },
      onClosed: (status) => {
        second.stream?.close({ code: StatusCode.CANCELLED, message: "the call was a duplicate" });
        handler.onClosed(status);
      },
    },
    false,
  );
  const other = (second.stream = open(deaf, true));
  return {
    ...stream,
    get opening() {
      return stream.opening;
    },
    send(message) {
      other.send(message);
      return stream.send(message);
    },
  };
}
