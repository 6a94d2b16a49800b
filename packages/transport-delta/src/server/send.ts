import { type Frames, recordSent, versionOf, warmChildren } from "@xdstp/protocol/server";
import { noteAliases } from "./alias.ts";
import type { DeltaState } from "./delta-state.ts";
import type { Gathered } from "./gathered.ts";

/**
 * Sends what was gathered as one response, and again what waits for its resources. A response that is `due` goes out empty if nothing of it can be sent (S-SIZE-4).
 * @returns whether anything went out
 */
export function send(
  state: DeltaState,
  { entries, origin, base, asked, label, hash }: Gathered,
  due: boolean,
): boolean {
  const { host } = state;
  const version = label ?? versionOf(hash);
  const frames = encode(state, entries, version, due);
  if (frames.list.length === 0) {
    reportUnsendable(state, frames);
    return false;
  }
  state.answered = true;
  recordSent(state, { frames, entries, origin, base, asked, upTo: state.sent });
  state.context.stuck?.watch(state);
  host.send(frames.list);
  noteAliases(state, entries);
  warmChildren(state.type, host, entries);
  return true;
}

/** An empty response belongs to no state that streams could share. */
function encode(
  { context, profile, host }: DeltaState,
  entries: Gathered["entries"],
  version: string,
  due: boolean,
): Frames {
  if (entries.length === 0) return profile.encode(entries, version);
  const frames = context.frames.get(profile, entries, host.lastNonce, version);
  if (frames.list.length > 0 || !due) return frames;
  return { ...profile.encode([], version), notSent: frames.notSent };
}

/** Nothing can be sent: the client keeps what it has, an operator sees why (S-SIZE-4). */
function reportUnsendable({ context, stream, typeUrl }: DeltaState, { notSent }: Frames): void {
  context.emit?.({ kind: "not-sent", stream, typeUrl, resources: notSent });
}
