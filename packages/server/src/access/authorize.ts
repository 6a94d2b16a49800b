import type { NodeClaim, PeerIdentity } from "@xdstp/core";
import type { Policy } from "@xdstp/policy";

/** Who calls, as far as it is known when `authorize` is asked. */
export interface Peer {
  /** Address and port, which prove nothing. */
  readonly address: string;
  /** From the verified certificate of the client; absent: its identity is unknown. */
  readonly identity?: PeerIdentity;
  /** What the client says of itself: a claim, and no identity (S-NODE-8). Absent in a status request. */
  readonly node?: NodeClaim;
  /** The gRPC method, `/package.Service/Method`. */
  readonly path: string;
}

/**
 * Decides what a client may see; asked once per stream, when its first message is in, and once per Fetch and status request (S-LIM-8).
 *
 * It says no by throwing an XdsError with PERMISSION_DENIED or UNAUTHENTICATED: its text goes into an event, a fixed one to the client. Whatever else it throws,
 * and an answer that takes longer than `limits.access.authorizeMs`, mean that the decision failed: the client gets UNAVAILABLE and may try again.
 * @param options - The signal aborts when the answer is of no use any more
 */
export type Authorize = (
  peer: Peer,
  options: { readonly signal: AbortSignal },
) => Policy | Promise<Policy>;
