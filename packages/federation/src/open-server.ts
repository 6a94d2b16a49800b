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
import { shownUri } from "./shown-uri.ts";

/** Options of the clients of servers. Only `node` and `channels` are required. */
export interface ServerOptions extends Pick<
  ClientContextOptions,
  "node" | "clock" | "backoff" | "limits" | "random" | "rate" | "fetchMs" | "idleMs"
> {
  /** The connections. Equal servers share one. */
  readonly channels: Channels;
  /** The variant of servers whose configuration has none. Default: `delta`. */
  readonly variant?: "delta" | "sotw";
  /**
   * True if a resource that the server removes stays cached, with an error next to it. For servers
   * whose configuration does not say. Default: true, unless the server has the feature
   * `fail_on_data_errors`.
   */
  readonly keepRemoved?: boolean;
  /** The resource types. Default: the types of Envoy. */
  readonly types?: ReadonlyMap<string, ResourceType>;
  /**
   * Discovery services of types, which take precedence over those of Envoy's API. Default: none.
   */
  readonly services?: readonly ServiceRow[];
  /** Receives the events of streams. It must not throw. */
  readonly onEvent?: (event: ClientNotice) => void;
}

const envoys: ReadonlyMap<string, ResourceType> = new Map(
  envoyTypes.map((type) => [type.typeUrl, type]),
);

/**
 * Opens a client of one server, over a channel that clients of equal servers share: one stream for
 * all types, or one for each type (C-AGG-2).
 * A server whose credentials cannot be loaded counts as unreachable; loading is retried with each
 * stream. A type that has no stream at the server gets the error UNIMPLEMENTED (B-STREAM-2).
 */
export function openServer(
  server: ServerConfig,
  options: ServerOptions,
): { readonly feed: ClientFeed; close(): void } {
  const { variant, aggregated, metadata, methodOf } = wayTo(server, options);
  const services = [...(options.services ?? []), ...SERVICES];
  let channel: ReturnType<Channels["acquire"]> | undefined;
  const connectTo =
    (method: StreamMethod): Connect =>
    (handler) => {
      try {
        channel ??= options.channels.acquire(server);
        return channel.open({ ...method, ...(metadata !== undefined && { metadata }) }, handler);
      } catch (error) {
        return failedCall(handler, XdsError.from(error));
      }
    };
  const open = (typeUrl?: string): ClientFeed =>
    clientEnd(server, variant, connectTo(methodOf(services, variant, typeUrl)), options);
  return {
    feed: aggregated ? open() : new PerTypeFeed(variant, open),
    close: () => {
      channel?.release();
    },
  };
}

/** REST and files have SotW only. REST has one path for each type (S-REST-1); a file has one type (C-FILE-4). */
function wayTo(
  { variant, aggregated = true, metadata, rest, file }: ServerConfig,
  options: ServerOptions,
): Pick<ServerConfig, "metadata"> &
  Required<Pick<ServerConfig, "variant" | "aggregated">> & {
    readonly methodOf: typeof streamMethod;
  } {
  return {
    ...(metadata !== undefined && { metadata }),
    methodOf: rest === undefined ? streamMethod : restMethod,
    ...(rest === undefined && file === undefined
      ? { variant: variant ?? options.variant ?? "delta", aggregated }
      : { variant: "sotw", aggregated: false }),
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
    isSilentIfCurrent: server.rest !== undefined,
    dropRejected: failsOnData,
    keepRemoved: server.keepRemoved ?? keepRemoved ?? !failsOnData,
    ...(server.rate !== undefined && { rate: server.rate }),
    ...(onEvent !== undefined && {
      onEvent: (event) => {
        onEvent({ server: shownUri(server.uri), variant, ...event });
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

/**
 * An event of a client about its streams or its certificates. `server` is the URI, without a
 * password, and `variant` is
 * the protocol variant of the streams. Two configured servers may have the same URI and different
 * variants.
 */
export type ClientNotice = {
  readonly server: string;
  readonly variant: "delta" | "sotw";
} & (ClientEvent | CredentialsEvent);

/** The streaming method of a type, and its path over HTTP if it has one. */
interface StreamMethod {
  readonly path: string;
  readonly restPath?: string;
}

/** Returns the method of a type that is polled. Throws an XdsError, UNIMPLEMENTED, if there is none. */
function restMethod(
  services: readonly ServiceRow[],
  variant: "delta" | "sotw",
  typeUrl?: string,
): StreamMethod {
  const method = streamMethod(services, variant, typeUrl);
  if (method.restPath !== undefined) return method;
  throw new XdsError(
    "UNIMPLEMENTED",
    `${JSON.stringify(typeUrl)} has no path in REST; give its service a restPath, or use gRPC`,
    { rule: "S-REST-1" },
  );
}

/**
 * Returns the path of the streaming method of a type or, without a type, of all types (B-STREAM-2).
 * Throws an XdsError, UNIMPLEMENTED, if the type does not have such a method.
 */
function streamMethod(
  services: readonly ServiceRow[],
  variant: "delta" | "sotw",
  typeUrl?: string,
): StreamMethod {
  const row = services.find((service) => service.typeUrl === typeUrl);
  const method = row?.[variant];
  if (row !== undefined && method !== undefined)
    return {
      path: `/${row.service}/${method}`,
      ...(row.restPath !== undefined && { restPath: row.restPath }),
    };
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
