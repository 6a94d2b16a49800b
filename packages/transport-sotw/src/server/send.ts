import { type Frames, recordSent, warmChildren } from "@xdstp/protocol/server";
import type { Gathered } from "./gathered.ts";
import type { SotwState } from "./sotw-state.ts";
import { withoutToldErrors } from "./told-errors.ts";

/** Sends what was gathered as one response, and again what waits for its resources. */
export function send(state: SotwState, gathered: Gathered): void {
  const { entries, fresh, origin, base, asked } = gathered;
  const { host } = state;
  const frames = encode(state, gathered);
  if (frames.list.length === 0) {
    reportUnsendable(state, frames);
    return;
  }
  state.shown = entries;
  state.answered = true;
  recordSent(state, {
    frames,
    entries,
    origin,
    base,
    asked,
    upTo: state.sent,
    whole: state.type?.fullStateInSotw === true,
  });
  state.context.stuck?.watch(state);
  host.send(frames.list);
  warmChildren(state.type, host, fresh);
}

/** An empty response belongs to no state that streams could share. If nothing can be sent of what there is, one is due all the same where it deletes nothing. */
function encode(
  { context, host, profile, type, shown }: SotwState,
  { entries: all, version, due }: Gathered,
): Frames {
  const entries = type?.fullStateInSotw === true ? withoutToldErrors(all, shown) : all;
  if (entries.length === 0) return profile.encode(entries, version);
  const frames = context.frames.get(profile, entries, host.lastNonce, version);
  if (frames.list.length > 0 || !due || type?.fullStateInSotw === true) return frames;
  return { ...profile.encode([], version), notSent: frames.notSent };
}

/** Nothing can be sent, or not all of a full state: the client keeps what it has, an operator sees why (S-SIZE-3, S-SIZE-4). */
function reportUnsendable({ context, stream, typeUrl }: SotwState, { notSent }: Frames): void {
  context.emit?.({ kind: "not-sent", stream, typeUrl, resources: notSent });
}
