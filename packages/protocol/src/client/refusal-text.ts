import { cutText } from "../text/cut-text.ts";
import type { RefusedName } from "./client-event.ts";

/** What a NACK says: every bad name with its reason (C-ACK-5), as far as there is room. */
export function refusalText(refused: readonly RefusedName[], atMost: number): string {
  const head = refused.length === 1 ? "" : `${refused.length} resources refused: `;
  let text = head;
  for (const [index, { name, error }] of refused.entries()) {
    if (text.length >= atMost) break;
    text += `${index === 0 ? "" : "; "}${JSON.stringify(name)}: ${error.text}`;
  }
  return text.length <= atMost ? text : `${cutText(text, atMost - 3)}...`;
}
