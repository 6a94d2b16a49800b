import { escapeText } from "./escape-text.ts";
import { counted } from "./short-text.ts";

/** Why names of a server are not shown, and the way to them (C-AUTH-7). */
export function ignoredText(server: string, names: number): string {
  const [are, their, them] =
    names === 1 ? ["is", "its", "it by its own name"] : ["are", "their", "them by their own names"];
  return `${counted(names, "name")} from ${escapeText(server)} ${are} ignored: the configuration has another source for ${their} authority or type; subscribe to ${them}`;
}
