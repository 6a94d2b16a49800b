import type { HoldPhase, MissedReference, NotSent } from "@xdstp/protocol/server";

/** The question of an explanation. */
export interface ExplainQuestion {
  /** The id of a node, whole. */
  readonly node: string;
  /** The type URL that the name is requested under. */
  readonly typeUrl: string;
  /** A name in any spelling; not a glob. */
  readonly name: string;
}

/** The reason why a client has a version of a resource, or does not have it. */
export interface Explanation extends ExplainQuestion {
  /** The answer in plain sentences. Names and texts of clients in it are not escaped. */
  readonly text: string;
  /** One for each stream of the node that can have the type. Empty: the node has no stream that the caller may see. */
  readonly streams: readonly StreamExplanation[];
  /** The number of connected nodes that the caller may see. */
  readonly connected: number;
  /** Ids of connected nodes, those whose length is close to that of the question first; at most 1,000. Empty where `streams` is not. */
  readonly nodes: readonly string[];
  /** Names of the type, in the order of `nodes`; at most 1,000. Empty if a stream or the source has the name. */
  readonly names: readonly string[];
  /** The number of open streams that the caller may not see. */
  readonly hiddenStreams: number;
  /** The state of the name in the source of the server, if `streams` is empty. Else it is in each stream. */
  readonly source?: SourceState;
}

/** One stream of the node. Times are milliseconds since the epoch. */
export interface StreamExplanation {
  /** Address of the client. */
  readonly peer: string;
  /** The variant that the client speaks. */
  readonly variant: "delta" | "sotw";
  /** When the stream began. A subscription of it is not older; its own time is not kept. */
  readonly connectedAt: number;
  /** The subscription that covers the name. Absent: none does. */
  readonly subscription?: CoveringSubscription;
  /** The state of the name in the source of this client. Absent: the caller or the client may not see the name. */
  readonly source?: SourceState;
  /** The state that the client has. */
  readonly held: HeldState;
  /** The reason why the client has that state. */
  readonly cause: ExplainedCause;
  /** The answer for this stream in plain sentences. */
  readonly text: string;
}

/** The subscription of a name: by itself, by one of its aliases, by a glob, by `*`. */
export interface CoveringSubscription {
  /** The form of the subscription. */
  readonly by: "name" | "alias" | "glob" | "wildcard";
  /** In the spelling of the client. */
  readonly subscribed: string;
}

/** The state of a name in a source. */
export interface SourceState {
  /** `present`: it exists. `missing`: it does not. `unknown`: that is not known yet. */
  readonly state: "present" | "missing" | "unknown";
  /** The version. Absent: it does not exist. */
  readonly version?: string;
  /** The resource is a redirect to this name. */
  readonly redirect?: string;
  /** The reason why it is missing or unknown, or may be out of date. */
  readonly error?: string;
  /** The origin of the resource. Absent: it is not known, or the caller may not see it. */
  readonly origin?: ResourceOrigin;
}

/** The origin of a resource, for people. */
export interface ResourceOrigin {
  /** A file with its line, or a server. */
  readonly place: string;
  /** The reason why the newest state of that place is not used; the last good one is served. Absent: it is used. */
  readonly problem?: string;
}

/** Returns where a resource came from. `viewKey`: that of the view that has it; undefined: all clients have it. */
export type OriginOf = (
  typeUrl: string,
  name: string,
  viewKey: string | undefined,
) => ResourceOrigin | undefined | Promise<ResourceOrigin | undefined>;

/**
 * The state of a name at a client, as far as its answers show it.
 * `newest`: the present state, which may be a removal. `earlier`: a state that was replaced or removed since. `none`: nothing. `unknown`: the answers do not show it.
 */
export interface HeldState {
  /** The kind of the state. */
  readonly what: "newest" | "earlier" | "none" | "unknown";
  /** Absent: it has none, or the source does not keep it any more. */
  readonly version?: string;
  /** When the client accepted something of the type last; it has had the version since then or longer. */
  readonly acceptedAt?: number;
}

/** The reason why a client has a state. Times are milliseconds since the epoch. */
export type ExplainedCause =
  /** The client has accepted the present state. */
  | { readonly kind: "accepted" }
  /** No subscription covers the name. `subscriptions`: how many names, globs and `*` of the type are subscribed. */
  | { readonly kind: "not-subscribed"; readonly subscriptions: number }
  /** The policy of the client hides the name (S-LIM-8). `rule`: which rule it is, where the policy tells. */
  | { readonly kind: "denied"; readonly rule?: string }
  /** The source does not have it, and the client has been sent that, or does not have to be. */
  | { readonly kind: "missing" }
  /** The source does not know yet whether it exists. */
  | { readonly kind: "not-settled" }
  /** It waits for a name to which it refers (S-ORD-2, S-ORD-4). */
  | {
      readonly kind: "held-back";
      readonly phase: HoldPhase;
      readonly for: string;
      readonly forType: string;
      readonly since: number;
    }
  /** The response waits as a whole for types that have to be accepted before (S-ORD-2, S-ORD-4). `behind`: those of them that are not accepted. */
  | { readonly kind: "order"; readonly behind: readonly string[] }
  /**
   * It was removed, and the removal waits until types that refer to it are accepted without it (S-ORD-3). `behind`: those of them that are not accepted.
   * `whileSubscribed`: it also waits as long as a client of SotW subscribes to the name, for a limited time.
   */
  | {
      readonly kind: "removal-waits";
      readonly behind: readonly string[];
      readonly whileSubscribed: boolean;
    }
  /** An earlier response of the type is not answered (S-ACK-16). */
  | { readonly kind: "behind"; readonly version: string; readonly sentAt: number }
  /** It was sent and is not answered. */
  | { readonly kind: "in-flight"; readonly version: string; readonly sentAt: number }
  /** The client has rejected the response that had it (S-ACK-8). */
  | {
      readonly kind: "rejected";
      /** The client has accepted nothing of the type since. false: it has, and that may include the present state. */
      readonly isCertain: boolean;
      /** The version of the response. */
      readonly version: string;
      readonly code: number;
      /** Text of the client, untrusted. */
      readonly message: string;
      readonly at: number;
      /** When the client began to reject. */
      readonly since: number;
      readonly missed: readonly MissedReference[];
    }
  /** The connection accepts no more bytes: the client reads too slowly. */
  | { readonly kind: "write-queue" }
  /** It cannot be sent to this client (S-SIZE-4, S-WRAP-3). */
  | { readonly kind: "unsendable"; readonly notSent: NotSent }
  /** It is sent with the next response. */
  | { readonly kind: "due" };
