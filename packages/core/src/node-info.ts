/** The fields of a `Node` that are stored. The client chooses them, and nothing verifies them. Extensions are never decoded (S-NODE-6). */
export interface NodeInfo {
  /** `node.id`. */
  readonly id: string;
  /** `node.cluster`. */
  readonly cluster: string;
  /** `node.user_agent_name`. */
  readonly userAgentName: string;
  /** `node.user_agent_version`, or the build version as text. Empty: the client sent neither. */
  readonly userAgentVersion: string;
  /** Region, zone and sub-zone, joined by `/`. Empty: the client sent none. */
  readonly locality: string;
  /** `node.client_features`. */
  readonly clientFeatures: readonly string[];
  /**
   * Context parameters that change while the client runs, by type URL and key, as the client last
   * sent them (S-NODE-3). Absent: the client sent none.
   */
  readonly dynamicParameters?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Everything that a client states about itself: a claim, not an identity (S-NODE-8). */
export interface NodeClaim extends NodeInfo {
  /** The parts of `locality`, which may contain slashes. Absent: the node has none. */
  readonly place?: { readonly region: string; readonly zone: string; readonly subZone: string };
  /** `metadata` as JSON, of any size that a request may have. Absent: the node has none. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * The identity of a client that the wire has verified: the names in a client certificate that our
 * certificate authority signed. It never comes from the content of a message (S-NODE-8).
 * Names are ASCII without control characters: compare them exactly.
 */
export interface PeerIdentity {
  /** URI names of the certificate in its order, a SPIFFE id among them. */
  readonly uris: readonly string[];
  /** DNS names of the certificate in its order. */
  readonly dnsNames: readonly string[];
  /** The subject, one `KEY=value` per line; empty where there is none. For people: most significant part first, as the certificate has it. */
  readonly subject: string;
  /** SHA-256 of the certificate, in hexadecimal digits parted by colons. */
  readonly fingerprint: string;
}

/** The most levels of nesting in the metadata of a node. A server rejects a message that nests deeper than 100 levels, and each level of metadata takes three of them. */
export const maxMetadataDepth = 32;

/**
 * Returns whether objects and lists nest deeper than `levels`. `{ a: 1 }` has one level. No depth overflows the stack, since it checks level by level.
 * @param json - A parsed JSON value
 */
export function isDeeperThan(json: unknown, levels: number): boolean {
  let level: readonly unknown[] = [json];
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null
        ? Object.values<unknown>(value as Readonly<Record<string, unknown>>)
        : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
