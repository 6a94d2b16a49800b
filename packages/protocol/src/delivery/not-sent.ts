/**
 * A resource that is not sent, while the others are: it is larger than a response may be
 * (S-SIZE-4), or only clients that read wrapped resources can be sent it (S-WRAP-3).
 */
export type NotSent = TooLarge | { readonly name: string; readonly reason: "needs-wrapper" };

/** A resource, or the full state with it, that is larger than a limit allows. */
export interface TooLarge {
  /** The name of the resource. */
  readonly name: string;
  /** The reason. */
  readonly reason: "too-large";
  /** The size in bytes of the resource, or of the full state if that cannot be split. */
  readonly bytes: number;
  /** The limit that would have to be greater. */
  readonly limit: "responseBytes" | "fullStateBytes";
}
