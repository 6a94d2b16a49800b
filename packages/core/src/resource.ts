import type { XdsError } from "./xds-error.ts";

/** A packed message: a `google.protobuf.Any` whose bytes are not changed. */
export interface AnyBytes {
  /** `type.googleapis.com/` and the full message name (B-TYPE-1). */
  readonly typeUrl: string;
  /** The encoded message. */
  readonly value: Uint8Array;
}

/** The target of a subscription: an exact name, an alias, a glob URL, or `*`. */
export interface Interest {
  /** The name, as the subscriber spells it; answers have the same spelling (N-42). */
  readonly name: string;
  /**
   * Dynamic parameters (TP2), which choose among the variants of each name; they do not belong to
   * the name (N-66). Absent: none, which equals an empty map.
   */
  readonly parameters?: ReadonlyMap<string, string>;
}

/**
 * A part of what a feed supplies: everything, one type, one interest or one authority. An absent
 * member does not narrow it.
 */
export interface Scope {
  /** Absent: every type. */
  readonly typeUrl?: string;
  /** Absent: every name. */
  readonly interest?: Interest;
  /**
   * The decoded authority, as `authorityOf` returns it; null: opaque names. Absent: every
   * authority, and opaque names.
   */
  readonly authority?: string | null;
}

/**
 * A resource as a feed supplies it; immutable.
 *
 * `payload.value` may be a view into a larger message: the cache copies it once, into the form that
 * it stores.
 * `payload.typeUrl` differs from the requested type in two cases only: a redirect (C-REDIR-1), and
 * a list collection that is requested under the type of its members (B-TYPE-6).
 */
export interface Resource {
  /** The name: an opaque name or an xdstp name, never a glob or `*` (N-50). */
  readonly name: string;
  /**
   * The version, an opaque text (B-VER-1). Empty: the cache derives one from the content (S-VER-4).
   */
  readonly version: string;
  /** The content. */
  readonly payload: AnyBytes;
  /** Other names under which the resource is found; for opaque names and VHDS only (B-ALIAS-4). */
  readonly aliases?: readonly string[];
  /**
   * Milliseconds for which a client keeps the resource without a heartbeat; servers send heartbeats
   * (S-TTL-2). The cache removes nothing by it: see `expireMs`.
   */
  readonly ttlMs?: number;
  /**
   * Milliseconds until the cache removes the resource, unless it is put again before (S-TTL-11). It
   * is not sent to clients. Absent: it is not removed by time.
   */
  readonly expireMs?: number;
  /** `cache_control.do_not_cache` (B-RELAY-11). */
  readonly noStore?: boolean;
  /**
   * An encoded `DynamicParameterConstraints` (TP2): makes this a variant of the name, for clients
   * whose parameters match. Absent or empty: for every client.
   */
  readonly constraints?: Uint8Array;
  /** An encoded `envoy.config.core.v3.Metadata`. */
  readonly metadata?: Uint8Array;
}

/** A resource as the cache stores it and readers send it: encoded once for all readers. */
export interface StoredResource extends Resource {
  /**
   * The version that the feed gave, or `version` if it gave none. The two differ only if the feed
   * reused its version for other content, which is served as `version~hash` (B-VER-5).
   */
  readonly given: string;
  /** The encoded `Resource` message of the delta variant. A TTL, if present, is its last field. */
  readonly wire: Uint8Array;
  /**
   * The length of `wire` without the TTL: a client that does not support TTLs is sent
   * `wire.subarray(0, bare)` (S-TTL-1).
   */
  readonly bare: number;
  /**
   * The range of `0x12 length Any` in `wire`. These bytes are exactly the `resources` field of a
   * SotW response.
   */
  readonly any: readonly [start: number, end: number];
  /** A 52-bit hash of name and version. The sum over a set, modulo 2^52, is the content version of the set (S-VER-2). */
  readonly hash: number;
}

/**
 * The newest state of one name. Without a resource, the name does not exist.
 * All topics that have the name in the same spelling share the same object.
 */
export interface Entry {
  /**
   * The revision of the transaction that last changed the entry; one counter counts for all types
   * of a cache.
   */
  readonly revision: number;
  /**
   * The revision since which the name has existed without a gap, or had existed until it was
   * removed. 0: not known. If it is greater than the revision that a client has accepted, the
   * client has never had the resource (S-ORD-4).
   */
  readonly since: number;
  /** True if the name has a newer entry. The only member that changes. */
  readonly superseded: boolean;
  /** The spelling in which readers answer, also after a link (N-42). */
  readonly name: string;
  /** The resource. Absent: the name does not exist. */
  readonly resource?: StoredResource;
  /**
   * In an entry without a resource: the encoded `DynamicParameterConstraints` of the variant that
   * was removed (TP2). Absent: the removed resource had none.
   */
  readonly constraints?: Uint8Array;
  /** With a resource: an ambient error. Without a resource: why the name does not exist. */
  readonly error?: XdsError;
}
