import type { JsonObject } from "@bufbuild/protobuf";
import type { NodeInfo, PeerIdentity, ResourceSource } from "@xdstp/core";

/** What a client may see. Made by `authorize`, once per stream. */
export interface Policy {
  /**
   * Equal keys mean equal rights: their streams share one filtered view and its bytes, and the first policy that came with a key decides for all of them.
   * So the key holds everything that the answers depend on: a role, a tenant.
   */
  readonly key: string;
  /**
   * Whether a resource may be seen; asked for each name that is subscribed, and for each member of a glob and of `*` (S-LIM-8). A name that may not be seen is
   * answered as one that does not exist. Names inside a payload are not checked: a client that may see a route sees its virtual hosts, and one that may see a list its inline
   * entries, whatever their names; a list whose members have rights of their own names them by locators. It has to give the same answer until `watch` tells of a change. Only `true` allows; what throws forbids.
   * @param name - In canonical spelling (N-40); an alias is checked by itself, and its resource under its own name
   */
  allows(typeUrl: string, name: string): boolean;
  /** Says that answers of `allows` may have changed; returns a function that ends it. Absent: they never change. Costs one look at all that is subscribed under this key. */
  watch?(onChange: () => void): () => void;
  /** Aborted: the client has lost every right, and its streams end with PERMISSION_DENIED. Each policy has its own, also where keys are equal. */
  readonly revoked?: AbortSignal;
  /** How a forbidden name is answered: as missing, or as missing with the error PERMISSION_DENIED. Neither tells whether it exists. Default: `missing`. */
  readonly forbidden?: "missing" | "denied";
  /**
   * Which clients a caller with this policy is shown by client status: those with an equal policy and the names that it allows (`own`), or every client of the same source with every name (`all`).
   * Give `all` to operators only. Default: `own`.
   */
  readonly status?: "own" | "all";
}

/** What a client says of itself when it comes. */
export interface NodeClaim extends NodeInfo {
  /** `locality` in its parts, which may have slashes in them. Absent: the node has none. */
  readonly place?: { readonly region: string; readonly zone: string; readonly subZone: string };
  /** `metadata`, as JSON; of any size that a request may have. Absent: the node has none. */
  readonly metadata?: JsonObject;
}

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

/** Chooses what is served to a client: another source, or undefined for that of the server. Asked after {@link Authorize}, with the same time. */
export interface SourceFor {
  /** The source of a client. undefined: that of the server. What it throws rejects the stream. */
  (
    peer: Peer,
    options: { readonly signal: AbortSignal },
  ): ResourceSource | undefined | Promise<ResourceSource | undefined>;
  /** Whether all that it gives is ready when the source of the server is: then new streams are turned away at once until that is ready (S-STREAM-9). Default: false, that is known once a source was chosen. */
  readonly viewsOnly?: boolean;
}
