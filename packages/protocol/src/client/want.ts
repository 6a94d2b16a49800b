import type { Interest, Removal, XdsError } from "@xdstp/core";

/** What is known of something wanted (C-CSDS-3). */
export type WantState = "requested" | "held" | "missing" | "rejected" | "error" | "timeout";

/** One thing that is wanted of a type. */
export interface Want {
  /** What is subscribed. */
  readonly interest: Interest;
  /** Equal for names that are equal (N-40). */
  readonly key: string;
  /** Whether it is one name or a collection. */
  readonly kind: "name" | "glob" | "wildcard";
  /** It was in a request on this stream. */
  asked: boolean;
  /** That request was the first one of its type on this stream, so that every response has taken account of it (C-FULL-3). */
  askedFirst: boolean;
  /** Nothing has been concluded of it since it was asked for on this stream. */
  awaited: boolean;
  /** While it is awaited: a full state has come without it, which was perhaps sent before the server had read the request (C-FULL-3). */
  leftOut: boolean;
  /** The same of a collection: what is held of it, or was rejected, and was not in the last full state. */
  unseen: readonly Removal[];
  /** Something has come of a collection since then: the first of what will be all of it (C-GLOB-9). */
  begun: boolean;
  /** Keys of the members that have come of a collection since it was requested on this stream: only one that is not among them shows that the first answer goes on (C-GLOB-9). Absent: none, or it is not awaited. */
  came: Set<string> | undefined;
  /** Upper bound of the members of a collection, for the limit on them (C-LIM-7): changes are counted too, until the limit is reached. */
  members: number;
  /** When the members were counted exactly, in milliseconds of the clock. Absent: never. */
  countedAt: number | undefined;
  /** Key of the name that its resource came under, where that is another: it is wanted by an alias (C-ALIAS-3). */
  realName: string | undefined;
  /** What is known of it now. */
  state: WantState;
  /** When something of it came last, in milliseconds since the epoch; 0: never (B-CSDS-2). */
  at: number;
  /** What was rejected of it last and is not made good: a name itself, or members of a glob or wildcard. */
  rejected: Map<string, NotedRejection> | undefined;
  /** Why there is none, or why what is held may be old. */
  error: XdsError | undefined;
}

/** A rejected state as its want keeps it. */
export interface NotedRejection extends Omit<RejectedState, "at"> {
  /** When it was rejected, by `Clock.now()`. */
  readonly moment: number;
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
