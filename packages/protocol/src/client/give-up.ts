import { nameKey } from "@xdstp/uri";

import type { Removal } from "@xdstp/core";
import type { ClientTypeState } from "./client-type-state.ts";
import { commitAside } from "./commit-aside.ts";
import { isHeld, isWantHeld, isWantHeldByAll, standInOf } from "./is-held.ts";
import { lateError } from "./late-error.ts";
import { noteError, noteGone, noteSilence } from "./note-want.ts";
import { receivedKey } from "./received-key.ts";
import { retries } from "./retries.ts";
import type { Want } from "./want.ts";

/**
 * These have not come in time (C-MISS-4): a name does not exist, or cannot be had for now (C-GRPC-10); a collection is what has come of it (C-GLOB-9), and where that is nothing it cannot be had for now either. What is held is not a concern of the timer,
 * but for what only a stand-in has given (C-GRPC-6). Returns those that another server still stands in for: their time begins again.
 */
export function giveUp(state: ClientTypeState, due: readonly Want[]): readonly Want[] {
  const {
    typeUrl,
    host: { context, sink },
  } = state;
  const standIns = new Map(
    due.flatMap((want) => {
      const standIn = want.kind === "name" ? standInOf(sink, typeUrl, want) : undefined;
      return standIn === undefined ? [] : [[want, standIn] as const];
    }),
  );
  const overdue = due.filter(
    (want) => standIns.get(want) !== true && !retries(state, want, standIns.has(want)),
  );
  for (const want of overdue) {
    want.awaited = false;
    want.came = undefined;
    if (want.kind !== "name" || isWantHeldByAll(sink, typeUrl, want)) noteSilence(state, want);
  }
  const names = overdue.filter(
    (want) =>
      want.kind === "name" &&
      (want.leftOut || standIns.has(want) || !isWantHeldByAll(sink, typeUrl, want)),
  );
  const silent = new Set(
    overdue.filter(
      (want) =>
        context.timeoutIsTransient &&
        want.kind !== "name" &&
        !want.begun &&
        !isWantHeld(sink, typeUrl, want),
    ),
  );
  for (const want of silent)
    noteError(state, want, lateError(context, typeUrl, want, "UNAVAILABLE"));
  const settled = overdue
    .filter((want) => want.kind !== "name" && !silent.has(want))
    .map(({ interest, begun }) => ({ typeUrl, interest, ...(!begun && { timedOut: true }) }));
  const remove = [
    ...names.flatMap((want) => noteLate(state, want)),
    ...overdue.flatMap((want) => noteUnseen(state, want)),
  ];
  if (remove.length + settled.length > 0) commitAside(sink, { remove: unique(remove), settled });
  const late = new Set([
    ...names,
    ...silent,
    ...overdue.filter(({ state: now }) => now === "requested"),
  ]);
  if (late.size > 0)
    context.emit?.({
      kind: "timeout",
      typeUrl,
      names: Array.from(late, ({ interest }) => interest.name),
    });
  return due.filter((want) => standIns.get(want) === true);
}

/** What goes with it. As gRPC has it, what is held stays with the error next to it (C-GRPC-9). */
function noteLate(state: ClientTypeState, want: Want): readonly Removal[] {
  const {
    typeUrl,
    host: { context, sink },
  } = state;
  if (!context.timeoutIsTransient && context.keepRemoved && isWantHeldByAll(sink, typeUrl, want)) {
    noteError(state, want, lateError(context, typeUrl, want, "NOT_FOUND"));
    return [];
  }
  // Of what others have, the server may still say that it is gone.
  const isOthers = isWantHeld(sink, typeUrl, want) && !isWantHeldByAll(sink, typeUrl, want);
  const remove = context.timeoutIsTransient ? [] : missing(state, want);
  if (context.timeoutIsTransient)
    noteError(state, want, lateError(context, typeUrl, want, "UNAVAILABLE"));
  else if (!isOthers) noteGone(state, want, want.key);
  want.state = isOthers ? "held" : "timeout";
  return remove;
}

/** The server has read of the collection by now, so that its last full state is all there is of it (C-FULL-3). What is wanted by name too has a timer of its own. */
function noteUnseen(state: ClientTypeState, want: Want): readonly Removal[] {
  const gone = want.unseen.filter(({ name }) =>
    state.wants.covering(nameKey(name)).every(({ kind }) => kind !== "name"),
  );
  for (const { name } of gone) noteGone(state, want, nameKey(name));
  want.unseen = [];
  return gone.filter(({ name }) => isHeld(state.host.sink, state.typeUrl, { name }));
}

/** The name, and each variant of it that is held. */
function missing(state: ClientTypeState, want: Want): readonly Removal[] {
  const {
    typeUrl,
    host: { context, sink },
  } = state;
  const removal = {
    typeUrl,
    name: want.interest.name,
    error: lateError(context, typeUrl, want, "NOT_FOUND"),
  };
  const held = Array.from(sink.held(typeUrl, want.interest), ({ constraints }) =>
    constraints === undefined ? removal : { ...removal, constraints },
  );
  return held.length === 0 ? [removal] : held;
}

/** Several parameter sets of a name are one removal. */
function unique(removals: readonly Removal[]): readonly Removal[] {
  return [...new Map(removals.map((removal) => [receivedKey(removal), removal])).values()];
}
