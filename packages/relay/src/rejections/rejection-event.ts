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
  /** So many changes the response had, and a client answers it as a whole: 1 is for certain. At most the first 100 of a response are told of. */
  readonly among: number;
  /** What the client says: untrusted, unescaped (S-ACK-15). */
  readonly reason: string;
}
