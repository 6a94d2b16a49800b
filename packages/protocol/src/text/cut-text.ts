import { copyText } from "@xdstp/core/wire";

/**
 * Returns the beginning of a text of a peer, as a copy: `slice` would keep the whole text in
 * memory, which may be megabytes, as long as its beginning is used.
 */
export function cutText(text: string, atMost: number): string {
  return text.length <= atMost ? text : copyText(text.slice(0, atMost));
}
