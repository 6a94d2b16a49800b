import type { Resource } from "./resource.ts";
import type { XdsError } from "./xds-error.ts";

/** A reference from one resource to another. */
export interface Reference {
  /** The type URL of the resource that is referred to. */
  readonly typeUrl: string;
  /** The name, as it is in the payload. */
  readonly name: string;
  /**
   * The encoded `envoy.config.core.v3.ConfigSource` next to the name (C-AUTH-4, C-AUTH-6). Absent:
   * there is none, or it is only `ads`.
   */
  readonly source?: Uint8Array;
  /**
   * The source of the references of the named resource, if only the referrer says so: the routes
   * of a scope. Absent: the named resource says it.
   */
  readonly within?: {
    /** The type URL of the resources that the named resource refers to. */
    readonly typeUrl: string;
    /**
     * The encoded ConfigSource of these resources. Absent: they come from a file, and are not
     * references.
     */
    readonly source?: Uint8Array;
  };
}

/** Everything in which resource types differ, as data: no other code tests a type URL. */
export interface ResourceType {
  /** The type URL; everything else is optional. */
  readonly typeUrl: string;
  /** The type URL of a list collection of this type (B-LIST-1). */
  readonly collectionTypeUrl?: string;
  /**
   * The number of the payload field with the name, needed for unwrapped SotW (B-WRAP-4). Absent: 1.
   * 0: the payload has no name.
   */
  readonly nameField?: number;
  /**
   * True if each SotW response has all resources of the type, so that absence deletes (S-FULL-1).
   * Absent: false.
   */
  readonly fullStateInSotw?: boolean;
  /** True if an empty first list of names means `*` (S-WILD-6). Absent: true. */
  readonly legacyWildcard?: boolean;
  /** The types whose resources are sent before those of this type (S-ORD-5). Absent: none. */
  readonly follows?: readonly {
    /** The type that is sent first. */
    readonly typeUrl: string;
    /**
     * The state that resources of the other type have to reach before those of this type are sent
     * (S-ORD-2): `sent`, or `accepted` as well.
     */
    readonly when: "sent" | "accepted";
  }[];
  /**
   * The types that refer to this one. A removal waits until none of their resources refers to it
   * (S-ORD-3). It cannot be derived from `follows`.
   */
  readonly refersTo?: readonly string[];
  /**
   * The types of which subscribed resources are sent again after the resource of this type that
   * they belong to was sent (S-WARM-1): a client waits for them when that resource is new or
   * changed.
   */
  readonly warms?: readonly {
    /** The type that the client waits for. */
    readonly typeUrl: string;
    /** Returns the names that a payload of this type waits for. */
    readonly names: (payload: Uint8Array) => readonly string[];
  }[];
  /** The form of a missing name over delta (S-MISS-2). Absent: `removed`. */
  readonly missingAs?: "removed" | "empty-resource";
  /**
   * True if a removal is not sent while a parent that exists refers to the resource (S-REM-3).
   * Absent: false.
   */
  readonly keepWhileReferenced?: boolean;
  /**
   * Returns the references in a payload. Must not throw: returns none for a payload that cannot be
   * read.
   */
  readonly references?: (payload: Uint8Array) => readonly Reference[];
  /** Checks the content. A rejected resource keeps its previous state. */
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
