import { basename, dirname, extname, join, resolve, sep } from "node:path";
import {
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { fromText } from "@bufbuild/protobuf/txtpb";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { typeUrlOf } from "@xdstp/resource-types";
import { authorityOf, memberTypeOf } from "@xdstp/uri";
import { candidatesInDocument } from "./candidates-in-document.ts";
import {
  bootstrapName,
  checkBootstrapContent,
  type ReadFile,
  readWhole,
  troubleOf,
} from "./check-bootstrap.ts";
import { createResourceCheck } from "./check-resource.ts";
import { closest } from "./closest.ts";
import { canonicalJson, isObject, shownReason } from "./documents-of.ts";
import { parseEnvoyYaml } from "./envoy-yaml.ts";
import {
  type FolderContext,
  folderContext,
  type FolderOptions,
  type ResourceCheck,
} from "./folder-context.ts";
import { Fault, type FolderProblem, type JsonPath, located, quote } from "./folder-problem.ts";
import { messageFrom } from "./json-reason.ts";
import { parseJson, parseYaml, rejectFaultyJson } from "./parse-document.ts";
import { knownTypeFolder, type Place, type TypeFolder, typeFolder } from "./place.ts";
import { bySeverity } from "./problem-codes.ts";
import { each, empty, faultsOf, problemOf, readFile } from "./read-file.ts";
import { resourceFromCandidate } from "./resource-from-candidate.ts";

/** The problems of one file. */
export interface FileProblems {
  /** The kind of file that its content was recognised as. */
  readonly kind: "bootstrap" | "resources";
  /** The number of valid resources. 0 for a bootstrap. */
  readonly resources: number;
  /** Problems for which clients reject a resource, or for which the file cannot be read. */
  readonly problems: readonly FolderProblem[];
  /** Likely mistakes that clients accept. */
  readonly warnings: readonly FolderProblem[];
}

/**
 * Checks one file: a configuration that Envoy starts with, one or several resources with `@type`, a `DiscoveryResponse`, or a file of a folder, whose type is that of its folder.
 * The content of the file decides which of these it is. References to other resources are checked only in a bootstrap, since the other resources may be in other files. Never rejects.
 */
export async function checkFile({
  file,
  registry,
  types,
  clients,
}: Pick<FolderOptions, "registry" | "types" | "clients"> & {
  readonly file: string;
}): Promise<FileProblems> {
  const base = folderContext({
    dir: dirname(file),
    registry,
    ...(types && { types }),
    ...(clients && { clients }),
  });
  return checkWith(file, base, checkContent);
}

async function checkWith(
  file: string,
  base: FolderContext,
  run: (read: ReadFile, base: FolderContext) => FileProblems | Promise<FileProblems>,
): Promise<FileProblems> {
  try {
    const read = await readWhole(file);
    try {
      return await run(read, base);
    } catch (error) {
      return { ...nothing, problems: [problemOf(error, file, read.text)] };
    }
  } catch (error) {
    return { ...nothing, problems: [troubleOf(error, file)] };
  }
}

const nothing = { kind: "resources", resources: 0, warnings: [] } as const;

/** Reads the resources of a file that is not a bootstrap, and calls the check with each. Never rejects. */
export async function readResourcesOfFile(
  file: string,
  base: FolderContext,
  check: ResourceCheck,
): Promise<FileProblems> {
  return checkWith(file, base, (read) => {
    const content = contentOf(read, base);
    return content === "bootstrap"
      ? nothingWrong
      : checkResources(content, read, { ...base, check });
  });
}

const nothingWrong: FileProblems = { ...nothing, problems: [] };

async function checkContent(read: ReadFile, base: FolderContext): Promise<FileProblems> {
  if (read.bytes.length === 0 || (read.format !== "binary" && read.text.trim() === ""))
    throw empty();
  const content = contentOf(read, base);
  if (content === "bootstrap")
    return { kind: "bootstrap", resources: 0, ...(await checkBootstrapContent(read, base)) };
  return checkResources(content, read, { ...base, check: await createResourceCheck(base) });
}

function checkResources(
  content: FilePlace | readonly TypedDocument[],
  read: ReadFile,
  context: FolderContext,
): FileProblems {
  return "segments" in content
    ? checkInFolder(read, content, context)
    : checkDocuments(content, read, context);
}

/** A document with resources that have a type. */
interface TypedDocument {
  readonly json: JsonObject;
  /** The number of the document in the file, from 0. */
  readonly index: number;
}

/** Returns what a file contains: a bootstrap, or documents with types. If the content does not have a type, the folder of the file does. */
function contentOf(
  read: ReadFile,
  context: FolderContext,
): "bootstrap" | FilePlace | readonly TypedDocument[] {
  const { text, bytes, format, file } = read;
  const place = (): FilePlace | undefined => placeInFolder(file, context);
  if (format === "binary") {
    const json = typedMessage(bytes, context);
    return json === undefined ? (place() ?? "bootstrap") : [{ json, index: 0 }];
  }
  if (format === "text") {
    const json = typedText(text, context);
    return json === undefined ? (place() ?? "bootstrap") : [{ json, index: 0 }];
  }
  if (format === "json") rejectFaultyJson(text);
  const documents = documentsOrBootstrap(read, place, context);
  if (documents === "bootstrap") return documents;
  if (documents.length === 0) throw empty();
  if (documents.every((one): one is TypedDocument => saysItsType(one.json))) return documents;
  const known = place();
  if (known !== undefined) return known;
  // Envoy starts with an empty bootstrap.
  if (documents.every(({ json }) => isObject(json) && Object.keys(json).length === 0))
    return "bootstrap";
  throw new Fault({
    code: "unrecognized-file",
    message: "is neither a bootstrap nor a resource that says its type",
    hint: documents.some(({ json }) => isObjectOfKubernetes(json))
      ? "it is an object of Kubernetes; check the text of its Envoy configuration as a file"
      : 'write "@type": type.googleapis.com/TYPE above the fields of a resource',
    document: documents.find(({ json }) => !saysItsType(json))?.index ?? 0,
    path: [],
  });
}

function isObjectOfKubernetes(json: JsonValue): boolean {
  if (!isObject(json)) return false;
  const { apiVersion, kind } = json;
  return typeof apiVersion === "string" && typeof kind === "string";
}

/** Envoy reads a configuration in its own way: what is not valid for a folder may still be a bootstrap. */
function documentsOrBootstrap(
  read: ReadFile,
  place: () => FilePlace | undefined,
  context: FolderContext,
): ReturnType<typeof documentsIn> | "bootstrap" {
  try {
    const documents = documentsIn(read);
    const [first] = documents;
    if (first?.index !== 0 || !isObject(first.json)) return documents;
    // The type of a bootstrap has half of the API in it, so it is looked up last.
    if (isOfItsFolder(first.json, place())) return documents;
    return isBootstrap(first.json, context) ? "bootstrap" : documents;
  } catch (error) {
    const { value } = parseEnvoyYaml(read.text);
    if (isObject(value) && isBootstrap(value, context)) return "bootstrap";
    throw error;
  }
}

function documentsIn({ text, format }: ReadFile): readonly {
  readonly json: JsonValue;
  readonly index: number;
}[] {
  const values = format === "json" ? [parseJson(text)] : parseYaml(text);
  return values.flatMap((one, index) => {
    const json = located(() => canonicalJson(one, 100_000 + 4 * text.length), {
      document: index,
      path: [],
    });
    return json === null ? [] : [{ json, index }];
  });
}

/** Returns true if an object has a field of an Envoy bootstrap, and no other type. */
function isBootstrap(json: JsonObject, { registry }: FolderContext): boolean {
  if (json["@type"] !== undefined) return typeNameIn(json) === bootstrapName;
  const names = namesOfFields(registry.getMessage(bootstrapName));
  return !saysItsType(json) && Object.keys(json).some((key) => names.has(key));
}

/** True if all fields of an object are those of the type of the folder that its file lies in. */
function isOfItsFolder(json: JsonObject, place: FilePlace | undefined): boolean {
  const names = namesOfFields(place?.type.desc);
  return Object.keys(json).every((key) => names.has(key));
}

function namesOfFields(desc: DescMessage | undefined): ReadonlySet<string> {
  return new Set(desc?.fields.flatMap(({ name, jsonName }) => [name, jsonName]));
}

/** Returns true if an object is a resource with `@type`, a `Resource` with one, or a list of these. */
function saysItsType(json: JsonValue): json is JsonObject {
  if (!isObject(json)) return false;
  const { resource, resources } = json;
  if (json["@type"] !== undefined || typeUrlOfResponse(json) !== undefined) return true;
  if (isObject(resource)) return resource["@type"] !== undefined;
  return Array.isArray(resources) && resources.length > 0 && resources.every(saysItsType);
}

function typeUrlOfResponse({ resources, type_url, typeUrl }: JsonObject): JsonValue | undefined {
  return Array.isArray(resources) ? (type_url ?? typeUrl) : undefined;
}

function typeNameIn({ "@type": stated }: JsonObject): string | undefined {
  return typeof stated === "string" ? stated.slice(stated.lastIndexOf("/") + 1) : undefined;
}

/** Returns the message in a text that has a type, as a comment `# proto-message: TYPE` or as an expanded Any. Returns `undefined` for another text. */
function typedText(text: string, context: FolderContext): JsonObject | undefined {
  const stated = /^[ \t]*#[ \t]*proto-message:[ \t]*(\S+)/m.exec(text)?.[1];
  const isAny = /^(?:\s|#.*$)*\[/m.test(text);
  if (stated === undefined && !isAny) return undefined;
  const desc = stated === undefined ? AnySchema : knownType(stated, context);
  try {
    return typedJson(desc, fromText(desc, text, context), context);
  } catch (error) {
    const reason = shownReason(error);
    throw new Fault({
      code: "syntax",
      message: `is not a valid ${desc.typeName} in text format: ${reason}`,
    });
  }
}

/** The wrappers whose payload has a type. */
const wrappers = [DiscoveryResponseSchema, ResourceSchema] as const;

/** Returns the message in the bytes of an Any, or of a wrapper with one. Returns `undefined` for other bytes. */
function typedMessage(bytes: Uint8Array, context: FolderContext): JsonObject | undefined {
  for (const desc of [AnySchema, ...wrappers]) {
    try {
      const message = fromBinary<DescMessage>(desc, bytes);
      const json = typedJson(desc, message, context);
      if (message.$unknown === undefined && saysItsPayload(json)) return json;
    } catch {
      // The bytes are not this message.
    }
  }
  return undefined;
}

function saysItsPayload(json: JsonObject): boolean {
  const { "@type": stated, ...rest } = json;
  const isWrapper = wrappers.some(
    ({ typeName }) => typeName === typeNameIn({ "@type": stated ?? "" }),
  );
  return isWrapper ? saysItsType(rest) : stated !== undefined && stated !== "";
}

function typedJson(
  desc: DescMessage,
  message: MessageShape<DescMessage>,
  { registry }: FolderContext,
): JsonObject {
  const json = toJson(desc, message, { registry, useProtoFieldName: true });
  if (!isObject(json)) return {};
  return desc === AnySchema ? json : { ...json, "@type": typeUrlOf(desc.typeName) };
}

function knownType(name: string, { registry }: FolderContext, path: JsonPath = []): DescMessage {
  const desc = registry.getMessage(name);
  if (desc !== undefined) return desc;
  const meant = closest(
    name,
    Array.from(registry, (type) => (type.kind === "message" ? type.typeName : "")),
  );
  throw new Fault({
    code: "unknown-type",
    message: `the type ${quote(name)} is not known`,
    path,
    rule: "B-TYPE-1",
    hint:
      meant === undefined ? "add its descriptors: --descriptors FILE" : `did you mean ${meant}?`,
  });
}

/** The place of a file in a folder that `serve` could serve. */
interface FilePlace {
  readonly type: TypeFolder;
  readonly dir: string;
  readonly segments: readonly string[];
}

/** Returns the innermost type folder around a file, with the folder above it. Returns `undefined` if there is none. */
function placeInFolder(file: string, context: FolderContext): FilePlace | undefined {
  const steps = resolve(file).split(sep);
  for (let at = steps.length - 2; at > 1; at--) {
    const type = knownTypeFolder(steps[at] ?? "", context);
    if (type === undefined) continue;
    const segments = steps.slice(at - 1);
    return { type, dir: join(file, ...segments.map(() => "..")), segments };
  }
  return undefined;
}

function checkInFolder(
  { bytes }: ReadFile,
  { dir, segments }: FilePlace,
  context: FolderContext,
): FileProblems {
  const { puts, problems, warnings } = readFile(segments, bytes, { ...context, dir });
  return { kind: "resources", resources: puts.length, problems, warnings };
}

function checkDocuments(
  documents: readonly TypedDocument[],
  { file, text, format }: ReadFile,
  context: FolderContext,
): FileProblems {
  const lines = format === "yaml" || format === "json" ? text : "";
  const problems: FolderProblem[] = [];
  const report = (error: unknown): unknown => problems.push(problemOf(error, file, lines));
  const isAlone = documents.length === 1;
  const puts = each(documents, report, ({ json, index }) => {
    const members = located(() => membersOf(json, context), { document: index, path: [] });
    return each(members, report, (member) => {
      const at = { document: index, path: member.path };
      const place = located(() => placeOfMember(member.json, { file, format }, context), at);
      const alone = isAlone && members.length === 1 && place.id !== "";
      const [found] = located(
        () => candidatesInDocument({ json: member.json, index }, alone, place, context),
        at,
      );
      if (found === undefined) return [];
      const candidate = { ...found, path: [...member.path, ...found.path] };
      const put = resourceFromCandidate(candidate, place, context);
      for (const fault of faultsOf(put, candidate, lines, context))
        problems.push({ file, ...fault });
      return [put];
    });
  });
  return { kind: "resources", resources: puts.length, ...bySeverity(problems) };
}

/** A resource of a document, or a `Resource` with one. */
interface Member {
  readonly json: JsonObject;
  readonly path: JsonPath;
}

/** Returns the members of a `DiscoveryResponse`, each with its own type or that of the response. Returns another document as its only member. */
function membersOf(json: JsonObject, context: FolderContext): readonly Member[] {
  const stated = typeNameIn(json);
  const isResponse =
    stated === DiscoveryResponseSchema.typeName ||
    (stated === undefined && Array.isArray(json.resources));
  if (!isResponse) return [{ json, path: [] }];
  const { resources = [], ...facts } = json;
  delete facts["@type"];
  messageFrom(DiscoveryResponseSchema, facts, [], context);
  const typeUrl = typeUrlOfResponse(json);
  return (Array.isArray(resources) ? resources : [resources]).map((member, index) => {
    const path = ["resources", index];
    if (!isObject(member))
      throw new Fault({
        code: "not-a-message",
        message: "a member of resources is a message",
        path,
      });
    const isBare = member["@type"] === undefined && !isObject(member.resource);
    const withType = isBare && typeUrl !== undefined ? { ...member, "@type": typeUrl } : member;
    return { json: withType, path };
  });
}

/** Returns the type, format and authority of a resource, in the form that the path of a file in a folder has. */
function placeOfMember(
  json: JsonObject,
  { file, format }: Pick<ReadFile, "file" | "format">,
  context: FolderContext,
): Place {
  const stated = typeNameIn(json);
  const isWrapper =
    stated === ResourceSchema.typeName || (stated === undefined && isObject(json.resource));
  const payload = isWrapper && isObject(json.resource) ? json.resource : json;
  const path = payload === json ? [] : ["resource"];
  const typeName = typeNameIn(payload);
  if (typeName === undefined)
    throw new Fault({
      code: "unrecognized-file",
      message: 'a resource has no "@type"',
      hint: 'write "@type": type.googleapis.com/TYPE above its fields',
      path,
    });
  knownType(memberTypeOf(typeName) ?? typeName, context, [...path, "@type"]);
  const type = typeFolder(typeName, context);
  const nameField = type.form === "message" ? type.nameField : undefined;
  const name =
    (isWrapper ? json.name : undefined) ??
    (nameField && (payload[nameField.name] ?? payload[nameField.jsonName]));
  const isNamed = typeof name === "string" && name !== "";
  const authority = isNamed ? authorityOf(name) : undefined;
  const id = isNamed ? "" : basename(file, extname(file));
  return { type, id, format, ...(authority !== undefined && { authority }) };
}
