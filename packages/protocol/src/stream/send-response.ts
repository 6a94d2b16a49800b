import type { Entry } from "@xdstp/core";
import { type Outgoing, recordSent } from "../delivery/exchange.ts";
import type { Frames } from "../delivery/frame-cache.ts";
import { warmChildren } from "../order/warm-children.ts";
import type { ServedType } from "./server-variant.ts";

/**
 * Encodes a response of one type. An empty response is not shared: it has no entries that could be
 * its key.
 * @param isDue - True if the response has to be sent even if none of its entries can be sent; then
 * it is empty (S-SIZE-4)
 */
export function encodeResponse(
  { context, profile, host }: ServedType,
  entries: readonly Entry[],
  version: string,
  isDue: boolean,
): Frames {
  if (entries.length === 0) return profile.encode(entries, version);
  const frames = context.frames.get(profile, entries, host.lastNonce, version);
  if (frames.list.length > 0 || !isDue) return frames;
  return { ...profile.encode([], version), notSent: frames.notSent };
}

/**
 * Sends a response of one type, and then the names on the stream again that wait for its resources
 * (S-WARM-1). If it has no frames, nothing is sent: the client keeps its state, and the reason is
 * reported to operators (S-SIZE-3, S-SIZE-4).
 * @param fresh - The entries of the response that are new or changed
 */
export function sendResponse(
  state: ServedType,
  outgoing: Outgoing,
  fresh: readonly Entry[] = outgoing.entries,
): void {
  const { context, host, stream, typeUrl, type } = state;
  const { list, notSent } = outgoing.frames;
  if (list.length === 0) {
    context.emit?.({ kind: "not-sent", stream, typeUrl, resources: notSent });
    return;
  }
  recordSent(state, outgoing);
  context.stuck?.watch(state);
  host.send(list);
  warmChildren(type, host, fresh);
}
