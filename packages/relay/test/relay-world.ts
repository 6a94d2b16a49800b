import { parseBootstrap, type Channels } from "@xdstp/bootstrap";
import { type ByteStream, type ByteStreamHandler, StatusCode } from "@xdstp/core";
import { createScheduler } from "@xdstp/protocol/server";
import type { ClientNotice } from "@xdstp/federation";
import { createServer, type ServerEvent, type ServerOptions, type XdsServer } from "@xdstp/server";
import { createFakeClock, createManualScheduler, type FakeClock } from "@xdstp/testing";
import { onTestFinished } from "vitest";

import { createRelay, type Relay, type RelayEvent, type RelayOptions } from "../src/index.ts";
import { connectClient, type NodeInit, type WorldClient } from "../../rollout/test/world-client.ts";
import { createUpstream, type Upstream } from "./upstream.ts";
import type { Variant } from "../../rollout/test/wire-bytes.ts";

/** Options of a world. */
export interface WorldOptions {
  /** The variant upstream. Default: `delta`. */
  readonly upstream?: Variant;
  /** The number of servers upstream, in order of preference. Default: 1. */
  readonly servers?: number;
  /** Authorities in the bootstrap, each with the number of its server. Default: none. */
  readonly authorities?: Readonly<Record<string, number>>;
  readonly relay?: RelayOptions;
  readonly server?: Partial<ServerOptions>;
}

/**
 * A relay between servers and clients that the test plays, without I/O. Time only passes when the
 * test says so.
 */
export interface RelayWorld {
  readonly clock: FakeClock;
  readonly relay: Relay;
  readonly server: XdsServer;
  /** The first server upstream. */
  readonly up: Upstream;
  readonly upstreams: readonly Upstream[];
  readonly events: readonly (RelayEvent | ClientNotice)[];
  readonly served: readonly ServerEvent[];
  readonly connect: (variant: Variant, node?: NodeInit, path?: string) => WorldClient;
  /** Runs everything that needs no time. */
  readonly settle: () => Promise<void>;
  /** Lets time pass, and runs everything that follows. */
  readonly pass: (ms: number) => Promise<void>;
}

/** Creates a world without subscriptions; it ends after the test. */
export function useWorld({
  upstream = "delta",
  servers = 1,
  authorities = {},
  relay: relayOptions = {},
  server: serverOptions = {},
}: WorldOptions = {}): RelayWorld {
  const clock = createFakeClock({ start: 1_000_000 });
  const turns = createManualScheduler();
  const events: (RelayEvent | ClientNotice)[] = [];
  const served: ServerEvent[] = [];
  const upstreams = Array.from({ length: servers }, () => createUpstream(upstream));
  const entry = (index: number): object => ({
    server_uri: `up-${index}`,
    channel_creds: [{ type: "insecure" }],
  });
  const bootstrap = parseBootstrap({
    xds_servers: upstreams.map((_, index) => entry(index)),
    node: { id: "relay", cluster: "relays", metadata: { own: "yes" } },
    authorities: Object.fromEntries(
      Object.entries(authorities).map(([name, index]) => [name, { xds_servers: [entry(index)] }]),
    ),
  });
  const relay = createRelay({
    bootstrap,
    variant: upstream,
    channels: channelsTo(upstreams),
    clock,
    random: () => 0.5,
    onEvent: (event) => {
      events.push(event);
    },
    ...relayOptions,
  });
  const server = createServer({
    ...relay.serving,
    clock,
    scheduler: createScheduler({ later: turns.later }),
    onEvent: (event) => {
      served.push(event);
    },
    ...serverOptions,
  });
  onTestFinished(async () => {
    await relay.close();
  });
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 30; n++) await Promise.resolve();
      turns.run();
    }
  };
  return {
    clock,
    relay,
    server,
    upstreams,
    events,
    served,
    settle,
    get up() {
      return upstreams[0] ?? createUpstream(upstream);
    },
    connect: (variant, node, path) => connectClient(server, variant, node, path),
    async pass(ms) {
      const end = clock.now() + ms;
      while ((clock.next ?? Infinity) <= end) {
        clock.advance(Math.max(0, (clock.next ?? 0) - clock.now()));
        await settle();
      }
      clock.advance(end - clock.now());
      await settle();
    },
  };
}

/** Returns channels to servers, by the number in their URI. */
function channelsTo(upstreams: readonly Upstream[]): Channels {
  return {
    acquire: ({ uri }) => ({
      open: (_, handler) => {
        const upstream = upstreams[Number(uri.slice("up-".length))];
        return upstream === undefined || upstream.down
          ? unreachable(handler)
          : upstream.connect(handler);
      },
      release: () => undefined,
    }),
  };
}

function unreachable(handler: ByteStreamHandler): ByteStream {
  queueMicrotask(() => {
    handler.onClosed({ code: StatusCode.UNAVAILABLE, message: "connection refused" });
  });
  return { opening: true, send: () => false, close: () => undefined };
}
