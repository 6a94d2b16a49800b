import { encodeResponse, sendResponse } from "@xdstp/protocol/server";
import type { Gathered } from "./gathered.ts";
import type { SotwState } from "./sotw-state.ts";
import { withoutToldErrors } from "./told-errors.ts";

/** Sends what was gathered as one response. If nothing can be sent of what there is, one that is due goes out empty where it deletes nothing. */
export function send(
  state: SotwState,
  { entries, fresh, origin, base, asked, version, due }: Gathered,
): void {
  const whole = state.type?.fullStateInSotw === true;
  const encoded = whole ? withoutToldErrors(entries, state.shown) : entries;
  const frames = encodeResponse(state, encoded, version, due && !whole);
  if (frames.list.length > 0) {
    state.shown = entries;
    state.answered = true;
  }
  sendResponse(state, { frames, entries, origin, base, asked, upTo: state.sent, whole }, fresh);
}
