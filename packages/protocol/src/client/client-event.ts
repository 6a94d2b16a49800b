import type { Status, XdsError } from "@xdstp/core";

/** One resource of a response that was rejected. */
export interface RejectedName {
  /** The name of the rejected resource. */
  readonly name: string;
  /** The reason. */
  readonly error: XdsError;
}

/** An event of a client. */
export type ClientEvent =
  /** A stream has begun. */
  | { readonly kind: "opened"; readonly attempt: number }
  /**
   * A stream has ended. `responded`: a response had come on it, so the end is not a connectivity
   * error (C-GRPC-4). The next stream is opened after `retryMs` milliseconds.
   */
  | {
      readonly kind: "closed";
      readonly status: Status;
      readonly responded: boolean;
      readonly retryMs: number;
    }
  /**
   * The stream was ended, since there were no subscriptions for some time (C-STREAM-14). The next
   * subscription opens another one.
   */
  | { readonly kind: "idle" }
  /** A response was accepted as a whole. */
  | {
      readonly kind: "accepted";
      readonly typeUrl: string;
      readonly nonce: string;
      readonly version: string;
      readonly resources: number;
      readonly removed: number;
    }
  /**
   * A response was rejected in part, or as a whole (no names). `taken`: the number of its resources
   * that were accepted nevertheless, 0 by default. `unnamed`: the number of rejected resources that
   * are not in `names`, 0 by default.
   */
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
      /**
       * The id of the rule that the whole response breaks; it is not part of `reason`. Absent: its
       * resources were rejected one by one, or it does not break a single rule.
       */
      readonly rule?: string | undefined;
    }
  /**
   * A response, or a part of one, was ignored: it is of a type that was not requested (C-TYPE-7),
   * or has names that were not (C-SUB-8).
   */
  | { readonly kind: "ignored"; readonly typeUrl: string; readonly names: number }
  /** A requested resource has not come in time (C-MISS-4). */
  | { readonly kind: "timeout"; readonly typeUrl: string; readonly names: readonly string[] };
