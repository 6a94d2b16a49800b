import { readFileSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import {
  type DescMessage,
  fromBinary,
  type JsonObject,
  type Registry,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Reference, ResourceType } from "@xdstp/core";
import { anyFromJson, ResourceJsonError } from "@xdstp/protos/envoy";
import { cluster, listener, secret, shortNameOf, typeUrlOf } from "@xdstp/resource-types";
import { fromText } from "@bufbuild/protobuf/txtpb";
import { asEnvoyReads } from "./as-envoy-reads.ts";
import { createDescriptorCheck } from "./check-resource.ts";
import { isSetIn, type StaticReference, staticReferencesIn } from "./bootstrap-references.ts";
import { checkEnvoy } from "./envoy-checks/check-envoy.ts";
import type { EnvoyFiles } from "./envoy-checks/envoy-check.ts";
import { boundAddresses, type BoundListener } from "./envoy-checks/listener-checks.ts";
import { foreignTypeOn, rejectBareTypes } from "./envoy-checks/type-faults.ts";
import { canonicalJson, isObject, shownReason } from "./documents-of.ts";
import { readBytes } from "./file-parser.ts";
import { type EnvoyYaml, parseEnvoyYaml } from "./envoy-yaml.ts";
import { findPosition, findTexts } from "./find-position.ts";
import { type FolderContext, folderContext } from "./folder-context.ts";
import { Fault, fileTrouble, type FolderProblem, type JsonPath, quote } from "./folder-problem.ts";
import { jsonPathOf, shownField } from "./json-path-of.ts";
import { explainJsonError, fieldOf } from "./json-reason.ts";
import { rejectFaultyJson } from "./parse-document.ts";
import { bySeverity, type ProblemCode } from "./problem-codes.ts";
import { extensions, type FileFormat, splitFileName } from "./place.ts";
import { problemOf, textOf } from "./read-file.ts";

/** The problems of one file. */
export interface BootstrapProblems {
  /** The problems for which Envoy rejects the file. Empty: none were found. */
  readonly problems: readonly FolderProblem[];
  /** Likely mistakes that Envoy accepts. */
  readonly warnings: readonly FolderProblem[];
}

/** The name of the message of a bootstrap. */
export const bootstrapName = "envoy.config.bootstrap.v3.Bootstrap";
type Format = "yaml" | "json";
const formats: Readonly<Record<string, Format | undefined>> = {
  ".yaml": "yaml",
  ".yml": "yaml",
  ".json": "json",
};

/**
 * Checks a configuration that Envoy starts with: syntax, messages, constraints, and references to clusters and secrets that it does not have.
 * The extension of the file is its format: YAML, JSON, text format or binary. Problems in the last two have no lines. Never rejects.
 * A missing resource is a problem if Envoy does not start without it: references to static secrets, from config sources, and from static routes. Other references to clusters are warnings, and are not checked if clusters also come from a server.
 */
export async function checkBootstrap({
  file,
  registry,
  text,
  readsFiles = true,
}: {
  readonly file: string;
  /** The content, in place of that of the file, for example unsaved text of an editor. */
  readonly text?: string | undefined;
  /** `envoyRegistry()` of `@xdstp/protos/envoy`, or a registry with more types. */
  readonly registry: Registry;
  /** true: the files that the bootstrap names, such as certificates, are checked. They have to be on this machine as on that of Envoy. Default: true. */
  readonly readsFiles?: boolean;
}): Promise<BootstrapProblems> {
  try {
    const source =
      text === undefined
        ? await readWhole(file)
        : { file, text, bytes: new Uint8Array(), format: formatOf(file) };
    const context = folderContext({ dir: dirname(file), registry });
    return await checkBootstrapContent(source, context, { readsFiles });
  } catch (error) {
    return { problems: [troubleOf(error, file)], warnings: [] };
  }
}

/** Returns the reason why a file cannot be read, as a problem. */
export function troubleOf(error: unknown, file: string): FolderProblem {
  return error instanceof Fault ? problemOf(error, file, "") : { file, ...fileTrouble(error) };
}

/** Reads a file. Rejects with a fault for an extension that is not supported and for a text that is not UTF-8, or with the error of the system. */
export async function readWhole(file: string): Promise<ReadFile> {
  const format = formatOf(file);
  const bytes = await readBytes(file, (await stat(file)).size, (_, run) => run());
  return { file, bytes, format, text: format === "binary" ? "" : textOf(bytes) };
}

/** A file and its content. */
export interface ReadFile {
  readonly file: string;
  readonly bytes: Uint8Array;
  /** The content as text. Empty for the binary format. */
  readonly text: string;
  readonly format: FileFormat;
}

/** Returns the format of a file by its extension. Throws a fault for an extension that is not supported. */
function formatOf(file: string): FileFormat {
  const format = splitFileName(basename(file))?.format;
  if (format !== undefined) return format;
  throw new Fault({
    code: "unrecognized-file",
    message: "is not read",
    hint: `the extensions that are read are ${extensions}`,
  });
}

/** Returns the text of a bootstrap. Rejects with the errors of the file system. */
export async function bootstrapText(file: string): Promise<string> {
  const bytes = await readBytes(file, (await stat(file)).size, (_, run) => run());
  return new TextDecoder().decode(bytes);
}

/** Returns the format of a bootstrap whose comments are kept, by the extension of its file. Throws a fault for another extension. */
export function bootstrapFormat(file: string): Format {
  const format = formats[extname(file).toLowerCase()];
  if (format !== undefined) return format;
  throw new Fault({
    code: "misplaced-file",
    message: "is not read as a bootstrap of Envoy",
    hint: "the extensions that are read are .yaml, .yml and .json",
  });
}

/** A bootstrap as Envoy reads it. */
export interface ReadBootstrap {
  /** The bootstrap in the JSON form of protobuf. */
  readonly json: JsonObject;
  readonly desc: DescMessage;
  /** Parts of the text that Envoy ignores. */
  readonly warnings: EnvoyYaml["warnings"];
  /** The parsed text. It is kept as long as positions in the text are needed. */
  readonly parsed: EnvoyYaml["parsed"];
}

/** Reads the content of a bootstrap without decoding its messages. Throws a fault for a text that is not one message. */
export function readBootstrap(
  source: Omit<ReadFile, "file">,
  { registry }: Pick<FolderContext, "registry">,
): ReadBootstrap {
  const desc = registry.getMessage(bootstrapName);
  if (desc === undefined)
    throw new Fault({ code: "unknown-type", message: `the registry has no ${bootstrapName}` });
  const { value, warnings, parsed } = valueOf(source, desc, registry);
  const read = canonicalJson(value ?? null, 100_000 + 4 * source.text.length);
  if (read === null) throw new Fault({ code: "empty-file", message: "is empty" });
  if (!isObject(read))
    throw new Fault({
      code: "not-a-message",
      message: "is not one message",
      hint: "a bootstrap is one document",
    });
  return { json: inForms(read, desc, registry), desc, warnings, parsed };
}

/** Returns the forms that the JSON reader takes. The message of a fault names its field. */
function inForms(json: JsonObject, desc: DescMessage, registry: Registry): JsonObject {
  try {
    return asEnvoyReads(json, desc, registry);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { message, path = [] } = error.details;
    throw new Fault({ ...error.details, document: 0, message: `${fieldOf(path)}: ${message}` });
  }
}

/** Checks the content of a bootstrap. Never rejects for any content of a file. */
export async function checkBootstrapContent(
  source: ReadFile,
  context: FolderContext,
  { readsFiles = true }: { readonly readsFiles?: boolean } = {},
): Promise<BootstrapProblems> {
  try {
    return await check(source, { context, readsFiles });
  } catch (error) {
    return { problems: [problemOf(error, source.file, source.text)], warnings: [] };
  }
}

async function check(
  source: ReadFile,
  { context, readsFiles }: { readonly context: FolderContext; readonly readsFiles: boolean },
): Promise<BootstrapProblems> {
  const { file } = source;
  const { json, desc, warnings: passedOver, parsed } = readBootstrap(source, context);
  const bytes = encodeBootstrap(json, context);
  const bootstrap = reflect(desc, fromBinary(desc, bytes));
  const checkContent = await createDescriptorCheck(context);
  const payload = { typeUrl: typeUrlOf(bootstrapName), value: bytes };
  const faults = checkContent({
    typeUrl: payload.typeUrl,
    resource: { name: "", version: "", payload },
  }).map(({ path, code, message, ...more }): FolderProblem => ({
    ...problemAt(jsonPathOf(json, path), code, message),
    ...more,
  }));
  const { problems: violations, warnings: advice } = bySeverity(faults);
  const rejections = checkEnvoy(bootstrap, {
    registry: context.registry,
    files: readsFiles ? filesOf(context.dir) : undefined,
  }).map(({ code, path, message, hint }): FolderProblem => ({
    ...problemAt(jsonPathOf(json, path), code, `${shownField(path)}: ${message}`),
    ...(hint !== undefined && { hint }),
  }));
  const judged = bySeverity(rejections);
  const missing = missingIn(bootstrap, context.registry);
  const found = Map.groupBy(missing, ({ isRequired }) => isRequired);
  const problems = [...(found.get(true) ?? []).map(missingProblem), ...repeatedNames()];
  const warnings = (found.get(false) ?? []).map(missingProblem);
  const reported = new Set(missing.map(keyOf));
  return {
    problems: [...violations, ...judged.problems, ...problems],
    warnings: [
      ...passedOver.map((one) => ({ file, ...one })),
      ...advice,
      ...judged.warnings,
      ...warnings,
      ...adminAddresses(),
      ...danglingIn(bootstrap, context, { file, text: parsed?.text ?? "", reported }),
    ],
  };

  function problemAt(path: JsonPath, code: ProblemCode, message: string): FolderProblem {
    const text = parsed?.text ?? "";
    return { file, ...findPosition(text, 0, path), code, message };
  }

  function missingProblem(reference: StaticReference): FolderProblem {
    const { typeUrl, name, path, isRequired, hint } = reference;
    const at = jsonPathOf(json, path);
    const code = isRequired ? "missing-static-resource" : "dangling-reference";
    return { ...problemAt(at, code, `${fieldOf(at)}: ${missingText({ typeUrl, name })}`), hint };
  }

  /** Returns the listeners that have the address of the admin page. Envoy accepts such a configuration in validation, but cannot listen on both. */
  function adminAddresses(): readonly FolderProblem[] {
    const admin = messageIn(bootstrap, "admin");
    const taken = new Set(admin === undefined ? [] : addressesOf(admin).map(([key]) => key));
    return listOf(bootstrap, listener).flatMap((one, index) =>
      addressesOf(one).flatMap(([key, at]) => {
        if (!taken.has(key)) return [];
        const path = ["static_resources", "listeners", index, ...at];
        const message = `${fieldOf(path)}: is the address of the admin page`;
        return [problemAt(path, "shared-address", message)];
      }),
    );
  }

  function repeatedNames(): readonly FolderProblem[] {
    const names = namesIn(bootstrap, cluster);
    return names.flatMap((name, at) => {
      if (names.indexOf(name) === at) return [];
      const path = ["static_resources", "clusters", at, "name"];
      return [
        problemAt(
          path,
          "duplicate-name",
          `${fieldOf(path)}: ${quote(name)} is the name of an earlier cluster`,
        ),
      ];
    });
  }
}

/** Encodes a bootstrap as Envoy reads it. Throws a fault for what is not a message. */
export function encodeBootstrap(
  json: JsonObject,
  { registry }: Pick<FolderContext, "registry">,
): Uint8Array {
  rejectBareTypes(json);
  try {
    return anyFromJson({ ...json, "@type": typeUrlOf(bootstrapName) }, registry).value;
  } catch (error) {
    const foreign =
      error instanceof ResourceJsonError ? foreignTypeOn(json, error.path, registry) : undefined;
    if (foreign !== undefined)
      throw new Fault({ code: "wrong-extension", document: 0, ...foreign });
    throw explainJsonError(error, { document: 0, path: [] }, registry, { isBootstrap: true });
  }
}

/** The largest file that is read, in bytes. Certificates are smaller. */
const maxTextSize = 4_000_000;

/** Returns access to the files that a bootstrap names. A path is relative to the working directory, as Envoy reads it, or to the directory of the bootstrap. */
function filesOf(dir: string): EnvoyFiles {
  const statsOf = (path: string) => statSync(path, { throwIfNoEntry: false });
  const find = (path: string): string | undefined => {
    try {
      return [resolve(path), resolve(dir, path)].find((one) => statsOf(one) !== undefined);
    } catch {
      return undefined; // The text is not a path, or its directory may not be read.
    }
  };
  const readBytes = (path: string): Uint8Array | undefined => {
    const found = find(path);
    try {
      const stats = found === undefined ? undefined : statsOf(found);
      if (found === undefined || stats?.isFile() !== true || stats.size > maxTextSize)
        return undefined;
      return readFileSync(found);
    } catch {
      return undefined;
    }
  };
  return {
    exists: (path) => find(path) !== undefined,
    read(path) {
      const bytes = readBytes(path);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8");
    },
    readBytes,
  };
}

function valueOf(
  { bytes, text, format }: Omit<ReadFile, "file">,
  desc: DescMessage,
  registry: Registry,
): EnvoyYaml {
  if (format === "json") rejectFaultyJson(text); // The text is valid JSON then, so it can be read as YAML.
  if (format === "json" || format === "yaml") return parseEnvoyYaml(text);
  try {
    const message =
      format === "text" ? fromText(desc, text, { registry }) : fromBinary(desc, bytes);
    return { value: toJson(desc, message, { registry, useProtoFieldName: true }), warnings: [] };
  } catch (error) {
    throw new Fault({
      code: "syntax",
      message: `is not a valid ${desc.typeName} in ${format === "text" ? "text format" : "binary"}: ${shownReason(error)}`,
    });
  }
}

function addressesOf({ message }: ReflectMessage): ReturnType<typeof boundAddresses> {
  const { name, address, additionalAddresses = [] } = message as unknown as Partial<BoundListener>;
  return boundAddresses({
    name: name ?? "",
    additionalAddresses,
    ...(address !== undefined && { address }),
  });
}

/** The types of static resources, with their field in `static_resources`. */
export const staticLists: readonly { readonly type: ResourceType; readonly field: string }[] = [
  { type: cluster, field: "clusters" },
  { type: secret, field: "secrets" },
  { type: listener, field: "listeners" },
];

/** Returns the static resources of a type. */
function listOf(bootstrap: ReflectMessage, type: ResourceType): readonly ReflectMessage[] {
  const name = staticLists.find((one) => one.type === type)?.field;
  const fixed = messageIn(bootstrap, "static_resources");
  const field = fixed?.desc.fields.find((one) => one.name === name);
  if (fixed === undefined || field?.fieldKind !== "list" || field.listKind !== "message") return [];
  return Array.from(fixed.get(field), (one) => one as ReflectMessage);
}

/** Returns the static resources of a type, with their names. */
export function staticResourcesOf(
  bootstrap: ReflectMessage,
  type: ResourceType,
): readonly { readonly name: string; readonly message: ReflectMessage }[] {
  return listOf(bootstrap, type).map((message) => ({
    name: nameOf(message, type.nameField ?? 1),
    message,
  }));
}

function namesIn(bootstrap: ReflectMessage, type: ResourceType): readonly string[] {
  return staticResourcesOf(bootstrap, type).map(({ name }) => name);
}

/** Returns references to static resources that do not exist, one for each name. */
function missingIn(bootstrap: ReflectMessage, registry: Registry): readonly StaticReference[] {
  const held = heldIn(bootstrap);
  const missing = new Map<string, StaticReference>();
  for (const one of staticReferencesIn(bootstrap, registry)) {
    const key = keyOf(one);
    const isWorse = one.isRequired && missing.get(key)?.isRequired !== true;
    if ((one.name !== "" || one.isRequired) && !held.has(key) && (isWorse || !missing.has(key)))
      missing.set(key, one);
  }
  return [...missing.values()];
}

function heldIn(bootstrap: ReflectMessage): ReadonlySet<string> {
  return new Set(
    staticLists.flatMap(({ type }) =>
      namesIn(bootstrap, type).map((name) => keyOf({ typeUrl: type.typeUrl, name })),
    ),
  );
}

/** Returns warnings for clusters that do not exist, unless clusters also come from a server. */
function danglingIn(
  bootstrap: ReflectMessage,
  context: FolderContext,
  {
    file,
    text,
    reported,
  }: { readonly file: string; readonly text: string; readonly reported: ReadonlySet<string> },
): readonly FolderProblem[] {
  const dynamic = messageIn(bootstrap, "dynamic_resources");
  if (["cds_config", "cds_resources_locator"].some((field) => isSetIn(dynamic, field))) return [];
  const held = heldIn(bootstrap);
  const dangling = staticLists
    .flatMap(({ type }) =>
      listOf(bootstrap, type).flatMap(
        ({ desc, message }) =>
          context.types.get(type.typeUrl)?.references?.(toBinary(desc, message)) ?? [],
      ),
    )
    .filter(
      (one) =>
        one.typeUrl === cluster.typeUrl &&
        one.source === undefined &&
        !held.has(keyOf(one)) &&
        !reported.has(keyOf(one)),
    );
  if (dangling.length === 0) return [];
  const positions = findTexts(text, new Set(dangling.map(({ name }) => name)));
  return [...new Map(dangling.map((one) => [keyOf(one), one])).values()].map(
    (reference): FolderProblem => {
      const { field, ...position } = positions.get(reference.name) ?? {};
      const subject = field === undefined ? "" : `${field}: `;
      return {
        file,
        ...position,
        code: "dangling-reference",
        message: `${subject}${missingText(reference)}`,
      };
    },
  );
}

type Named = Pick<Reference, "typeUrl" | "name">;

function missingText({ typeUrl, name }: Named): string {
  return `refers to ${shortNameOf(typeUrl) ?? typeUrl} ${quote(name)}, which the bootstrap does not have`;
}

function keyOf({ typeUrl, name }: Named): string {
  return `${typeUrl} ${name}`;
}

function messageIn(of: ReflectMessage, name: string): ReflectMessage | undefined {
  const field = of.desc.fields.find((one) => one.name === name);
  return field?.fieldKind === "message" && of.isSet(field) ? of.get(field) : undefined;
}

function nameOf(of: ReflectMessage, nameField: number): string {
  const field = of.desc.fields.find(({ number }) => number === nameField);
  return field?.fieldKind === "scalar" ? String(of.get(field)) : "";
}
