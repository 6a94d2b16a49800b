import { parseBootstrap, type Channels } from "@xdstp/bootstrap";
import { createCache, type Cache } from "@xdstp/cache";
import { createScheduler } from "@xdstp/protocol/server";
import { createServer, type ServerEvent, type ServerOptions, type XdsServer } from "@xdstp/server";
import { createFakeClock, createNetwork, createSeededRandom, createStepper } from "@xdstp/testing";
import { onTestFinished } from "vitest";

import { createRelay, type Relay, type RelayOptions } from "../src/index.ts";
import type { Variant } from "../../rollout/test/wire-bytes.ts";

/**
 * A control plane, a relay of it and a relay of that relay, in a network in memory, without I/O.
 */
export interface ChainWorld {
  /** The resources of the control plane. */
  readonly origin: Cache;
  /**
   * Returns the names that the control plane was asked for since the previous call, one row for
   * each request that adds names.
   */
  readonly asked: () => readonly (readonly string[])[];
  /** Returns the reasons why streams of the control plane have ended. */
  readonly ended: () => readonly string[];
  /** The inner relay and the outer one. */
  readonly relays: readonly Relay[];
  /** The server of the outer relay. */
  readonly server: XdsServer;
  readonly pass: (ms: number) => Promise<void>;
}

/** Options that differ from the default. */
export interface ChainOptions {
  readonly origin?: Partial<ServerOptions>;
  /** Options of both relays. */
  readonly relay?: RelayOptions;
}

/** Creates the chain without subscriptions; it ends after the test. */
export function useChain(
  variant: Variant,
  { origin: originOptions = {}, relay: relayOptions = {} }: ChainOptions = {},
): ChainWorld {
  const clock = createFakeClock();
  const network = createNetwork({ clock, random: createSeededRandom(1) });
  const channels: Channels = {
    acquire: ({ uri }) => ({
      open: ({ path }, handler) => network.connect(`${uri}${path}`, handler),
      release: () => undefined,
    }),
  };
  const listen = (address: string, options: ServerOptions): XdsServer => {
    const server = createServer({
      ...options,
      clock,
      scheduler: createScheduler({
        later: (callback) => {
          clock.after(0, callback);
        },
      }),
    });
    for (const method of ["DeltaAggregatedResources", "StreamAggregatedResources"]) {
      const path = `/envoy.service.discovery.v3.AggregatedDiscoveryService/${method}`;
      network.listen(`${address}${path}`, (out) => {
        const handler = server.accept(path, "memory", out);
        if ("code" in handler) throw new Error(handler.message);
        return handler;
      });
    }
    return server;
  };
  const relayOf = (uri: string, id: string): Relay => {
    const bootstrap = parseBootstrap({
      xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
      node: { id },
    });
    const relay = createRelay({
      bootstrap,
      variant,
      channels,
      clock,
      random: () => 0.5,
      ...relayOptions,
    });
    onTestFinished(async () => {
      await relay.close();
    });
    return relay;
  };
  const origin = createCache({ clock });
  origin.commit({});
  const events: ServerEvent[] = [];
  const ended: string[] = [];
  const onEvent = (event: ServerEvent): void => {
    events.push(event);
    if (event.kind === "disconnect") ended.push(event.message);
  };
  listen("origin", { source: origin, onEvent, ...originOptions });
  const inner = relayOf("origin", "inner");
  listen("inner", inner.serving);
  const outer = relayOf("inner", "outer");
  const server = listen("outer", outer.serving);
  const stepper = createStepper({
    clock,
    turn: async () => {
      for (let n = 0; n < 20; n++) await Promise.resolve();
    },
  });
  return {
    origin,
    relays: [inner, outer],
    server,
    ended: () => ended,
    asked: () =>
      events
        .splice(0)
        .flatMap((event) =>
          event.kind === "subscribe" && event.added.length > 0 ? [event.added] : [],
        ),
    pass: async (ms) => stepper.run(ms),
  };
}
