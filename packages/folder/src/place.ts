import { join } from "node:path";
import { decodeSegment } from "./decode-segment.ts";
import { Fault } from "./fault.ts";
import { extensions, type FileFormat, splitFileName } from "./file-format.ts";
import type { FolderContext } from "./folder-context.ts";
import { type TypeFolder, typeFolder } from "./type-folder.ts";

/** The folder of legacy names; an authority of that name is written `%5Fopaque`. */
export const opaqueFolder = "_opaque";

/** The folder of content per node: `_nodes/KEY/` is laid out like the folder itself, for opaque names. An authority of that name is written `%5Fnodes`. */
export const nodesFolder = "_nodes";

/** The key of the nodes that a file is for; undefined: for all. Throws a fault for a bad escape. */
export function nodeOf(segments: readonly string[]): string | undefined {
  const [first, key = ""] = segments;
  return first === nodesFolder ? decodeSegment(key) : undefined;
}

/** What the path of a file says about the resources in it. */
export interface Place {
  /** Absent: opaque names. */
  readonly authority?: string;
  readonly type: TypeFolder;
  /** The id, or the whole opaque name. */
  readonly id: string;
  readonly format: FileFormat;
}

/**
 * Reads `AUTHORITY/TYPE/ID.yaml`, given as its segments.
 * Throws a fault for a resource file that lies elsewhere, a type that is not known, a bad escape.
 */
export function placeOf(segments: readonly string[], context: FolderContext): Place {
  if (segments[0] === nodesFolder) return placeForNode(segments, context);
  const [authority = "", type = "", ...path] = segments;
  const file = splitFileName(segments.at(-1) ?? "");
  if (file === undefined)
    throw new Fault({
      message: "is not read",
      hint: `the extensions that are read are ${extensions}`,
    });
  if (path.length === 0) throw misplaced();
  const folder = typeOf(authority, type, context);
  const id = [...path.slice(0, -1), file.stem].map(decodeSegment).join("/");
  const place = { type: folder, id, format: file.format };
  return authority === opaqueFolder ? place : { ...place, authority: decodeSegment(authority) };
}

function placeForNode(
  [first = "", key = "", ...below]: readonly string[],
  context: FolderContext,
): Place {
  decodeSegment(key);
  if (below.length < 3 || below[0] !== opaqueFolder)
    throw new Fault({
      message: `content per node lies in ${nodesFolder}/KEY/${opaqueFolder}/TYPE/NAME.yaml`,
      rule: "B-NODE-7",
      hint: "move the file; xdstp names are the same for all nodes",
    });
  return placeOf(below, { ...context, dir: join(context.dir, first, key) });
}

function typeOf(authority: string, type: string, context: FolderContext): TypeFolder {
  try {
    return typeFolder(decodeSegment(type), context);
  } catch (error) {
    throw error instanceof Fault
      ? new Fault({ ...error.details, file: join(context.dir, authority, type) })
      : error;
  }
}

function misplaced(): Fault {
  return new Fault({
    message: "a resource lies in AUTHORITY/TYPE/ID.yaml",
    hint: "move the file, or begin its name with a dot to keep it out",
  });
}
