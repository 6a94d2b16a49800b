import { type StatusName, XdsError } from "@xdstp/core";
import type { NackError } from "@xdstp/protocol/server";

const brand = Symbol.for("@xdstp/AckError");

/**
 * The error of `waitForAck`, with the clients whose ACK is missing. ABORTED: a client has rejected.
 * DEADLINE_EXCEEDED: the timeout has passed. CANCELLED: the signal of the caller has aborted.
 * UNAVAILABLE: the server is closed.
 */
export class AckError extends XdsError {
  /** Always `AckError`. */
  override readonly name: string = "AckError";
  /**
   * The clients whose ACK is missing, with their state. For a client that is not connected there
   * are only `node` and `state`.
   */
  readonly missing: readonly {
    /** The node id, a claim of the client. */
    readonly node: string;
    /** The state of the change at the client. */
    readonly state: "absent" | "pending" | "in-flight" | "rejected";
    /** The address of the client. */
    readonly peer?: string;
    /** The id of the stream. */
    readonly stream?: number;
    /** The type of the missing resources. */
    readonly typeUrl?: string;
    /** The first ten missing names. */
    readonly names?: readonly string[];
    /** The error of the client, cut, unescaped and untrusted (S-ACK-15). */
    readonly error?: NackError;
  }[];

  constructor(code: StatusName, text: string, missing: AckError["missing"]) {
    super(code, text);
    this.missing = missing;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Two installed copies of this package recognize each other's errors. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && brand in value;
  }
}
