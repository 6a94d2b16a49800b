import type { StreamStatus } from "@xdstp/core/server";
import type { RefusedVersion, RelayStatus } from "@xdstp/relay";
import type { CallPeer } from "@xdstp/grpc/server";
import type { Health } from "@xdstp/server";
import type { CliEvent } from "../cli-event.ts";
import type { ServedTls } from "../connect-commands.ts";
import type { Held } from "../host-server.ts";
import type { Endpoint } from "../parse-endpoint.ts";
import type { RelayCall } from "../relay.ts";

/** What a process is told when it is made. */
export interface ChildTask {
  /** 0: the one that asks upstream; the others serve clients. */
  readonly worker: number;
  readonly call: RelayCall;
  /** The socket of the first. */
  readonly path: string;
}

/** What one process has, to be shown. */
export interface Look {
  readonly streams: readonly StreamStatus[];
  readonly upstreams: RelayStatus["upstreams"];
  /** By its own clients. */
  readonly refusals: readonly RefusedVersion[];
  readonly held: Held;
}

/** From a process to the one that has made it. */
export type FromChild =
  | { readonly kind: "events"; readonly events: readonly CliEvent[] }
  /** Others may connect. */
  | { readonly kind: "open"; readonly address?: Endpoint; readonly tls?: ServedTls | undefined }
  /** It cannot begin. */
  | { readonly kind: "failed"; readonly exitCode: 1 | 2; readonly message: string }
  /** It is asked for client status, and wants that of all. */
  | { readonly kind: "collect"; readonly id: number; readonly request: Uint8Array; readonly peer: CallPeer }
  /** Its own, as asked. */
  | { readonly kind: "status"; readonly id: number; readonly answer: StatusAnswer }
  | { readonly kind: "look"; readonly look: Look }
  /** What it has measured, in the text format of Prometheus. */
  | { readonly kind: "metrics"; readonly text: string };

/** From the one that makes processes to one of them. */
export type ToChild =
  | { readonly kind: "stop" }
  /** `upstreams`: the servers upstream, as the first process sees them; a worker has a socket instead. */
  | { readonly kind: "status"; readonly id: number; readonly request: Uint8Array; readonly peer: CallPeer; readonly upstreams: readonly Health[] }
  | { readonly kind: "collected"; readonly id: number; readonly answer: StatusAnswer }
  | { readonly kind: "look" }
  | { readonly kind: "metrics"; readonly upstreams: readonly Health[] };

/** A response of client status as bytes, or why there is none. */
export type StatusAnswer = { readonly bytes: Uint8Array } | { readonly code: string; readonly text: string };

/** The variable of the environment that has the {@link ChildTask}. */
export const taskVariable = "XDSTP_RELAY_WORKER";
