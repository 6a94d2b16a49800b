import { encodeResponse, sendResponse, versionOf } from "@xdstp/protocol/server";
import { noteAliases } from "./alias.ts";
import type { DeltaState } from "./delta-state.ts";
import type { Gathered } from "./gathered.ts";

/**
 * Sends what was gathered as one response. A response that is `due` goes out empty if nothing of it can be sent (S-SIZE-4).
 * @returns whether anything went out
 */
export function send(
  state: DeltaState,
  { entries, origin, base, asked, label, hash }: Gathered,
  due: boolean,
): boolean {
  const frames = encodeResponse(state, entries, label ?? versionOf(hash), due);
  const isSent = frames.list.length > 0;
  if (isSent) state.answered = true;
  sendResponse(state, { frames, entries, origin, base, asked, upTo: state.sent });
  if (isSent) noteAliases(state, entries);
  return isSent;
}
