import { createHash } from "node:crypto";
import { shortNameOf } from "@xdstp/resource-types";
import { opaqueFolder } from "../place.ts";

/** Longer names of files are rejected by file systems. */
const longestName = 240;

/** The file of a resource. */
export interface FileOfName {
  /** Below the folder. */
  readonly path: string;
  /** true: the path contains the name. false: the file has a list `resources` whose member has the name. */
  readonly hasName: boolean;
}

/** Returns a file for each opaque name of a type, no two of which are the same, also where the case of letters does not matter. */
export function createFileNames(): (typeUrl: string, name: string) => FileOfName {
  const taken = new Set<string>();
  return (typeUrl, name) => {
    const folder = `${opaqueFolder}/${shortNameOf(typeUrl) ?? ""}`;
    const escaped = escapeName(name);
    const candidates = [escaped, escaped.replaceAll(/(?<!%.?)[A-Z]/g, escapeCharacter)];
    const free = candidates.find(
      (one) => one.length <= longestName && !taken.has(`${folder}/${one}`.toLowerCase()),
    );
    const stem = free ?? createHash("sha256").update(name).digest("hex").slice(0, 32);
    taken.add(`${folder}/${stem}`.toLowerCase());
    return { path: `${folder}/${stem}.yaml`, hasName: free !== undefined };
  };
}

/** Escapes what some file system does not allow or changes, what begins a hidden file, and the slash, so that each name is one file. */
function escapeName(name: string): string {
  return name
    .replaceAll(/[^A-Za-z0-9._ ~@,;=+()[\]{}&$!'-]/gu, escapeCharacter)
    .replaceAll(/^[. ]|[. ]$/g, escapeCharacter);
}

/** The bytes of a character as the folder reads them. */
function escapeCharacter(character: string): string {
  return Array.from(
    new TextEncoder().encode(character),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
}
