import { readFile, stat } from "node:fs/promises";
import { findPosition, maxLength, type ParsedYaml, parsedYaml } from "./find-position.ts";

/** The place of a resource in the text of its file. */
export interface ResourcePlace {
  /** The number of the YAML document, from 0. Empty documents count. */
  readonly document: number;
  /** The path from the document to the resource. Empty: the resource is the document. */
  readonly path: readonly (string | number)[];
}

/** A resource in a file, as {@link FolderContent} has it. */
export interface PlacedResource {
  /** The file that contains the resource. */
  readonly file: string;
  /** The place of the resource in the text of the file. Absent: the format of the file has no places. */
  readonly place?: ResourcePlace | undefined;
}

/**
 * Creates a function that returns the line at which a resource of a folder begins, from 1: that of its first field, or of its wrapper.
 * The function returns `undefined` if the file is not YAML or JSON, is larger than 2 MB, or cannot be read any more.
 * It keeps the file that it read last, so that many resources of one file require only one reading.
 */
export function createLineFinder(): (resource: PlacedResource) => Promise<number | undefined> {
  let last: { readonly file: string; readonly parsed: Promise<ParsedYaml | undefined> } | undefined;
  return async ({ file, place }) => {
    if (place === undefined) return undefined;
    if (last?.file !== file) last = { file, parsed: parse(file) };
    const parsed = await last.parsed;
    return parsed && findPosition(parsed.text, place.document, place.path)?.line;
  };
}

async function parse(file: string): Promise<ParsedYaml | undefined> {
  try {
    if ((await stat(file)).size > maxLength) return undefined;
    return parsedYaml(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
