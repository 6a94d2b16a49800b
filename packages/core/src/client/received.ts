import type { AnyBytes } from "../resource.ts";
import type { XdsError } from "../xds-error.ts";

/** A resource as it came: of a delta response, or a wrapped or unwrapped one of SotW. Bytes are views into the message. */
export interface ReceivedResource {
  readonly name: string;
  /** Equal for names that are equal (N-40). */
  readonly key: string;
  /** Empty: the server gave none. */
  readonly version: string;
  /** Absent: it came without a body (C-MISS-3, C-TTL-3). */
  readonly payload?: AnyBytes | undefined;
  readonly aliases?: readonly string[];
  readonly ttlMs?: number;
  readonly noStore?: boolean;
  /** An encoded `DynamicParameterConstraints`. */
  readonly constraints?: Uint8Array;
  readonly metadata?: Uint8Array;
  /** Why it cannot be read; the other fields say what could. */
  readonly fault?: string;
}

/** A name that is gone, or has an error. */
export interface ReceivedName {
  readonly name: string;
  readonly constraints?: Uint8Array;
  /** Why there is none (TP3). Absent: it was removed. */
  readonly error?: XdsError;
}

/** A response of either variant. */
export interface ReceivedResponse {
  readonly typeUrl: string;
  readonly nonce: string;
  /** `version_info`, or `system_version_info`. */
  readonly version: string;
  /** `control_plane.identifier` (B-NODE-9). Empty: none. */
  readonly controlPlane: string;
  /** Only for show (B-VER-8). */
  readonly canary: boolean;
  readonly resources: readonly ReceivedResource[];
  readonly removed: readonly ReceivedName[];
  readonly errors: readonly ReceivedName[];
  /** Why the message as a whole cannot be taken (C-ACK-6). */
  readonly fault?: string;
}
