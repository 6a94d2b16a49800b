import type { Channels, ServerConfig, CredentialsEvent } from "@xdstp/bootstrap";
import {
  type ByteStream,
  type ByteStreamHandler,
  type ResourceType,
  StatusCode,
  XdsError,
} from "@xdstp/core";
import {
  type ClientContextOptions,
  type ClientFeed,
  type Connect,
  createClientContext,
  type ClientEvent,
} from "@xdstp/protocol/client";
import { SERVICES, type ServiceRow } from "@xdstp/protos/services";
import { envoyTypes } from "@xdstp/resource-types";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";

import { PerTypeFeed } from "./per-type-feed.ts";

/** How a client speaks to its servers. Only `node` and `channels` have to be given. */
export interface ServerOptions extends Pick<
  ClientContextOptions,
  "node" | "clock" | "backoff" | "limits" | "random" | "rate" | "fetchMs" | "idleMs"
> {
  /** The connections, which equal servers share. */
  readonly channels: Channels;
  /** Of servers that do not say it themselves. Default: `delta`. */
  readonly variant?: "delta" | "sotw";
  /** Of servers that do not say it themselves, whether what they remove stays with the error next to it. Default: as `keepRemoved` of the server says. */
  readonly keepRemoved?: boolean;
  /** The data of types. Default: Envoy's. */
  readonly types?: ReadonlyMap<string, ResourceType>;
  /** Services of types, before those of Envoy's API. Default: none. */
  readonly services?: readonly ServiceRow[];
  /** Told what happens on streams. It must not throw. */
  readonly onEvent?: (event: ClientNotice) => void;
}

const envoys: ReadonlyMap<string, ResourceType> = new Map(
  envoyTypes.map((type) => [type.typeUrl, type]),
);

/**
 * A client of one server, over a channel that clients of equal servers share: one stream for all types, or one for each (C-AGG-2).
 * Credentials that cannot be loaded are a server that cannot be reached: they are tried again with each stream. A type that the server can have no stream for is UNIMPLEMENTED (B-STREAM-2).
 */
export function openServer(
  server: ServerConfig,
  options: ServerOptions,
): { readonly feed: ClientFeed; close(): void } {
  const { variant = options.variant ?? "delta", aggregated = true, metadata } = server;
  const services = [...(options.services ?? []), ...SERVICES];
  let channel: ReturnType<Channels["acquire"]> | undefined;
  const connectTo =
    (path: string): Connect =>
    (handler) => {
      try {
        channel ??= options.channels.acquire(server);
        return channel.open({ path, ...(metadata !== undefined && { metadata }) }, handler);
      } catch (error) {
        return failedCall(handler, XdsError.from(error));
      }
    };
  const open = (typeUrl?: string): ClientFeed =>
    clientEnd(server, variant, connectTo(streamPath(services, variant, typeUrl)), options);
  return {
    feed: aggregated ? open() : new PerTypeFeed(variant, open),
    close: () => {
      channel?.release();
    },
  };
}

function clientEnd(
  server: ServerConfig,
  variant: "delta" | "sotw",
  connect: Connect,
  { types = envoys, keepRemoved, onEvent, ...options }: ServerOptions,
): ClientFeed {
  const failsOnData = server.features.has("fail_on_data_errors");
  const context = createClientContext({
    ...options,
    connect,
    descriptor: (typeUrl) => types.get(typeUrl),
    timeoutIsTransient: server.features.has("resource_timer_is_transient_error"),
    dropRejected: failsOnData,
    keepRemoved: server.keepRemoved ?? keepRemoved ?? !failsOnData,
    ...(server.rate !== undefined && { rate: server.rate }),
    ...(onEvent !== undefined && {
      onEvent: (event) => {
        onEvent({ server: server.uri, variant, ...event });
      },
    }),
  });
  return variant === "delta" ? createDeltaClient(context) : createSotwClient(context);
}

function failedCall(handler: ByteStreamHandler, error: XdsError): ByteStream {
  queueMicrotask(() => {
    handler.onClosed({ code: StatusCode.UNAVAILABLE, message: error.text });
  });
  return { opening: true, send: () => false, close: () => undefined };
}

/** An event of a client on its streams or its certificates. `server` is the URI, and `variant` is the protocol variant of the streams to it. Two configured servers may have the same URI and different variants. */
export type ClientNotice = {
  readonly server: string;
  readonly variant: "delta" | "sotw";
} & (ClientEvent | CredentialsEvent);

/**
 * The path of the streaming method of a type, or, without one, of all types (B-STREAM-2).
 * Throws an XdsError, UNIMPLEMENTED, if the type does not have such a method.
 */
function streamPath(
  services: readonly ServiceRow[],
  variant: "delta" | "sotw",
  typeUrl?: string,
): string {
  const row = services.find((service) => service.typeUrl === typeUrl);
  const method = row?.[variant];
  if (row !== undefined && method !== undefined) return `/${row.service}/${method}`;
  const what = typeUrl === undefined ? "all types" : JSON.stringify(typeUrl);
  if (row === undefined)
    throw new XdsError(
      "UNIMPLEMENTED",
      `${what} has no discovery service of its own; use an aggregated source`,
      { rule: "B-STREAM-2" },
    );
  throw new XdsError(
    "UNIMPLEMENTED",
    `${what} has no method in ${variant === "sotw" ? "SotW" : "delta"}; use ${variant === "sotw" ? "delta" : "SotW"} or an aggregated source`,
    { rule: "B-STREAM-2" },
  );
}
