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

/** The folder of opaque names. The folder of an authority with this name is written `%5Fopaque`. */
export const opaqueFolder = "_opaque";

/** The folder of content per node. `_nodes/KEY/` has the layout of the folder itself, for opaque names only. The folder of an authority with this name is written `%5Fnodes`. */
export const nodesFolder = "_nodes";

/** Returns the key of the nodes that a file is for, or `undefined` if it is for all nodes. Throws a fault for an invalid escape. */
export function nodeOf(segments: readonly string[]): string | undefined {
  const [first, key = ""] = segments;
  return first === nodesFolder ? decodeSegment(key) : undefined;
}

/** The properties of a resource that the path of its file gives. */
export interface Place {
  /** Absent: opaque names. */
  readonly authority?: string;
  readonly type: TypeFolder;
  /** The id of an xdstp name, or the whole opaque name. */
  readonly id: string;
  readonly format: FileFormat;
}

/**
 * Reads the path `AUTHORITY/TYPE/ID.yaml`, given as its segments.
 * Throws a fault for a resource file in another place, an unknown type, and an invalid escape.
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
 * Decodes a file or folder name as a part of a resource name. `%HH` is a byte, so `%2F` is a slash and `%25` is a percent sign.
 * Throws a fault for an invalid escape (N-05), and for bytes that are not UTF-8 (N-06).
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
  /** The descriptor with which payloads are decoded. */
  readonly desc: DescMessage;
}

interface MessageFolder extends FolderType {
  readonly form: "message";
  /** The field with the name of a resource. Absent: the type does not have such a field, or it is not known. */
  readonly nameField?: DescField;
}

/** List collections of any type (B-LIST-1). */
export interface ListFolder extends FolderType {
  readonly form: "list";
  /** The full name of the message of the members. */
  readonly members: string;
}

/** Redirects, which may replace a payload of any type (C-REDIR-1). */
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

/** Returns the type of a folder by its name. Throws a fault for a name that is not a type of the registry. */
export function typeFolder(name: string, context: FolderContext): TypeFolder {
  const folder = knownTypeFolder(name, context);
  if (folder === undefined) throw unknownType(name, context);
  return folder;
}

/** The type of a folder, by its name. undefined: the name is not a type of the registry. */
export function knownTypeFolder(name: string, context: FolderContext): TypeFolder | undefined {
  const typeUrl = shortTypes.get(name) ?? typeUrlOf(name);
  const typeName = typeFromTypeUrl(typeUrl) ?? "";
  const known = context.registry.getMessage(typeName);
  const list = listFolder(typeName, known, context);
  if (list !== undefined) return list;
  if (known === undefined) return undefined;
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
 * Returns the list collection of a known type, or `undefined` if the name is not that of a list.
 * All lists have the same form on the wire (B-LIST-1), so it does not matter whether the list type is declared, or that the Envoy API declares a single entry for some of them.
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

/** Returns the field with the name. A type without a known name field has none, since its field 1 may have any meaning. */
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

/** The format of a file. */
export type FileFormat = "yaml" | "json" | "text" | "binary";

const formats: ReadonlyMap<string, FileFormat> = new Map([
  [".yaml", "yaml"],
  [".yml", "yaml"],
  [".json", "json"],
  [".txtpb", "text"],
  [".pb_text", "text"],
  [".pb", "binary"],
]);

/** The extensions that are read, as text for messages. */
export const extensions: string = [...formats.keys()].join(" ");

/** Splits a file name at its extension, whose case does not matter. Returns `undefined` for a file that is not read. */
export function splitFileName(
  name: string,
): { readonly stem: string; readonly format: FileFormat } | undefined {
  const dot = name.lastIndexOf(".");
  const format = dot <= 0 ? undefined : formats.get(name.slice(dot).toLowerCase());
  return format === undefined ? undefined : { stem: name.slice(0, dot), format };
}

/** Returns true if the bytes of a file name were UTF-8. Node replaces other bytes by U+FFFD. */
export function isUtf8(name: string): boolean {
  return !name.includes("\uFFFD");
}

/** Returns the problem of a file or folder whose name is not UTF-8 (N-06). */
export function notUtf8(name: string): Omit<FolderProblem, "file"> {
  return {
    code: "bad-file-name",
    message: `the file name ${quote(name)} is not UTF-8`,
    rule: "N-06",
    hint: "rename it; escape the bytes of UTF-8 as %HH: é is %C3%A9",
  };
}
