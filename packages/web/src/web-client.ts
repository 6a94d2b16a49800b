import {
  followResource,
  type FollowOptions,
  type OriginOf,
  urlOfName,
} from "@xdstp/transport-http/client";

import type { ResourceOrigin } from "./resource-origin.ts";
import { createWatchClient, type WebClient, type WebOptions } from "./watch-client.ts";

/** Options of {@link createWebClient}. All are optional. */
export interface WebClientOptions
  extends
    WebOptions,
    Pick<
      FollowOptions,
      | "headers"
      | "longPoll"
      | "events"
      | "refreshMs"
      | "answerMs"
      | "answerBytes"
      | "fetch"
      | "random"
    > {
  /**
   * The origin of the server, such as `https://config.example`, for all names; or a function that
   * returns the one of an authority, null for opaque names. Default: `https://AUTHORITY`.
   */
  readonly origin?: string | OriginOf;
}

/**
 * Creates a client for browsers and other runtimes that have `fetch`. It reads from a server of
 * native HTTP (`xdstp serve --http`, `@xdstp/transport-http/server`), also through caches and CDNs.
 */
export function createWebClient(options: WebClientOptions = {}): WebClient {
  return createWatchClient(createHttpOrigin(options), options);
}

/** Follows each resource by requests of its own. */
function createHttpOrigin(options: WebClientOptions): ResourceOrigin {
  const originOf = originsOf(options.origin);
  return {
    locate({ typeUrl, form }, name) {
      const url = urlOfName(typeUrl, name, originOf);
      return {
        key: `${form} ${url}`,
        label: url,
        follow: ({ onState, onConfirmed }) =>
          followResource({ ...options, url, form, onConfirmed }, onState),
      };
    },
    close: () => undefined,
  };
}

function originsOf(origin: WebClientOptions["origin"]): OriginOf {
  if (typeof origin === "function") return origin;
  return (authority) =>
    origin ?? (authority === null || authority === "" ? undefined : `https://${authority}`);
}
