import { helpWidth, wrapWords } from "./wrap-words.ts";

/** `Usage: ...` in lines that fit a terminal: an option stays with its value, and so does the text in one pair of brackets. */
export function usageText(usage: string): string {
  const kept = usage
    .replaceAll(/(--[\w-]+) (?=[A-Z])/g, "$1\u00a0")
    .replaceAll(/\[[^[\]]*\]/g, (group) => group.replaceAll(" ", "\u00a0"));
  return wrapWords(`Usage: ${kept}`, helpWidth, " ".repeat("Usage: ".length)).replaceAll(
    "\u00a0",
    " ",
  );
}
