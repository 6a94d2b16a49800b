import { nameKey } from "@xdstp/uri";

import type { AnyBytes, XdsError } from "@xdstp/core";
import { decodeLatin1 } from "@xdstp/core/wire";

/**
 * A resource as it was received: from a delta response, or from a wrapped or unwrapped one of SotW.
 * Bytes are views into the message.
 */
export interface ReceivedResource {
  /** The name, as it was received. */
  readonly name: string;
  /** The canonical key: equal for names that are equal (N-40). */
  readonly key: string;
  /** The version. Empty: the server gave none. */
  readonly version: string;
  /** The payload. Absent: the resource came without a body (C-MISS-3, C-TTL-3). */
  readonly payload?: AnyBytes | undefined;
  /** Other names of the resource (delta). Absent: none. */
  readonly aliases?: readonly string[];
  /** Milliseconds for which it is valid without a heartbeat. Absent: it has no TTL. */
  readonly ttlMs?: number;
  /** `cache_control.do_not_cache` is set. Absent: it is not. */
  readonly noStore?: boolean;
  /** An encoded `DynamicParameterConstraints`. */
  readonly constraints?: Uint8Array;
  /** The encoded `Metadata` of the wrapper. Absent: none. */
  readonly metadata?: Uint8Array;
  /** Why it cannot be read; the other fields have what could be read. */
  readonly fault?: string;
}

/** A name that was removed, or has an error. */
export interface ReceivedName {
  /** The name, as it was received. */
  readonly name: string;
  /**
   * The encoded `DynamicParameterConstraints` of the variant (TP2). Absent: the variant without
   * constraints.
   */
  readonly constraints?: Uint8Array;
  /** Why the resource does not exist (TP3). Absent: it was removed. */
  readonly error?: XdsError;
}

/** A response of either variant. */
export interface ReceivedResponse {
  /** The type URL of the response. */
  readonly typeUrl: string;
  /** The nonce, which the answer repeats. */
  readonly nonce: string;
  /** `version_info`, or `system_version_info`. */
  readonly version: string;
  /** `control_plane.identifier` (B-NODE-9). Empty: none. */
  readonly controlPlane: string;
  /** True if the response is marked as a canary; for status only (B-VER-8). */
  readonly canary: boolean;
  /** The resources that were received. */
  readonly resources: readonly ReceivedResource[];
  /** The names that were removed (delta). */
  readonly removed: readonly ReceivedName[];
  /** The names that have an error (TP3). */
  readonly errors: readonly ReceivedName[];
  /** Why the message as a whole cannot be accepted (C-ACK-6). */
  readonly fault?: string;
}

/**
 * Returns a key that is equal for names that are equal (N-40). Variants of a name have different
 * keys (TP2).
 */
export function receivedKey({
  name,
  key = nameKey(name),
  constraints,
}: {
  readonly name: string;
  readonly key?: string;
  readonly constraints?: Uint8Array;
}): string {
  return constraints === undefined ? key : `${key}\n${decodeLatin1(constraints)}`;
}
