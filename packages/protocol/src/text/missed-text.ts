import type { MissedReference } from "../stream/stream-event.ts";

/** What rejected content refers to and its client does not have, in words; empty: nothing. Names are as the source has them, not escaped (S-ACK-21). */
export function missedText([first, ...more]: readonly MissedReference[] = []): string {
  if (first === undefined) return "";
  const type = first.typeUrl.slice(
    Math.max(first.typeUrl.lastIndexOf("."), first.typeUrl.lastIndexOf("/")) + 1,
  );
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return `refers to ${type} ${first.name}, which ${first.served ? "the client has not accepted" : "is not served"}${others}`;
}
