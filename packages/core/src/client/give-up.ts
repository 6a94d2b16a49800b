import type { Removal } from "../feed.ts";
import { XdsError } from "../xds-error.ts";
import type { ClientTypeState } from "./client-type-state.ts";
import { commitAside } from "./commit-aside.ts";
import { isWantHeld } from "./is-held.ts";
import { noteError, noteGone, noteSilence } from "./note-want.ts";
import type { Want } from "./want.ts";

/** These have not come in time (C-MISS-4): a name does not exist, or cannot be had for now (C-GRPC-10); a collection is what has come of it (C-GLOB-9). What is held is no concern of the timer. */
export function giveUp(state: ClientTypeState, due: readonly Want[]): void {
  const { typeUrl, host: { context, sink } } = state;
  const overdue = due.filter((want) => !retries(state, want));
  for (const want of overdue) {
    want.awaited = false;
    if (want.kind !== "name" || isWantHeld(sink, typeUrl, want)) noteSilence(state, want);
  }
  const names = overdue.filter((want) => want.kind === "name" && (want.leftOut || !isWantHeld(sink, typeUrl, want)));
  const settled = overdue.filter(({ kind }) => kind !== "name").map(({ interest, begun }) => ({ typeUrl, interest, ...(!begun && { timedOut: true }) }));
  const remove = context.timeoutIsTransient ? [] : names.map((want) => missing(state, want));
  for (const want of names) {
    if (context.timeoutIsTransient) noteError(state, want, lateError(state, want, "UNAVAILABLE"));
    else noteGone(state, want, want.key);
    want.state = "timeout";
  }
  if (remove.length + settled.length > 0) commitAside(sink, { remove: unique(remove), settled });
  const late = overdue.filter(({ state: now }) => now === "requested" || now === "timeout");
  if (late.length > 0) context.emit?.({ kind: "timeout", typeUrl, names: late.map(({ interest }) => interest.name) });
}

function retries({ typeUrl, unasked, subscriptions, host }: ClientTypeState, want: Want): boolean {
  if (isWantHeld(host.sink, typeUrl, want) || subscriptions.retry?.(want) !== true) return false;
  unasked.add(want);
  host.schedule();
  return true;
}

function missing(state: ClientTypeState, want: Want): Removal {
  return { typeUrl: state.typeUrl, name: want.interest.name, error: lateError(state, want, "NOT_FOUND") };
}

function lateError({ typeUrl, host: { context } }: ClientTypeState, { interest }: Want, code: "NOT_FOUND" | "UNAVAILABLE"): XdsError {
  return new XdsError(code, `the server has not sent ${JSON.stringify(interest.name)} within ${context.fetchMs / 1_000} s`, { typeUrl, resource: interest.name, timedOut: true });
}

/** Several parameter sets of a name are one removal. */
function unique(removals: readonly Removal[]): readonly Removal[] {
  return [...new Map(removals.map((removal) => [removal.name, removal])).values()];
}
