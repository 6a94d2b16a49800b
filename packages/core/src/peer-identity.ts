/**
 * Who a client is, as the wire has verified it: from a client certificate that our authority signed. It never comes from what a message claims (S-NODE-8).
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
