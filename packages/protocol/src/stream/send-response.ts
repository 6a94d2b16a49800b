import type { Entry } from "@xdstp/core";
import { type Outgoing, recordSent } from "../delivery/exchange.ts";
import type { Frames } from "../delivery/frame-cache.ts";
import { warmChildren } from "../order/warm-children.ts";
import type { ServedType } from "./server-variant.ts";

/**
 * Encodes a response of one type. An empty one belongs to no state that streams could share.
 * @param isDue - A response goes out empty if nothing of it can be sent (S-SIZE-4)
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
 * Sends a response of one type, and again the names on the stream that wait for its resources (S-WARM-1).
 * Without frames nothing is sent: the client keeps what it has, and an operator sees why (S-SIZE-3, S-SIZE-4).
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
