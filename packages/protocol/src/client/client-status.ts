import type { Interest, Status, XdsError } from "@xdstp/core";
import type { WantState } from "./wanted.ts";

/** What is known of one thing that is wanted (C-CSDS-3). */
export interface WantStatus {
  /** What is subscribed. */
  readonly interest: Interest;
  /** What is known of it. */
  readonly state: WantState;
  /** When something of it came last, in milliseconds since the epoch; 0: never. */
  readonly at: number;
  /** Why there is none, or why what is held may be old. */
  readonly error?: XdsError;
  /** Rejected last and not made good: the name itself, or members of a collection. */
  readonly rejected: readonly RejectedState[];
}

/** A state that was rejected. */
export interface RejectedState {
  /** The name of the resource that was rejected. */
  readonly name: string;
  /** The version that was rejected. Empty: the server gave none. */
  readonly version: string;
  /** Why it was rejected. */
  readonly error: XdsError;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** One type of a client end. */
export interface ClientTypeStatus {
  /** The type URL. */
  readonly typeUrl: string;
  /** Of the last accepted response. Empty: none. */
  readonly version: string;
  /** Nonce of the last response on this stream. Empty: none. */
  readonly nonce: string;
  /** The last response was said to be a trial, which changes nothing (B-VER-8). Delta cannot say so. */
  readonly canary: boolean;
  /** A row for each name, glob and `*` that is subscribed. */
  readonly wants: readonly WantStatus[];
}

/** A client end. */
export interface ClientStatus {
  /** The variant that the client end speaks. */
  readonly variant: "delta" | "sotw";
  /** A stream is open. */
  readonly connected: boolean;
  /** A response has come on it (C-GRPC-4). */
  readonly responded: boolean;
  /** How the last stream ended. Absent: none has, or it was ended since nothing was wanted (C-STREAM-14). */
  readonly lastEnd?: Status;
  /** `control_plane.identifier` of the last response (B-NODE-9). Empty: none was given. */
  readonly controlPlane: string;
  /** A row for each type that was subscribed. */
  readonly types: readonly ClientTypeStatus[];
  /** Since the client end was made. */
  readonly counts: ClientCounts;
}

/** What a client end has counted. */
export interface ClientCounts {
  /** Streams that were opened. */
  readonly streams: number;
  /** Responses that were received. */
  readonly responses: number;
  /** Of them, rejected in part or whole. */
  readonly rejected: number;
  /** Resources taken, and resources rejected. */
  readonly validResources: number;
  /** Resources that were rejected. */
  readonly invalidResources: number;
  /** Names and types that came and were not asked for. */
  readonly ignored: number;
  /** Streams that ended without a response, and attempts that failed (C-GRPC-14). */
  readonly failures: number;
}
