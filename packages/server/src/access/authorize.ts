import type { NodeClaim, PeerIdentity } from "@xdstp/core";
import type { Policy } from "@xdstp/policy";

/** The caller, as far as it is known when `authorize` is called. */
export interface Peer {
  /** Address and port, which do not prove an identity. */
  readonly address: string;
  /** From the verified certificate of the client. Absent: its identity is unknown. */
  readonly identity?: PeerIdentity;
  /** The node of the client: a claim, not an identity (S-NODE-8). Absent in a status request. */
  readonly node?: NodeClaim;
  /** The gRPC method, `/package.Service/Method`. */
  readonly path: string;
}

/**
 * Decides what a client may see. Called once per stream, when its first message has arrived, and
 * once per Fetch and status request (S-LIM-8).
 *
 * To deny access, throw an XdsError with PERMISSION_DENIED or UNAUTHENTICATED. Its text is in an
 * event; the client receives a fixed text. Any other exception, or a result that takes longer than
 * `limits.access.authorizeMs`, means that the decision failed: the client gets UNAVAILABLE and may
 * retry.
 * @param options - The signal aborts when the result is no longer needed
 */
export type Authorize = (
  peer: Peer,
  options: { readonly signal: AbortSignal },
) => Policy | Promise<Policy>;
