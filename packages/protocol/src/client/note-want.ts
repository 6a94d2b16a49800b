import { wallTimeOf, type XdsError } from "@xdstp/core";
import type { RejectedName } from "./client-event.ts";
import type { ClientTypeState } from "./client-type-state.ts";
import { isWantHeld } from "./is-held.ts";
import type { NotedRejection, Want } from "./want.ts";
import type { WantStatus } from "./client-status.ts";

/** Something of it is held now: what was rejected or wrong before is made good. */
export function noteHeld(state: ClientTypeState, want: Want, key: string, now: number): void {
  want.rejected?.delete(key);
  if (want.rejected?.size === 0) want.rejected = undefined;
  if (want.error !== undefined && want.rejected === undefined) noteError(state, want, undefined);
  want.state = "held";
  want.at = now;
}

/** All of a collection is known. Members that were rejected and are no longer there are nothing to speak of; `rejected` are those of this response. */
export function noteWhole(state: ClientTypeState, want: Want, rejected: ReadonlySet<string>): void {
  for (const key of want.rejected?.keys() ?? []) if (!rejected.has(key)) want.rejected?.delete(key);
  if (want.rejected?.size === 0) want.rejected = undefined;
  if (want.error !== undefined && want.rejected === undefined) noteError(state, want, undefined);
  want.awaited = false;
  want.came = undefined;
  want.state = "held";
}

/** It does not exist, as far as it is a name; a collection without one of its members is still what it was. */
export function noteGone(state: ClientTypeState, want: Want, key: string): void {
  if (want.kind === "name" && key === want.key) {
    want.rejected = undefined; // also of what was rejected under the name of which it was an alias
    state.wants.unlink(want);
  }
  noteHeld(state, want, key, state.host.context.clock.wallTime());
  if (want.kind === "name") want.state = "missing";
}

/** The server knows what is held of it, and has sent nothing else in time: what was wrong on an earlier stream is over. */
export function noteSilence(state: ClientTypeState, want: Want): void {
  if (!state.host.variant.silenceConfirms) return;
  for (const [key, { moment }] of want.rejected ?? [])
    if (moment < state.begunAt) want.rejected?.delete(key);
  if (want.rejected?.size === 0) want.rejected = undefined;
  if (want.error === undefined || want.rejected !== undefined) return;
  noteError(state, want, undefined);
  want.state = "held";
}

/** An error next to what is held of it, or instead of it for now; undefined: it is over. The same again is not news, nor is one of what nobody wants any more. */
export function noteError(
  state: ClientTypeState,
  want: Want,
  error: XdsError | undefined,
  isNews?: boolean,
): void {
  if (!(isNews ?? !isSame(want.error, error)) || (error !== undefined && !state.wants.has(want)))
    return;
  want.error = error;
  if (error !== undefined) want.state = "error";
  state.host.sink.unavailable({ typeUrl: state.typeUrl, interest: want.interest }, error);
}

/** A new state was rejected; what was held stays (C-ACK-5). The same error for the same version is told once (C-ACK-18). */
export function noteRejected(
  state: ClientTypeState,
  want: Want,
  key: string,
  { name, error }: RejectedName,
  version: string,
): void {
  const {
    context: { clock, limits },
  } = state.host;
  const known = want.rejected?.get(key);
  const rejected: NotedRejection = { name, version, error, moment: clock.now() };
  want.rejected ??= new Map();
  if (
    key.length <= limits.nameLength &&
    (known !== undefined || want.rejected.size < limits.rejectedMembers)
  )
    want.rejected.set(key, rejected);
  noteError(state, want, error, known?.version !== version || !isSame(known.error, error));
  want.state = "rejected";
}

/** What is known of it, for status. What was held may have expired (C-TTL-4). */
export function statusOfWant(
  { typeUrl, host: { context, sink } }: ClientTypeState,
  want: Want,
): WantStatus {
  const { interest, kind, state: known, at, error } = want;
  const { clock } = context;
  const rejected = [...(want.rejected?.values() ?? [])].map(({ moment, ...rejection }) => ({
    ...rejection,
    at: wallTimeOf(clock, moment),
  }));
  const state =
    known === "held" && kind === "name" && !isWantHeld(sink, typeUrl, want) ? "missing" : known;
  return { interest, state, at, rejected, ...(error === undefined ? {} : { error }) };
}

function isSame(one: XdsError | undefined, other: XdsError | undefined): boolean {
  return (
    one === other || (one !== undefined && one.code === other?.code && one.text === other.text)
  );
}
