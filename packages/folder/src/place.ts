import { join } from "node:path";
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { shortTypes, typeUrlOf } from "@xdstp/resource-types";
import {
  CollectionEntrySchema,
  ListCollectionSchema,
  ResourceLocatorSchema,
} from "@xdstp/protos/xds";
import { memberTypeOf, typeFromTypeUrl } from "@xdstp/uri";
import { Fault, type FolderProblem, quote } from "./folder-problem.ts";
import type { FolderContext } from "./folder-context.ts";
import { closest } from "./closest.ts";

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
      code: "misplaced-file",
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
      code: "misplaced-file",
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
    code: "misplaced-file",
    message: "a resource lies in AUTHORITY/TYPE/ID.yaml",
    hint: "move the file, or begin its name with a dot to keep it out",
  });
}

/**
 * A file or folder name as a part of a resource name: `%HH` is the byte, so `%2F` is a slash and `%25` a percent sign.
 * Throws a fault for a bad escape (N-05), for bytes that are not UTF-8 (N-06) and for a name that is none.
 */
export function decodeSegment(segment: string): string {
  if (!isUtf8(segment)) throw new Fault(notUtf8(segment));
  const bad = /%(?![0-9A-Fa-f]{2})/.exec(segment);
  if (bad !== null) {
    const escape = segment.slice(bad.index, bad.index + 3);
    throw new Fault({
      code: "bad-file-name",
      message: `${quote(escape)} in the file name ${quote(segment)} is not an escape`,
      rule: "N-05",
      hint: "a percent sign is written %25",
    });
  }
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Fault({
      code: "bad-file-name",
      message: `the escapes in the file name ${quote(segment)} are not UTF-8`,
      rule: "N-06",
      hint: "escape the UTF-8 bytes, for instance %C3%A9",
    });
  }
}

/** The type of the resources in a folder. */
export type TypeFolder = MessageFolder | ListFolder | RedirectFolder;

interface FolderType {
  readonly typeUrl: string;
  /** The full name of the message, as it is written in names. */
  readonly name: string;
  /** How payloads are read. */
  readonly desc: DescMessage;
}

interface MessageFolder extends FolderType {
  readonly form: "message";
  /** The field that holds the name of a resource. Absent: the type has none, or it has no descriptor. */
  readonly nameField?: DescField;
}

/** List collections, of any type (B-LIST-1). */
export interface ListFolder extends FolderType {
  readonly form: "list";
  /** The full name of the messages of the members. */
  readonly members: string;
}

/** What may replace a payload of every type (C-REDIR-1). */
interface RedirectFolder extends FolderType {
  readonly form: "redirect";
}

/** The type of redirects. */
export const redirectType: RedirectFolder = {
  form: "redirect",
  typeUrl: typeUrlOf(ResourceLocatorSchema.typeName),
  name: ResourceLocatorSchema.typeName,
  desc: ResourceLocatorSchema,
};

/** The type of a folder, by its name. Throws a fault for a name that is not a type of the registry. */
export function typeFolder(name: string, context: FolderContext): TypeFolder {
  const typeUrl = shortTypes.get(name) ?? typeUrlOf(name);
  const typeName = typeFromTypeUrl(typeUrl) ?? "";
  const known = context.registry.getMessage(typeName);
  const list = listFolder(typeName, known, context);
  if (list !== undefined) return list;
  if (known === undefined) throw unknownType(name, context);
  const nameField = nameFieldOf(known, context.types.get(typeUrl));
  return {
    form: "message",
    typeUrl,
    name: typeName,
    desc: known,
    ...(nameField !== undefined && { nameField }),
  };
}

/**
 * The list collection of a known type. Whether it is declared does not matter, nor that Envoy's API declares one entry where a list has many:
 * all lists have one form on the wire (B-LIST-1). undefined: it is not a list.
 */
function listFolder(
  name: string,
  declared: DescMessage | undefined,
  { registry }: FolderContext,
): ListFolder | undefined {
  const members = memberTypeOf(name);
  if (members === undefined || registry.getMessage(members) === undefined) return undefined;
  const [field, ...others] = declared?.fields ?? [];
  if (
    declared !== undefined &&
    (field?.number !== 1 ||
      field.message?.typeName !== CollectionEntrySchema.typeName ||
      others.length > 0)
  )
    return undefined;
  const desc = field?.fieldKind === "list" && declared ? declared : ListCollectionSchema;
  return { form: "list", typeUrl: typeUrlOf(name), name, desc, members };
}

/** Returns the field that holds the name. A type that is not known to have one has none: its field 1 may be anything. */
export function nameFieldOf(
  desc: DescMessage,
  type: { readonly nameField?: number } | undefined,
): DescField | undefined {
  if (type === undefined) return undefined;
  const field = desc.fields.find(({ number }) => number === (type.nameField ?? 1));
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}

function unknownType(name: string, context: FolderContext): Fault {
  const messages = Array.from(context.registry, (type) =>
    type.kind === "message" ? type.typeName : "",
  );
  const meant = closest(name, [...shortTypes.keys(), ...messages]);
  const own = "for a type of your own, add its descriptors: --descriptors FILE";
  const known =
    meant === undefined
      ? `the short names are ${[...shortTypes.keys()].join(" ")}`
      : `did you mean ${meant}?`;
  const hint = name.includes(".")
    ? `${meant === undefined ? "" : `${known} `}${own}`
    : meant === undefined
      ? `call the folder by a full message name; ${known}`
      : known;
  return new Fault({
    code: "unknown-type",
    message: `the folder ${quote(name)} is not a known type`,
    rule: "B-TYPE-1",
    hint,
  });
}

/** How a file is read. */
export type FileFormat = "yaml" | "json" | "text" | "binary";

const formats: ReadonlyMap<string, FileFormat> = new Map([
  [".yaml", "yaml"],
  [".yml", "yaml"],
  [".json", "json"],
  [".txtpb", "text"],
  [".pb_text", "text"],
  [".pb", "binary"],
]);

/** The extensions that are read, for messages. */
export const extensions: string = [...formats.keys()].join(" ");

/** Splits a file name at its extension; the case of the extension does not matter. undefined: such a file is not read. */
export function splitFileName(
  name: string,
): { readonly stem: string; readonly format: FileFormat } | undefined {
  const dot = name.lastIndexOf(".");
  const format = dot <= 0 ? undefined : formats.get(name.slice(dot).toLowerCase());
  return format === undefined ? undefined : { stem: name.slice(0, dot), format };
}

/** Whether the bytes of a file name were UTF-8: Node puts U+FFFD where they were not. */
export function isUtf8(name: string): boolean {
  return !name.includes("\uFFFD");
}

/** What is wrong with a file or folder of another name (N-06). */
export function notUtf8(name: string): Omit<FolderProblem, "file"> {
  return {
    code: "bad-file-name",
    message: `the file name ${quote(name)} is not UTF-8`,
    rule: "N-06",
    hint: "rename it; escape the bytes of UTF-8 as %HH: é is %C3%A9",
  };
}
