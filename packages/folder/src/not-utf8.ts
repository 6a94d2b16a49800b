import type { FolderProblem } from "./folder-problem.ts";
import { quote } from "./quote.ts";

/** Whether the bytes of a file name were UTF-8: Node puts U+FFFD where they were not. */
export function isUtf8(name: string): boolean {
  return !name.includes("\uFFFD");
}

/** What is wrong with a file or folder of another name (N-06). */
export function notUtf8(name: string): Omit<FolderProblem, "file"> {
  return {
    message: `the file name ${quote(name)} is not UTF-8`,
    rule: "N-06",
    hint: "rename it; escape the bytes of UTF-8 as %HH: é is %C3%A9",
  };
}
