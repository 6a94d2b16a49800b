import type { Status } from "@xdstp/core";

/**
 * The state of a channel, in the words of gRPC. `idle`: there is no connection and none is needed. `ready`: the server has answered over HTTP/2.
 * `transient-failure`: the last attempt or connection failed, `status` says why; the next call tries again (C-GRPC-4). `shutdown`: the channel is closed.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/connectivity-semantics-and-api.md
 */
export type Connectivity =
  | { readonly state: "idle" | "connecting" | "ready" | "shutdown" }
  | { readonly state: "transient-failure"; readonly status: Status };

/** What happens in a channel, for logs and metrics. */
export type ChannelEvent =
  | { readonly kind: "connectivity"; readonly connectivity: Connectivity }
  /** A handler threw, which it must not. Its call ended with INTERNAL. */
  | { readonly kind: "fault"; readonly where: string; readonly error: unknown };
