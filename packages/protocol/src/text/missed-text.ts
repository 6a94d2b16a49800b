import type { MissedReference } from "../stream/stream-event.ts";

/**
 * Describes the references of rejected content that its client had not accepted (S-ACK-21). Empty:
 * there are none. Names are not escaped.
 */
export function missedText([first, ...more]: readonly MissedReference[] = []): string {
  if (first === undefined) return "";
  const type = first.typeUrl.slice(
    Math.max(first.typeUrl.lastIndexOf("."), first.typeUrl.lastIndexOf("/")) + 1,
  );
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return `refers to ${type} ${first.name}, which ${first.served ? "the client has not accepted" : "is not served"}${others}`;
}
