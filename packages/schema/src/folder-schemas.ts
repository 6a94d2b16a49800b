import { type DescField, type DescMessage, type Registry, ScalarType } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes, shortTypes, typeUrlOf } from "@xdstp/resource-types";
import { anyChoices } from "./any-choices.ts";
import { createDefinitions, type Definitions } from "./definitions.ts";
import { dialects } from "./dialect.ts";
import { docComments } from "./doc-comments.ts";
import type { JsonSchema } from "./json-schema.ts";
import { draft, type SchemaOptions } from "./message-schema.ts";

/** The schemas of the files in a folder that `xdstp serve` serves. */
export interface FolderSchemas {
  /** By the name of the file that each is written to. All refer to the definitions in `messages.json`, so they are kept in one directory. */
  readonly files: Readonly<Record<string, JsonSchema>>;
  /** Per file, but not for `messages.json`: the names of the type folders whose files it is for. */
  readonly folders: Readonly<Record<string, readonly string[]>>;
}

const shared = "messages.json";

/**
 * Makes a schema for each kind of type folder: those with short names, such as `clusters`, those of lists, and those of types of your own that are not the value of a field of another type.
 *
 * A file holds a resource, one in an `envoy.service.discovery.v3.Resource`, several in a `DiscoveryResponse`, or a redirect as a text or a message. Each YAML document of a file is checked by itself.
 */
export function folderSchemas(
  registry: Registry,
  { comments = true }: SchemaOptions = {},
): FolderSchemas {
  const definitions = createDefinitions(registry, {
    dialect: dialects.xds,
    comments: docComments(comments),
    base: `${shared}#/$defs/`,
  });
  const kinds = [...resourceTypes(registry)].flatMap(([name, desc]): readonly FolderKind[] => [
    { file: name, folders: [name, desc.typeName], desc, isList: false },
    {
      file: `${name}-lists`,
      folders: [`${desc.typeName}Collection`],
      desc,
      isList: true,
    },
  ]);
  const files = kinds.map(({ file, folders, desc, isList }) => {
    const title = `${isList ? "Lists of " : ""}${desc.typeName}`;
    const content = isList
      ? listSchema(definitions, desc)
      : payloadSchema(definitions, `document-${desc.typeName}`, desc, nameFieldOf(desc));
    const document = documentSchema(definitions, registry, { desc, isList, content });
    return { file: `${file}.json`, folders: [...new Set(folders)], schema: { title, ...document } };
  });
  const all = { $schema: draft, title: "Messages of xDS", $defs: definitions.all() };
  return {
    files: {
      [shared]: all,
      ...Object.fromEntries(files.map(({ file, schema }) => [file, { $schema: draft, ...schema }])),
    },
    folders: Object.fromEntries(files.map(({ file, folders }) => [file, folders])),
  };
}

interface FolderKind {
  readonly file: string;
  readonly folders: readonly string[];
  readonly desc: DescMessage;
  readonly isList: boolean;
}

/** The types that have folders, by the name of the folder. */
function resourceTypes(registry: Registry): ReadonlyMap<string, DescMessage> {
  const known = [...shortTypes].flatMap(([name, typeUrl]) => {
    const desc = registry.getMessage(typeUrl.slice(typeUrl.indexOf("/") + 1));
    return desc === undefined ? [] : [[name, desc] as const];
  });
  const own = anyChoices(registry)
    .filter((desc) => desc.parent === undefined && !isEnvoys(desc))
    .map((desc) => [desc.typeName, desc] as const);
  return new Map([...known, ...own]);
}

function isEnvoys({ typeName }: DescMessage): boolean {
  return envoyRegistry().getMessage(typeName) !== undefined;
}

/** The field with the name of a resource, which its path gives. */
function nameFieldOf(desc: DescMessage): DescField | undefined {
  const type = envoyTypes.find(({ typeUrl }) => typeUrl === typeUrlOf(desc.typeName));
  const field = desc.fields.find(({ number }) => number === (type?.nameField ?? 1));
  return type !== undefined && field?.scalar === ScalarType.STRING ? field : undefined;
}

const locatorText: JsonSchema = { type: "string", pattern: "^(xdstp|http|file):" };

/** A resource of a type as a file holds it. */
function payloadSchema(
  definitions: Definitions,
  name: string,
  desc: DescMessage,
  nameField: DescField | undefined,
): JsonSchema {
  return definitions.document(
    name,
    desc,
    nameField === undefined ? {} : { optional: [nameField.name] },
  );
}

/** A list of a type: entries that are locators, as texts or messages, or that hold a resource. */
function listSchema(definitions: Definitions, desc: DescMessage): JsonSchema {
  const name = `list-${desc.typeName}`;
  return definitions.named(name, () => {
    const resource = payloadSchema(definitions, `entry-${desc.typeName}`, desc, undefined);
    const inline = {
      type: "object",
      properties: {
        name: { type: "string" },
        version: { type: "string" },
        resource,
      },
      required: ["resource"],
      additionalProperties: false,
    };
    const entry = {
      type: "object",
      properties: { locator: locatorSchema(definitions), inline_entry: inline },
      patternProperties: { "^inlineEntry$": inline },
      additionalProperties: false,
      oneOf: [
        { required: ["locator"] },
        { required: ["inline_entry"] },
        { required: ["inlineEntry"] },
      ],
    };
    return {
      type: "object",
      properties: {
        "@type": { pattern: `(^|/)${desc.typeName}Collection$` },
        entries: { type: ["array", "null"], items: entry },
      },
      additionalProperties: false,
    };
  });
}

/** A locator as a text, or as a message whose alternatives may be texts. */
function locatorSchema(definitions: Definitions): JsonSchema {
  return definitions.named("locator", () => {
    const message = definitions.named("locator-message", () => ({
      type: "object",
      properties: {
        "@type": { pattern: String.raw`(^|/)xds\.core\.v3\.ResourceLocator$` },
        scheme: { type: ["string", "integer", "null"] },
        id: { type: ["string", "null"] },
        authority: { type: ["string", "null"] },
        resource_type: { type: ["string", "null"] },
        exact_context: { type: ["object", "null"] },
        directives: { type: ["array", "null"], items: { type: "object" } },
      },
      patternProperties: {
        "^resourceType$": { type: ["string", "null"] },
        "^exactContext$": { type: ["object", "null"] },
      },
      additionalProperties: false,
    }));
    return { if: { type: "string" }, then: locatorText, else: message };
  });
}

interface Content {
  readonly desc: DescMessage;
  readonly isList: boolean;
  /** The schema of a resource of the folder. */
  readonly content: JsonSchema;
}

/** A document: a resource, one in a wrapper, several in a response, or a redirect. */
function documentSchema(
  definitions: Definitions,
  registry: Registry,
  { desc, isList, content }: Content,
): JsonSchema {
  const suffix = `${desc.typeName}${isList ? "Collection" : ""}`;
  const has = (name: string): boolean =>
    !isList && desc.fields.some((field) => field.name === name);
  const payload = definitions.named(`payload-${suffix}`, () => ({
    if: { anyOf: [{ type: "string" }, isOfType("xds.core.v3.ResourceLocator")] },
    then: locatorSchema(definitions),
    else: content,
  }));
  const [wrapper, response] = ["Resource", "DiscoveryResponse"].map((name) =>
    registry.getMessage(`envoy.service.discovery.v3.${name}`),
  );
  if (wrapper === undefined || response === undefined) return payload;
  const member = definitions.named(`member-${suffix}`, () => ({
    if: isMessage(wrapper, has("resource") ? undefined : "resource"),
    then: definitions.document(`wrapper-${suffix}`, wrapper, { fields: { resource: payload } }),
    else: payload,
  }));
  return {
    if: isMessage(response, has("resources") ? undefined : "resources"),
    then: definitions.document(`response-${suffix}`, response, {
      fields: { resources: { type: "array", items: member } },
    }),
    else: member,
  };
}

/** Returns the test for a message: an object with its `@type`, or one without a `@type` that has the given field. */
function isMessage(desc: DescMessage, field: string | undefined): JsonSchema {
  const stated = isOfType(desc.typeName);
  if (field === undefined) return stated;
  const byField = { type: "object", required: [field], not: { required: ["@type"] } };
  return { anyOf: [stated, byField] };
}

function isOfType(typeName: string): JsonSchema {
  const type = { pattern: `(^|/)${typeName}$` };
  return { type: "object", properties: { "@type": type }, required: ["@type"] };
}
