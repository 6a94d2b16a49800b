import { StatusCode } from "@xdstp/core";
import { excessOfNames, type StreamLimits } from "@xdstp/core/server";
import { isGlob } from "@xdstp/uri";
import { keyOf } from "./lookup.ts";
import type { SotwState } from "./sotw-state.ts";
import { unsubscribe } from "./unsubscribe.ts";

/** Makes a list the wanted set (S-SUB-1). A name that is new in it is sent, even if it was sent before (S-SUB-3). */
export function subscribe(state: SotwState, list: readonly string[]): void {
  const names = wantedNames(state, list);
  const excess = excessOf(state, names);
  if (excess !== undefined) { state.host.end(StatusCode.RESOURCE_EXHAUSTED, ...excess); return; }
  const wanted = byKey(names);
  const added = [...wanted].filter(([key]) => !state.subscriptions.has(key));
  const dropped = dropOthers(state, wanted);
  for (const [key, name] of added) begin(state, key, name);
  report(state, added.map(([, name]) => name), dropped);
}

/** Drops what the list of a request leaves out that crossed a response. What it adds comes again with the ACK that must follow, and with it what was dropped meanwhile is new (S-NONCE-6). */
export function narrow(state: SotwState, list: readonly string[]): void {
  const dropped = dropOthers(state, byKey(wantedNames(state, list)));
  state.listHash = undefined;
  report(state, [], dropped);
}

function dropOthers(state: SotwState, wanted: ReadonlyMap<string, string>): readonly string[] {
  const dropped = [...state.subscriptions.keys()].filter((key) => !wanted.has(key));
  for (const key of dropped) unsubscribe(state, key);
  return dropped;
}

/** The spelling that comes first counts (N-42, S-SUB-7). */
function byKey(names: readonly string[]): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  for (const name of names) if (!wanted.has(keyOf(name))) wanted.set(keyOf(name), name);
  return wanted;
}

/** An empty list means `*` as long as all lists were empty, for types and clients that mean it so (S-WILD-2, S-WILD-6). */
function wantedNames(state: SotwState, list: readonly string[]): readonly string[] {
  if (list.length > 0) {
    state.legacy = false;
    return takesGlobs(state) ? list : list.filter((name) => !isGlob(name));
  }
  return state.legacy && state.quirks.legacyWildcard && (state.type?.legacyWildcard ?? true) ? ["*"] : [];
}

/** Removals could not be said of the members of other types (C-GLOB-10). A type that is not served has none, and is answered once (S-STREAM-8). */
function takesGlobs({ type, context: { source }, typeUrl }: SotwState): boolean {
  return type?.fullStateInSotw === true || !source.serves(typeUrl);
}

function excessOf({ context: { limits } }: SotwState, names: readonly string[]): readonly [message: string, limit: keyof StreamLimits] | undefined {
  if (names.length > limits.subscriptions) return [`more than ${limits.subscriptions} subscriptions of one type`, "subscriptions"];
  const excess = excessOfNames(names, limits);
  if (excess !== undefined || names.length <= limits.globs) return excess;
  return names.filter((name) => isGlob(name)).length > limits.globs ? [`more than ${limits.globs} globs of one type`, "globs"] : undefined;
}

function begin(state: SotwState, key: string, name: string): void {
  const topic = state.context.source.topic(state.typeUrl, { name });
  topic.watch(state.watcher);
  state.subscriptions.set(key, { topic, hash: 0 });
  (topic.settled ? state.unanswered : state.unsettled).add(topic);
}

function report({ context, stream, typeUrl }: SotwState, added: readonly string[], dropped: readonly string[]): void {
  if (added.length > 0 || dropped.length > 0) context.emit?.({ kind: "subscribe", stream, typeUrl, added, dropped });
}
