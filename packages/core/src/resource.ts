import type { XdsError } from "./xds-error.ts";

/** A packed message: `google.protobuf.Any` with its bytes untouched. */
export interface AnyBytes {
  /** `type.googleapis.com/` and the full message name (B-TYPE-1). */
  readonly typeUrl: string;
  /** The encoded message. */
  readonly value: Uint8Array;
}

/** One thing asked for: an exact name, an alias, a glob URL, or `*`. */
export interface Interest {
  /** In the spelling of whoever asks; answers have the same (N-42). */
  readonly name: string;
  /** Dynamic parameters of TP2, which choose among the variants of each name; they are not part of the name (N-66). Absent: none, as if they were empty. */
  readonly parameters?: ReadonlyMap<string, string>;
}

/** A part of what a feed supplies: all of it, one type, one interest, one authority. Absent parts do not narrow. */
export interface Scope {
  /** Absent: every type. */
  readonly typeUrl?: string;
  /** Absent: every name. */
  readonly interest?: Interest;
  /** Decoded, as `authorityOf` gives it; null: opaque names. Absent: every authority, and opaque names. */
  readonly authority?: string | null;
}

/**
 * A resource as a feed gives it; immutable.
 *
 * `payload.value` may be a view into a larger message: the cache copies it once, into the form it keeps.
 * `payload.typeUrl` differs from the type asked for only in a redirect (C-REDIR-1), and in a list collection asked for under the type of its members (B-TYPE-6).
 */
export interface Resource {
  /** A name, an opaque one or an xdstp name; never a glob or `*` (N-50). */
  readonly name: string;
  /** Opaque (B-VER-1). Empty: the cache derives one from the content (S-VER-4). */
  readonly version: string;
  /** The content. */
  readonly payload: AnyBytes;
  /** Other names it answers to; for opaque names and VHDS only (B-ALIAS-4). */
  readonly aliases?: readonly string[];
  /** Milliseconds that a client keeps it without a heartbeat; servers send these (S-TTL-2). It ends nothing in the cache: that is `expireMs`. */
  readonly ttlMs?: number;
  /** Milliseconds after which the cache removes it, unless it is put again before (S-TTL-11). Clients are not told. Absent: it stays. */
  readonly expireMs?: number;
  /** `cache_control.do_not_cache` (B-RELAY-11). */
  readonly noStore?: boolean;
  /** An encoded `DynamicParameterConstraints` (TP2): a variant of the name, for those whose parameters match it. Absent, or of no bytes: for everyone. */
  readonly constraints?: Uint8Array;
  /** An encoded `envoy.config.core.v3.Metadata`. */
  readonly metadata?: Uint8Array;
}

/** A resource as the cache keeps it and readers send it: encoded once, whoever reads it. */
export interface StoredResource extends Resource {
  /** The version that its feed gave it, or `version` where that gave none. It is another than `version` only where it was reused for other content, which is served as `version~hash` (B-VER-5). */
  readonly given: string;
  /** The encoded `Resource` message of the delta variant. A TTL, if there is one, is its last field. */
  readonly wire: Uint8Array;
  /** Length of `wire` without the TTL: `wire.subarray(0, bare)` is what a client gets that takes no TTL (S-TTL-1). */
  readonly bare: number;
  /** Where the slice `0x12 length Any` lies in `wire`; byte for byte the `resources` field of a SotW response. */
  readonly any: readonly [start: number, end: number];
  /** A 52-bit hash of name and version. The sum over a set, modulo 2^52, is the content version of the set (S-VER-2). */
  readonly hash: number;
}

/**
 * The newest state of one name. Without a resource it says: does not exist.
 * It is the same object in every topic that holds the name in the same spelling.
 */
export interface Entry {
  /** Revision of the transaction that last changed it; one counter for all types of a cache. */
  readonly revision: number;
  /** Revision since which the name exists without a gap, or existed until it was removed; 0: not known. Above the accepted revision of a client: it never had it (S-ORD-4). */
  readonly since: number;
  /** The one thing that changes: a newer entry of the name exists. */
  readonly superseded: boolean;
  /** The spelling to answer under, also after a link (N-42). */
  readonly name: string;
  /** What the name has. Absent: it does not exist. */
  readonly resource?: StoredResource;
  /** Without a resource: it is this variant of the name that went (TP2), an encoded `DynamicParameterConstraints`. What was sent without constraints goes without. */
  readonly constraints?: Uint8Array;
  /** Next to a resource: ambient. Alone: why there is none. */
  readonly error?: XdsError;
}
