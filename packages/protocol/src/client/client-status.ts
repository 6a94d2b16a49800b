import type { Interest, Status, XdsError } from "@xdstp/core";
import type { WantState } from "./knowledge.ts";

/** The state of one subscription (C-CSDS-3). */
export interface WantStatus {
  /** The name, glob or `*` that is subscribed. */
  readonly interest: Interest;
  /** The knowledge of the client about it. */
  readonly state: WantState;
  /** When a resource of it last came, in milliseconds since the epoch; 0: never. */
  readonly at: number;
  /** Why it does not exist, or why the cached state may be out of date. */
  readonly error?: XdsError;
  /**
   * States that were rejected and not corrected since: of the name itself, or of members of a
   * collection.
   */
  readonly rejected: readonly {
    /** The name of the resource that was rejected. */
    readonly name: string;
    /** The version that was rejected. Empty: the server gave none. */
    readonly version: string;
    /** Why it was rejected. */
    readonly error: XdsError;
    /** When it was rejected, in milliseconds since the epoch. */
    readonly at: number;
  }[];
}

/** The status of one type of a client. */
export interface ClientTypeStatus {
  /** The type URL. */
  readonly typeUrl: string;
  /** The version of the last accepted response. Empty: none. */
  readonly version: string;
  /** The nonce of the last response on this stream. Empty: none. */
  readonly nonce: string;
  /**
   * True if the last response was marked as a canary, which has no effect (B-VER-8). Delta has no
   * such mark.
   */
  readonly canary: boolean;
  /** A row for each subscribed name, glob and `*`. */
  readonly wants: readonly WantStatus[];
}

/** The status of a client of one server. */
export interface ClientStatus {
  /** The variant that the client uses. */
  readonly variant: "delta" | "sotw";
  /** True if a stream is open and has reached the server. */
  readonly connected: boolean;
  /** True if a response has come on that stream (C-GRPC-4). */
  readonly responded: boolean;
  /**
   * The status with which the last stream ended. Absent: none has ended, or it was ended without
   * subscriptions (C-STREAM-14).
   */
  readonly lastEnd?: Status;
  /** `control_plane.identifier` of the last response (B-NODE-9). Empty: the server gave none. */
  readonly controlPlane: string;
  /** A row for each type that was subscribed. */
  readonly types: readonly ClientTypeStatus[];
  /** Counts since the client was created. */
  readonly counts: {
    /** Streams that were opened. */
    readonly streams: number;
    /** Responses that were received. */
    readonly responses: number;
    /** Responses that were rejected, in part or as a whole. */
    readonly rejected: number;
    /** Resources that were accepted. */
    readonly validResources: number;
    /** Resources that were rejected. */
    readonly invalidResources: number;
    /** Names and responses that were ignored, since they were not requested. */
    readonly ignored: number;
    /** Streams that ended without a response, failed connection attempts included (C-GRPC-14). */
    readonly failures: number;
  };
}
