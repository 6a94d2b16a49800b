import { StatusCode, XdsError, type Status, type Timer } from "@xdstp/core";
import type { GrpcContext } from "./grpc-context.ts";
import type { ConnectionCut } from "./grpc-event.ts";
import { startDeadline } from "../wire/deadlines.ts";

/** The maximum age of connections. */
export interface ConnectionAge {
  /**
   * Milliseconds until a connection gets GOAWAY, at random 10 % more or less, so that connections
   * that began together do not end together.
   */
  readonly ms: number;
  /** Milliseconds from then until its streams end with UNAVAILABLE. Default: 5,000. */
  readonly graceMs?: number;
}

/** A connection that is closed when it reaches its maximum age. */
export interface Retirable {
  /** Stops accepting calls, and ends the open streams with a status after `ms` milliseconds. Closes the connection `graceMs` milliseconds later, with the streams that are still open. */
  retire(ms: number, status: Status, graceMs: number, reason: ConnectionCut): void;
}

/** Returns the age. Throws an XdsError if a time is not a positive number. */
export function checkedAge(age: ConnectionAge | undefined): ConnectionAge | undefined {
  for (const [name, value] of Object.entries(age ?? {})) {
    if (!(Number.isFinite(value) && value > 0))
      throw new XdsError(
        "INVALID_ARGUMENT",
        `connectionAge.${name} is ${String(value)}; give a positive number of milliseconds`,
      );
  }
  return age;
}

const tooOld: Status = {
  code: StatusCode.UNAVAILABLE,
  message: "the connection has reached its age: connect again",
};

/** Starts the timer for the age of a connection (S-STREAM-13). */
export function ageTimer(
  connection: Retirable,
  context: GrpcContext,
  age: ConnectionAge | undefined,
): Timer | undefined {
  if (age === undefined) return undefined;
  return startDeadline(context.clock, age.ms * (0.9 + Math.random() * 0.2), () => {
    context.counters.connectionsRetired += 1;
    const graceMs = age.graceMs ?? 5_000;
    connection.retire(graceMs, tooOld, graceMs, "age-grace");
  });
}
