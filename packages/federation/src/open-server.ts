import { StatusCode, XdsError, type ByteStream, type ByteStreamHandler, type Clock, type ResourceType } from "@xdstp/core";
import { createClientContext, type ClientContextOptions, type ClientFeed, type Connect } from "@xdstp/core/client";
import { SERVICES, type ServiceRow } from "@xdstp/protos/services";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";

import type { Channels, SharedChannel } from "./channels.ts";
import type { ClientNotice } from "./client-notice.ts";
import { createPerTypeFeed } from "./per-type-feed.ts";
import type { ServerConfig } from "./server-config.ts";
import { streamPath } from "./stream-path.ts";

/** How a client speaks to its servers. */
export interface ServerOptions extends Pick<ClientContextOptions, "backoff" | "limits" | "random" | "rate" | "fetchMs"> {
  /** Of servers that do not say it themselves. */
  readonly variant: "delta" | "sotw";
  readonly channels: Channels;
  /** The encoded node. */
  readonly node: () => Uint8Array;
  readonly clock: Clock;
  readonly types: ReadonlyMap<string, ResourceType>;
  /** Services of types, before those of Envoy's API. Default: none. */
  readonly services?: readonly ServiceRow[];
  readonly onEvent: (event: ClientNotice) => void;
}

/**
 * A client end towards one server, over a channel that clients of equal servers share: one stream for all types, or one for each (C-AGG-2).
 * Credentials that cannot be loaded are a server that cannot be reached: they are tried again with each stream. A type that the server can have no stream for is UNIMPLEMENTED (B-STREAM-2).
 */
export function openServer(server: ServerConfig, options: ServerOptions): { readonly feed: ClientFeed; close(): void } {
  const { variant = options.variant, aggregated = true, metadata } = server;
  const services = [...options.services ?? [], ...SERVICES];
  let channel: SharedChannel | undefined;
  const connectTo = (path: string): Connect => (handler) => {
    try {
      channel ??= options.channels.acquire(server);
      return channel.open({ path, ...(metadata !== undefined && { metadata }) }, handler);
    } catch (error) {
      return failedCall(handler, XdsError.from(error));
    }
  };
  const open = (typeUrl?: string): ClientFeed => clientEnd(server, variant, connectTo(streamPath(services, variant, typeUrl)), options);
  return { feed: aggregated ? open() : createPerTypeFeed(variant, open), close: () => { channel?.release(); } };
}

function clientEnd(server: ServerConfig, variant: "delta" | "sotw", connect: Connect, { node, clock, types, onEvent, backoff, limits, random, fetchMs, ...options }: ServerOptions): ClientFeed {
  const failsOnData = server.features.has("fail_on_data_errors");
  const rate = server.rate ?? options.rate;
  const context = createClientContext({
    connect, node, clock,
    descriptor: (typeUrl) => types.get(typeUrl),
    timeoutIsTransient: server.features.has("resource_timer_is_transient_error"),
    dropRefused: failsOnData,
    keepRemoved: server.keepRemoved ?? !failsOnData,
    onEvent: (event) => { onEvent({ server: server.uri, ...event }); },
    ...(backoff !== undefined && { backoff }), ...(limits !== undefined && { limits }), ...(random !== undefined && { random }), ...(fetchMs !== undefined && { fetchMs }), ...(rate !== undefined && { rate }),
  });
  return variant === "delta" ? createDeltaClient(context) : createSotwClient(context);
}

function failedCall(handler: ByteStreamHandler, error: XdsError): ByteStream {
  queueMicrotask(() => { handler.onClosed({ code: StatusCode.UNAVAILABLE, message: error.text }); });
  return { opening: true, send: () => false, close: () => undefined };
}
