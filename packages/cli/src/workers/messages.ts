import type { StreamInfo, StreamStatus } from "@xdstp/protocol/server";
import type { RejectedVersion, UpstreamStatus } from "@xdstp/relay";
import type { CallPeer } from "@xdstp/grpc/server";
import type { Health } from "@xdstp/server";
import { type StatusName, XdsError } from "@xdstp/core";
import type { CliEvent } from "../cli-event.ts";
import type { Endpoint, ServedTls } from "../endpoint.ts";
import type { Held } from "../reporter.ts";
import type { RelayCall } from "../relay-call.ts";

/** The task of a process, passed when it is started. */
export interface ChildTask {
  /** 0: the first process, which subscribes upstream. The others serve clients. */
  readonly worker: number;
  readonly call: RelayCall;
  /** The path of the socket on which the first process listens. */
  readonly path: string;
}

/** The state of one process, for the screen. */
export interface Look {
  readonly streams: readonly StreamStatus[];
  readonly upstreams: readonly UpstreamStatus[];
  /** Versions that clients of this process have rejected. */
  readonly rejections: readonly RejectedVersion[];
  readonly held: Held;
}

/** A message from a process to its parent. */
export type FromChild =
  | { readonly kind: "events"; readonly events: readonly CliEvent[] }
  /** The process listens. */
  | { readonly kind: "open"; readonly address?: Endpoint; readonly tls?: ServedTls | undefined }
  /** The process cannot start. */
  | { readonly kind: "failed"; readonly exitCode: 1 | 2; readonly message: string }
  /** A client requests client status, so the process asks for that of all processes. */
  | {
      readonly kind: "collect";
      readonly id: number;
      readonly request: Uint8Array;
      readonly peer: CallPeer;
    }
  /** The client status of the process itself, which the parent has requested. */
  | { readonly kind: "status"; readonly id: number; readonly answer: StatusAnswer }
  | { readonly kind: "look"; readonly look: Look }
  /** The servers upstream of the first process; of a worker, the files that it follows. */
  | { readonly kind: "health"; readonly rows: readonly Health[] }
  /** The metrics of the process, in the text format of Prometheus. */
  | { readonly kind: "metrics"; readonly text: string };

/** A message from the parent to one of its processes. */
export type ToChild =
  | { readonly kind: "stop" }
  /** `upstreams`: the servers upstream as the first process sees them. A worker knows only the socket. */
  | {
      readonly kind: "status";
      readonly id: number;
      readonly request: Uint8Array;
      readonly peer: CallPeer;
      readonly upstreams: readonly Health[];
    }
  | { readonly kind: "collected"; readonly id: number; readonly answer: StatusAnswer }
  | { readonly kind: "look" }
  | { readonly kind: "health" }
  | { readonly kind: "metrics"; readonly upstreams: readonly Health[] };

/** A response of client status as bytes, or the error. */
export type StatusAnswer =
  { readonly bytes: Uint8Array } | { readonly code: string; readonly text: string };

/** The name of the environment variable with the {@link ChildTask} as JSON. */
export const taskVariable = "XDSTP_RELAY_WORKER";

interface PlainError {
  readonly xdsError: StatusName;
  readonly text: string;
  readonly rule?: string | undefined;
}

/** Returns an event as plain data for another process. XdsErrors become objects, and functions and objects of this process are left out. */
export function plainEvent(shown: CliEvent): CliEvent {
  const { event } = shown;
  const known = "stream" in event ? { stream: infoOf(event.stream), held: undefined } : {};
  return plain({ ...shown, event: { ...event, ...known } }) as CliEvent;
}

/** Returns an event of another process, in which objects for errors are XdsErrors again. */
export function realEvent(shown: CliEvent): CliEvent {
  return mapDeep(shown, realError) as CliEvent;
}

/** Returns the state of a process, in which objects for errors are XdsErrors again. */
export function realLook(look: Look): Look {
  return mapDeep(look, realError) as Look;
}

/** Returns a status as plain data, by the same rules as {@link plainEvent}. */
export function plain(value: unknown): unknown {
  return mapDeep(value, (one) =>
    one instanceof XdsError
      ? ({ xdsError: one.code, text: one.text, rule: one.context.rule } satisfies PlainError)
      : undefined,
  );
}

function realError(one: object): XdsError | undefined {
  if (!("xdsError" in one)) return undefined;
  const { xdsError, text, rule } = one as PlainError;
  return new XdsError(xdsError, text, { rule });
}

/** Returns the facts of a stream without the objects of this process that belong to it. */
function infoOf({ id, variant, peer, node, service, identity }: StreamInfo): StreamInfo {
  return {
    id,
    variant,
    peer,
    node,
    ...(service !== undefined && { service }),
    ...(identity !== undefined && { identity }),
  };
}

function mapDeep(value: unknown, change: (value: object) => unknown): unknown {
  if (typeof value === "function") return undefined;
  if (typeof value !== "object" || value === null) return value;
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((one) => mapDeep(one, change));
  if (Object.getPrototypeOf(value) !== Object.prototype)
    return value instanceof Uint8Array || value instanceof Error ? value : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, mapDeep(one, change)]),
  );
}
