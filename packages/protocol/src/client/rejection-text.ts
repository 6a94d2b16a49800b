import { cutText } from "../text/cut-text.ts";
import type { RejectedName } from "./client-event.ts";

/** What a NACK says: every bad name with its reason (C-ACK-5), as far as there is room. */
export function rejectionText(rejected: readonly RejectedName[], atMost: number): string {
  const head = rejected.length === 1 ? "" : `${rejected.length} resources rejected: `;
  let text = head;
  for (const [index, { name, error }] of rejected.entries()) {
    if (text.length >= atMost) break;
    text += `${index === 0 ? "" : "; "}${JSON.stringify(name)}: ${error.text}`;
  }
  return text.length <= atMost ? text : `${cutText(text, atMost - 3)}...`;
}
