import type { Status, XdsError } from "@xdstp/core";

/** One resource of a response that was rejected. */
export interface RejectedName {
  /** The name of the resource that is rejected. */
  readonly name: string;
  /** Why it is rejected. */
  readonly error: XdsError;
}

/** Events of a client. */
export type ClientEvent =
  /** A stream has begun. */
  | { readonly kind: "opened"; readonly attempt: number }
  /** A stream is over. `responded`: a response had come on it, so it is not a connectivity error (C-GRPC-4). The next one follows after `retryMs`. */
  | {
      readonly kind: "closed";
      readonly status: Status;
      readonly responded: boolean;
      readonly retryMs: number;
    }
  /** There were no subscriptions for some time, so the stream was ended (C-STREAM-14); the next one follows with the next subscription. */
  | { readonly kind: "idle" }
  /** A response was taken whole. */
  | {
      readonly kind: "accepted";
      readonly typeUrl: string;
      readonly nonce: string;
      readonly version: string;
      readonly resources: number;
      readonly removed: number;
    }
  /** A response was rejected, in part or whole (no names). `taken`: how many resources of it were taken all the same, none by default; `unnamed`: how many more were rejected than `names` has, none by default. */
  | {
      readonly kind: "rejected";
      readonly typeUrl: string;
      readonly nonce: string;
      readonly version: string;
      readonly resources: number;
      readonly names: readonly RejectedName[];
      readonly taken?: number;
      readonly unnamed?: number;
      readonly reason: string;
      /** The id of the rule that the response breaks as a whole, which is not part of `reason`. Absent: its resources are rejected one by one, or it does not break a single rule. */
      readonly rule?: string | undefined;
    }
  /** Something that came and means nothing here: of a type that was not asked for (C-TYPE-7), or of names that were not (C-SUB-8). */
  | { readonly kind: "ignored"; readonly typeUrl: string; readonly names: number }
  /** A requested resource has not come in time (C-MISS-4). */
  | { readonly kind: "timeout"; readonly typeUrl: string; readonly names: readonly string[] };
