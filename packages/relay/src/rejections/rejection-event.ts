/** A client has rejected a version of a resource, told once for each version and client (B-RELAY-5). */
export interface RejectionEvent {
  /** A client has rejected a version of a resource. */
  readonly kind: "resource-rejected";
  /** The type URL of the resource. */
  readonly typeUrl: string;
  /** The name of the resource. */
  readonly name: string;
  /** Empty: the removal of it. */
  readonly version: string;
  /** Whom the certificate names, or what the client calls itself, or its address. */
  readonly client: string;
  /** The number of changes in the response, which a client answers as a whole: with 1 it is certain. At most the first 100 of a response are reported. */
  readonly among: number;
  /** What the client says: untrusted, unescaped (S-ACK-15). */
  readonly reason: string;
}
