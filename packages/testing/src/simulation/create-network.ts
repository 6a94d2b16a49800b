import { StatusCode, type ByteStreamHandler } from "@xdstp/core";

import { createConnection, type ConnectionHost, type OpenConnection } from "./connection.ts";
import type { Network, NetworkOptions, Serve } from "./network.ts";

/** A network in memory. It knows byte streams and a clock, and nothing of what the bytes mean. */
export function createNetwork({ clock, random, delayMs = [1, 30], window = 16, keepaliveMs = 20_000, observer = {} }: NetworkOptions): Network {
  const listeners = new Map<string, Serve>();
  const connections = new Set<OpenConnection>();
  let made = 0;
  let duplicates = 0;
  const host: Omit<ConnectionHost, "random"> = { clock, delayMs, window, keepaliveMs, observer, onOver: (connection) => { connections.delete(connection); } };
  const open = (address: string, handler: ByteStreamHandler, isDuplicate: boolean): OpenConnection => {
    const id = ++made;
    const connection = createConnection({ ...host, random: random.fork(id) }, { id, address, isDuplicate, serve: () => listeners.get(address) }, handler);
    connections.add(connection);
    return connection;
  };
  return {
    listen(address, serve) {
      if (listeners.has(address)) throw new Error(`${address}: somebody listens there already; close that first`);
      listeners.set(address, serve);
      return { close: () => { if (listeners.get(address) === serve) listeners.delete(address); } };
    },
    connect(address, handler) {
      const { stream } = open(address, handler, false);
      if (duplicates === 0) return stream;
      duplicates--;
      return doubled(stream, open(address, deaf, true).stream);
    },
    get connections() { return [...connections]; },
    duplicateNext() { duplicates++; },
  };
}

const deaf: ByteStreamHandler = { onMessage: () => undefined, onDrained: () => undefined, onClosed: () => undefined };

/** Says everything twice. The second call ends with the first one. */
function doubled(stream: OpenConnection["stream"], second: OpenConnection["stream"]): OpenConnection["stream"] {
  return {
    get opening() { return stream.opening; },
    send(message) {
      second.send(message);
      return stream.send(message);
    },
    pause() { stream.pause(); },
    resume() { stream.resume(); },
    close(status) {
      second.close({ code: StatusCode.CANCELLED, message: "the call was a duplicate" });
      stream.close(status);
    },
  };
}
