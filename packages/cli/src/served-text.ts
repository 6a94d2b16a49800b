import type { Served } from "./cli-event.ts";
import { escapeText } from "./escape-text.ts";

/** What is served, in words, escaped: the folder, or who says whom to ask. */
export function servedText(what: Served): string {
  return escapeText("dir" in what ? what.dir : what.by);
}
