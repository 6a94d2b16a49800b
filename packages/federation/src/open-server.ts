import { StatusCode, XdsError, type ByteStream, type ByteStreamHandler, type Clock, type ResourceType } from "@xdstp/core";
import { createClientContext, type ClientContextOptions, type ClientFeed, type Connect } from "@xdstp/core/client";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";

import type { BootstrapServer } from "./bootstrap/bootstrap.ts";
import type { Channels, SharedChannel } from "./channels.ts";
import type { ClientNotice } from "./client-notice.ts";

/** How a client speaks to its servers. */
export interface ServerOptions extends Pick<ClientContextOptions, "backoff" | "limits" | "random" | "rate" | "fetchMs"> {
  readonly variant: "delta" | "sotw";
  readonly channels: Channels;
  readonly node: () => Uint8Array;
  readonly clock: Clock;
  readonly types: ReadonlyMap<string, ResourceType>;
  readonly onEvent: (event: ClientNotice) => void;
}

/** The aggregated stream of each variant. */
const paths = {
  delta: "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
  sotw: "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
} as const;

/** A client end towards one server, over a channel that clients of equal servers share. Credentials that cannot be loaded are a server that cannot be reached: they are tried again with each stream. */
export function openServer(server: BootstrapServer, options: ServerOptions): { readonly feed: ClientFeed; close(): void } {
  const { variant, channels, node, clock, types, onEvent, ...rest } = options;
  let channel: SharedChannel | undefined;
  const connect: Connect = (handler) => {
    try {
      channel ??= channels.acquire(server);
    } catch (error) {
      return failedCall(handler, XdsError.from(error));
    }
    return channel.open({ path: paths[variant] }, handler);
  };
  const context = createClientContext({
    ...rest, connect, node, clock,
    descriptor: (typeUrl) => types.get(typeUrl),
    timeoutIsTransient: server.features.has("resource_timer_is_transient_error"),
    dropRefused: server.features.has("fail_on_data_errors"),
    keepRemoved: !server.features.has("fail_on_data_errors"),
    onEvent: (event) => { onEvent({ server: server.uri, ...event }); },
  });
  const feed = variant === "delta" ? createDeltaClient(context) : createSotwClient(context);
  return { feed, close: () => { channel?.release(); } };
}

function failedCall(handler: ByteStreamHandler, error: XdsError): ByteStream {
  queueMicrotask(() => { handler.onClosed({ code: StatusCode.UNAVAILABLE, message: error.text }); });
  return { opening: true, send: () => false, close: () => undefined };
}
