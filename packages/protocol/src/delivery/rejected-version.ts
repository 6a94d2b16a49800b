/** A version of a resource that clients have rejected. It is what the source was sent: an ACK of a relay upstream does not say that clients have accepted it (B-RELAY-5). */
export interface RejectedVersion {
  /** The type URL of the resource. */
  readonly typeUrl: string;
  /** The name of the resource. */
  readonly name: string;
  /** Empty: that there is none. */
  readonly version: string;
  /** How many distinct clients have rejected it. */
  readonly clients: number;
  /** The first of them, at most 8: what is verified of who they are, else the id they claim, else where they come from. Untrusted text. */
  readonly by: readonly string[];
  /** Of how many changes in one response it was the rejected one, at best. 1: of no other. A client answers a response as a whole, so the others may be innocent. */
  readonly among: number;
  /** What the first of them says: untrusted text, cut. */
  readonly reason: string;
  /** When it was rejected first, in milliseconds since the epoch. */
  readonly since: number;
}
