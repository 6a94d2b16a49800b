import { type StatusName, XdsError } from "@xdstp/core";
import type { NackError } from "@xdstp/protocol/server";

const brand = Symbol.for("@xdstp/AckError");

/**
 * Why `waitForAck` has given up, with those whose ACK is missing: ABORTED, a client has rejected; DEADLINE_EXCEEDED, it took too long;
 * CANCELLED, the caller's signal; UNAVAILABLE, the server is closed.
 */
export class AckError extends XdsError {
  /** `AckError`. */
  override readonly name: string = "AckError";
  /** The clients whose ACK is missing, and how far each has come. One that is not connected has only `node` and `state`. */
  readonly missing: readonly {
    /** The node id, a claim of the client. */
    readonly node: string;
    /** How far it has come. */
    readonly state: "absent" | "pending" | "in-flight" | "rejected";
    /** Address of the client. */
    readonly peer?: string;
    /** Which stream it is. */
    readonly stream?: number;
    /** The type of which something is missing. */
    readonly typeUrl?: string;
    /** The first ten names that are missing. */
    readonly names?: readonly string[];
    /** What the client said, cut, unescaped and untrusted (S-ACK-15). */
    readonly error?: NackError;
  }[];

  constructor(code: StatusName, text: string, missing: AckError["missing"]) {
    super(code, text);
    this.missing = missing;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Two installed copies of this package recognise each other's errors. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && brand in value;
  }
}
