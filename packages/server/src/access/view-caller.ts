import type { ResourceSource } from "@xdstp/core";
import type { CallPeer } from "@xdstp/grpc/server";

/** The resources that a caller may see who is not served by a stream, but over another protocol. */
export interface CallerView {
  /** The resources that the caller may see. */
  readonly source: ResourceSource;
  /**
   * The key of the policy of the caller; an empty text if only `sourceFor` decides. Absent: every
   * caller may see the same.
   */
  readonly key?: string;
  /** Aborts when the policy is revoked: the caller has to be answered with PERMISSION_DENIED. Absent: it is never revoked. */
  readonly revoked?: AbortSignal;
  /** Call it once when the view is no longer needed. */
  release(): void;
}

/** Returns what a caller may see. Rejects with an XdsError, whose text is safe to send. */
export type ViewCaller = (
  peer: CallPeer,
  options: { readonly path: string; readonly signal: AbortSignal },
) => Promise<CallerView>;
