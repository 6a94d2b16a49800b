import type { Cache } from "@xdstp/cache";
import type { Resource, ResourceSink } from "@xdstp/core";
import { payloadOf } from "./payload.ts";

/** A feed that is filled on demand and says only what the case tells it to: what is asked for stays unsettled until then. */
export interface HeldFeed {
  put(typeUrl: string, name: string, text?: string, more?: Partial<Resource>): void;
  /** Says that there is none. */
  miss(typeUrl: string, name: string): void;
  /** Says that a glob or `*` is known completely. */
  settle(typeUrl: string, name: string): void;
}

/** Adds a held feed. The world of the case is made with `ready: false`, or everything would be settled already. */
export function addHeldFeed(cache: Cache): HeldFeed {
  const sinks: ResourceSink[] = [];
  cache.addFeed({
    run: (sink, signal) => {
      sinks.push(sink);
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          resolve();
        });
      });
    },
    want: () => undefined,
  });
  const [sink] = sinks;
  if (sink === undefined) throw new Error("the cache did not run the feed");
  const commit = (...args: Parameters<ResourceSink["commit"]>): void => {
    void sink.commit(...args);
  };
  return {
    put(typeUrl, name, text, more) {
      commit({
        put: [
          {
            typeUrl,
            resource: {
              name,
              version: "",
              payload: { typeUrl, value: payloadOf(name, text) },
              ...more,
            },
          },
        ],
      });
    },
    miss(typeUrl, name) {
      commit({ remove: [{ typeUrl, name }] });
    },
    settle(typeUrl, name) {
      commit({ settled: [{ typeUrl, interest: { name } }] });
    },
  };
}
