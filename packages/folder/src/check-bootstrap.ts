import { readFile } from "node:fs/promises";
import { dirname, extname } from "node:path";
import { create, fromBinary, type Registry, toBinary } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import type { Reference } from "@xdstp/core";
import { anyFromJson } from "@xdstp/protos/envoy";
import { cluster, listener, secret, shortNameOf, typeUrlOf } from "@xdstp/resource-types";
import { createValidator } from "@xdstp/validate";
import { asEnvoyReads } from "./as-envoy-reads.ts";
import { documentsOf, isObject } from "./documents-of.ts";
import { findPosition, findTexts } from "./find-position.ts";
import { type FolderContext, folderContext } from "./folder-context.ts";
import { Fault, fileTrouble, type FolderProblem, quote } from "./folder-problem.ts";
import { jsonPathOf } from "./json-path-of.ts";
import { explainJsonError } from "./json-reason.ts";
import type { Place } from "./place.ts";
import { problemOf } from "./read-file.ts";

/** What the check of one file found. */
export interface BootstrapProblems {
  /** What Envoy rejects. Empty: nothing was found. */
  readonly problems: readonly FolderProblem[];
  /** What does no harm but may be a mistake. */
  readonly warnings: readonly FolderProblem[];
}

const typeName = "envoy.config.bootstrap.v3.Bootstrap";
const formats: Readonly<Record<string, Place["format"] | undefined>> = {
  ".yaml": "yaml",
  ".yml": "yaml",
  ".json": "json",
};

/**
 * Checks a configuration with which Envoy starts: syntax, messages, the constraints of each, and references of static listeners and clusters to clusters and secrets that it does not have. YAML or JSON, by the extension of the file. Never rejects.
 * References are not checked where clusters or secrets come from a server too.
 */
export async function checkBootstrap({
  file,
  registry,
}: {
  readonly file: string;
  /** `envoyRegistry()` of `@xdstp/protos/envoy`, or one that has more. */
  readonly registry: Registry;
}): Promise<BootstrapProblems> {
  const source = { text: "" };
  try {
    const format = formats[extname(file)];
    if (format === undefined)
      throw new Fault({
        message: "is not read as a bootstrap of Envoy",
        hint: "the extensions that are read are .yaml, .yml and .json",
      });
    source.text = await readFile(file, "utf8");
    return await check(source.text, file, format, folderContext({ dir: dirname(file), registry }));
  } catch (error) {
    if (error instanceof Fault)
      return { problems: [problemOf(error, file, source.text)], warnings: [] };
    return { problems: [{ file, ...fileTrouble(error) }], warnings: [] };
  }
}

async function check(
  text: string,
  file: string,
  format: Place["format"],
  context: FolderContext,
): Promise<BootstrapProblems> {
  const desc = context.registry.getMessage(typeName);
  if (desc === undefined) throw new Fault({ message: `the registry has no ${typeName}` });
  const place: Place = {
    type: { form: "message", typeUrl: typeUrlOf(typeName), name: typeName, desc },
    id: "",
    format,
  };
  const [document, ...more] = documentsOf(text, place, context);
  if (document === undefined) throw new Fault({ message: "is empty" });
  if (more.length > 0 || !isObject(document.json))
    throw new Fault({ message: "is not one message", hint: "a bootstrap is one document" });
  const { index } = document;
  const json = asEnvoyReads(document.json, desc, context.registry);
  const bytes = encode();
  const validator = await createValidator({ registry: context.registry });
  const any = create(AnySchema, { typeUrl: typeUrlOf(typeName), value: bytes });
  return {
    problems: validator.check(AnySchema, any).map(({ path, field, message, rule }) => ({
      file,
      ...findPosition(text, index, jsonPathOf(json, path)),
      message: `${field} ${message}`,
      rule,
    })),
    warnings: danglingIn(reflect(desc, fromBinary(desc, bytes)), context, { file, text }),
  };

  function encode(): Uint8Array {
    try {
      return anyFromJson({ ...json, "@type": typeUrlOf(typeName) }, context.registry).value;
    } catch (error) {
      throw explainJsonError(error, { document: index, path: [] }, context.registry);
    }
  }
}

/** The types that a bootstrap lists, the field of `static_resources`, and that of `dynamic_resources` by which more of them come. */
const lists = [
  { type: cluster, field: "clusters", dynamic: "cds_config" },
  { type: secret, field: "secrets", dynamic: undefined },
  { type: listener, field: "listeners", dynamic: undefined },
] as const;

function danglingIn(
  bootstrap: ReflectMessage,
  context: FolderContext,
  { file, text }: { readonly file: string; readonly text: string },
): readonly FolderProblem[] {
  const fixed = messageIn(bootstrap, "static_resources");
  const dynamic = messageIn(bootstrap, "dynamic_resources");
  if (fixed === undefined) return [];
  const held = new Set<string>();
  const references: Reference[] = [];
  for (const { type, field } of lists)
    for (const one of listIn(fixed, field)) {
      const payload = toBinary(one.desc, one.message);
      held.add(keyOf({ typeUrl: type.typeUrl, name: nameOf(one, type.nameField ?? 1) }));
      references.push(...(context.types.get(type.typeUrl)?.references?.(payload) ?? []));
    }
  const checked = new Set(
    lists
      .filter(
        ({ dynamic: field }) => field === undefined || messageIn(dynamic, field) === undefined,
      )
      .map(({ type }) => type.typeUrl),
  );
  const dangling = references.filter(
    (one) => checked.has(one.typeUrl) && one.source === undefined && !held.has(keyOf(one)),
  );
  if (dangling.length === 0) return [];
  const positions = findTexts(text, new Set(dangling.map(({ name }) => name)));
  return [...new Map(dangling.map((one) => [keyOf(one), one])).values()].map(
    ({ typeUrl, name }): FolderProblem => {
      const { field, ...position } = positions.get(name) ?? {};
      return {
        file,
        ...position,
        message: `${field === undefined ? "" : `${field}: `}refers to ${shortNameOf(typeUrl) ?? typeUrl} ${quote(name)}, which the bootstrap does not have`,
      };
    },
  );
}

function keyOf({ typeUrl, name }: Pick<Reference, "typeUrl" | "name">): string {
  return `${typeUrl} ${name}`;
}

function messageIn(of: ReflectMessage | undefined, name: string): ReflectMessage | undefined {
  const field = of?.desc.fields.find((one) => one.name === name);
  return field?.fieldKind === "message" && of?.isSet(field) === true ? of.get(field) : undefined;
}

function listIn(of: ReflectMessage, name: string): readonly ReflectMessage[] {
  const field = of.desc.fields.find((one) => one.name === name);
  if (field?.fieldKind !== "list" || field.listKind !== "message") return [];
  return Array.from(of.get(field), (one) => one as ReflectMessage);
}

function nameOf(of: ReflectMessage, nameField: number): string {
  const field = of.desc.fields.find(({ number }) => number === nameField);
  return field?.fieldKind === "scalar" ? String(of.get(field)) : "";
}
