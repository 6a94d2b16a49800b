import type { BootstrapServer, Channels } from "@xdstp/bootstrap";
import { createRawDeltaServer, createRawSotwServer, type RawServer } from "@xdstp/testing";

/** Channels to servers that the test plays: one server for each target and method. */
export interface TestChannels extends Channels {
  /**
   * The called methods in order: `target /package.Service/Method`, and the metadata if there is
   * any.
   */
  readonly calls: string[];
  /** Returns the server of a method that was called. */
  delta(call: string): RawServer<"delta">;
  sotw(call: string): RawServer<"sotw">;
  /** The number of uses of each channel, by target. */
  readonly inUse: Map<string, number>;
}

/** Creates {@link TestChannels}. */
export function createTestChannels(): TestChannels {
  const [deltas, sotws] = [
    new Map<string, RawServer<"delta">>(),
    new Map<string, RawServer<"sotw">>(),
  ];
  const calls: string[] = [];
  const inUse = new Map<string, number>();
  const serverOf = (call: string): RawServer<"delta"> | RawServer<"sotw"> =>
    call.includes("/Delta")
      ? upsert(deltas, call, createRawDeltaServer)
      : upsert(sotws, call, createRawSotwServer);
  const count = (uri: string, by: number): void => {
    inUse.set(uri, (inUse.get(uri) ?? 0) + by);
  };
  return {
    calls,
    inUse,
    delta: (call) => upsert(deltas, call, createRawDeltaServer),
    sotw: (call) => upsert(sotws, call, createRawSotwServer),
    acquire({ uri }: BootstrapServer) {
      count(uri, 1);
      return {
        open({ path, metadata }, handler) {
          calls.push(
            `${uri} ${path}${metadata === undefined ? "" : ` ${JSON.stringify(metadata)}`}`,
          );
          return serverOf(`${uri} ${path}`).connect(handler);
        },
        release: () => {
          count(uri, -1);
        },
      };
    },
  };
}

function upsert<T>(map: Map<string, T>, key: string, make: () => T): T {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
