import type { Interest, Status, XdsError } from "@xdstp/core";
import type { WantState } from "./wanted.ts";

/** The state of one subscription (C-CSDS-3). */
export interface WantStatus {
  /** What is subscribed. */
  readonly interest: Interest;
  /** What is known of it. */
  readonly state: WantState;
  /** When something of it came last, in milliseconds since the epoch; 0: never. */
  readonly at: number;
  /** Why there is none, or why the cached one may be out of date. */
  readonly error?: XdsError;
  /** Rejected last and not made good: the name itself, or members of a collection. */
  readonly rejected: readonly {
    /** The name of the resource that was rejected. */
    readonly name: string;
    /** The version that was rejected. Empty: the server gave none. */
    readonly version: string;
    /** Why it was rejected. */
    readonly error: XdsError;
    /** Milliseconds since the epoch. */
    readonly at: number;
  }[];
}

/** One type of a client. */
export interface ClientTypeStatus {
  /** The type URL. */
  readonly typeUrl: string;
  /** Of the last accepted response. Empty: none. */
  readonly version: string;
  /** Nonce of the last response on this stream. Empty: none. */
  readonly nonce: string;
  /** The last response was marked as a trial, which changes nothing (B-VER-8). Delta has no such mark. */
  readonly canary: boolean;
  /** A row for each name, glob and `*` that is subscribed. */
  readonly wants: readonly WantStatus[];
}

/** A client of one server. */
export interface ClientStatus {
  /** The variant that the client uses. */
  readonly variant: "delta" | "sotw";
  /** A stream is open. */
  readonly connected: boolean;
  /** A response has come on it (C-GRPC-4). */
  readonly responded: boolean;
  /** How the last stream ended. Absent: none has, or it ended without subscriptions (C-STREAM-14). */
  readonly lastEnd?: Status;
  /** `control_plane.identifier` of the last response (B-NODE-9). Empty: none was given. */
  readonly controlPlane: string;
  /** A row for each type that was subscribed. */
  readonly types: readonly ClientTypeStatus[];
  /** Since the client was made. */
  readonly counts: {
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
  };
}
