/** A resource that is not sent and does not stop the rest: it is larger than a response may be (S-SIZE-4), or can be sent only to clients that read wrapped resources (S-WRAP-3). */
export type NotSent = TooLarge | { readonly name: string; readonly reason: "needs-wrapper" };

/** A resource, or the full state that it is part of, is larger than a limit allows. */
export interface TooLarge {
  /** The name of the resource. */
  readonly name: string;
  /** Tells it apart from what needs a wrapper. */
  readonly reason: "too-large";
  /** Of the resource, or of the state where that cannot be split. */
  readonly bytes: number;
  /** The limit that would have to be larger. */
  readonly limit: "responseBytes" | "fullStateBytes";
}
