import { isSameError, type Entry, type Topic, type XdsError } from "@xdstp/core";
import { topicsOf } from "@xdstp/protocol/server";
import { isGlob } from "@xdstp/uri";
import type { DeltaState } from "./delta-state.ts";

/**
 * Marks the transient error of a glob to be sent, if another server has reported it and nothing is
 * known of the glob yet: the glob stays open, but its client need not wait for an answer (S-ERR-5,
 * C-ERR-4).
 * Errors that this program has concluded itself are not sent. The error is sent once, and again
 * only if it changes (S-ERR-1).
 */
export function oweOpenError(state: DeltaState, topic: Topic): void {
  const error = openErrorOf(state, topic);
  if (error === undefined || isSameError(state.openErrors?.get(topic), error)) return;
  (state.openErrors ??= new Map()).set(topic, error);
  state.owed.add(topic.interest.name);
}

/** As {@link oweOpenError}, even if the client was sent the error before. */
export function oweOpenErrorAgain(state: DeltaState, topic: Topic): void {
  state.openErrors?.delete(topic);
  oweOpenError(state, topic);
}

/** Drops the error of a glob that is known now and is answered. */
export function endOpenError({ openErrors, owed }: DeltaState, topic: Topic): void {
  if (openErrors?.delete(topic) === true) owed.delete(topic.interest.name);
}

/** Returns the error of a glob that is to be sent. undefined: the glob is known. */
export function openEntry(state: DeltaState, key: string): Entry | undefined {
  for (const topic of topicsOf(state, key)) {
    const error = openErrorOf(state, topic);
    if (error !== undefined) return entryOf(state, topic.interest.name, error);
  }
  return undefined;
}

function openErrorOf({ unsettled }: DeltaState, topic: Topic): XdsError | undefined {
  const {
    interest: { name },
    stale,
  } = topic;
  return stale?.context.said !== undefined && isGlob(name) && unsettled.has(topic)
    ? stale
    : undefined;
}

const entries = new WeakMap<XdsError, Entry>();

/**
 * Returns an entry with the error; the same object for all clients that subscribe in one spelling,
 * so that they share a frame.
 */
function entryOf({ context }: DeltaState, name: string, error: XdsError): Entry {
  const known = entries.get(error);
  if (known?.name === name) return known;
  const entry: Entry = {
    revision: context.source.revision,
    since: 0,
    superseded: false,
    name,
    error,
  };
  entries.set(error, entry);
  return entry;
}
