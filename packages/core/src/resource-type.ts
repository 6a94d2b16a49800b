import type { Resource } from "./resource.ts";
import type { XdsError } from "./xds-error.ts";

/** A reference from one resource to another. */
export interface Reference {
  /** The type URL of what is referred to. */
  readonly typeUrl: string;
  /** As it is in the payload. */
  readonly name: string;
  /** The encoded `envoy.config.core.v3.ConfigSource` next to it (C-AUTH-4, C-AUTH-6). Absent: there is none, or it says `ads` and no more. */
  readonly source?: Uint8Array;
  /** Where what the named resource refers to comes from, which only its referrer says: the routes of a scope. Absent: the resource says it. */
  readonly within?: {
    /** The type URL of the names within. */
    readonly typeUrl: string;
    /** The encoded ConfigSource of these names. Absent: they come from a file, and are not references. */
    readonly source?: Uint8Array;
  };
}

/** All that may differ between resource types, as data: there is no `if` on a type URL anywhere else. */
export interface ResourceType {
  /** Its type URL; all else is optional. */
  readonly typeUrl: string;
  /** The type of a list collection of this type (B-LIST-1). */
  readonly collectionTypeUrl?: string;
  /** The field of the payload that holds its name, needed for unwrapped SotW (B-WRAP-4). Absent: 1. 0: it has none. */
  readonly nameField?: number;
  /** Each SotW response holds all of it, and absence deletes (S-FULL-1). Absent: false. */
  readonly fullStateInSotw?: boolean;
  /** An empty first list means `*` (S-WILD-6). Absent: true. */
  readonly legacyWildcard?: boolean;
  /** The types whose resources have to go out before those of this one (S-ORD-5). Absent: none. */
  readonly follows?: readonly {
    /** The type that goes first. */
    readonly typeUrl: string;
    /** Whether the other type has to be sent, or also accepted, before this one goes out (S-ORD-2). */
    readonly when: "sent" | "accepted";
  }[];
  /** The types that refer to this one and must have let go before a removal (S-ORD-3); it cannot be read off `follows`. */
  readonly refersTo?: readonly string[];
  /** The types whose resources are sent again, when subscribed, after a resource of this type that they belong to was sent (S-WARM-1): a client waits for them when that resource is new or changed. */
  readonly warms?: readonly {
    /** The type that is waited for. */
    readonly typeUrl: string;
    /** The names that a payload of this type waits for. */
    readonly names: (payload: Uint8Array) => readonly string[];
  }[];
  /** How a missing name is sent over delta (S-MISS-2). Absent: removed. */
  readonly missingAs?: "removed" | "empty-resource";
  /** Not reported removed while a live parent refers to it (S-REM-3). Absent: false. */
  readonly keepWhileReferenced?: boolean;
  /** What a payload refers to. Must not throw: nothing, for a payload that cannot be read. */
  readonly references?: (payload: Uint8Array) => readonly Reference[];
  /** A check of the content; a rejection leaves the state before it in force. */
  readonly validate?: (resource: Resource) => XdsError | undefined;
}

/**
 * Turns messages of one type into resources. `messageType` of `@xdstp/resource-types` makes one from a schema of protobuf-es.
 *
 * @typeParam M - the messages.
 */
export interface MessageType<M> {
  /** The type URL of the resources. */
  readonly typeUrl: string;
  /** Returns the bytes of a message. */
  encode(message: M): Uint8Array;
  /** Returns the name in a message; empty if the message has none. */
  nameOf(message: M): string;
}
