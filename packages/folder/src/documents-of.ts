import { type DescMessage, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { fromText } from "@bufbuild/protobuf/txtpb";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { canonicalJson } from "./canonical-json.ts";
import { Fault, reasonOf } from "./fault.ts";
import type { FolderContext } from "./folder-context.ts";
import { isObject } from "./is-object.ts";
import { parseJson } from "./parse-json.ts";
import { parseYaml } from "./parse-yaml.ts";
import type { Place } from "./place.ts";
import { quote } from "./quote.ts";
import { enumHint } from "./closest.ts";

/** One document of a file. */
export interface ReadDocument {
  readonly json: JsonObject;
  /** Which one of the text, from 0; empty YAML documents count. */
  readonly index: number;
}

/**
 * The documents of a text file in the JSON form of protobuf, keys sorted. YAML may have several; those without content are left out.
 * Throws a fault for a text that does not parse and for a document that is not an object.
 */
export function documentsOf(
  text: string,
  place: Place,
  context: FolderContext,
): readonly ReadDocument[] {
  return values(text, place, context).flatMap((value, index) => {
    const json = canonicalJson(value, maxValuesOf(text));
    if (json === null) return [];
    if (isObject(json)) return [{ json, index }];
    throw new Fault({
      message: `holds ${kindOf(json)} where a message is expected`,
      document: index,
      path: [],
      hint: Array.isArray(json)
        ? "write resources: above the list, or each resource into a file of its own"
        : "write the fields of the resource as keys",
    });
  });
}

/** Without aliases a text has fewer values than characters. */
function maxValuesOf(text: string): number {
  return 100_000 + 4 * text.length;
}

function values(text: string, place: Place, context: FolderContext): readonly unknown[] {
  if (text.trim() === "") return [];
  if (place.format === "yaml") return parseYaml(text);
  if (place.format === "json") return [parseJson(text)];
  return [parseText(text, place, context)];
}

function kindOf(json: JsonValue): string {
  return Array.isArray(json) ? "a list" : `a ${typeof json}`;
}

/** Text format does not say its type, so the folder does, or the usual comment `# proto-message: TYPE`, or an expanded `Any`. */
function parseText(text: string, place: Place, context: FolderContext): JsonValue {
  const { registry } = context;
  const stated = /^\s*#\s*proto-message:\s*(\S+)/m.exec(text)?.[1];
  const desc = stated === undefined ? defaultSchema(text, place) : schemaOf(stated, context);
  try {
    const json = toJson(desc, fromText(desc, text, { registry }), {
      registry,
      useProtoFieldName: true,
    });
    return isObject(json) && stated !== undefined ? { ...json, "@type": desc.typeName } : json;
  } catch (error) {
    // What was found may be a secret.
    const reason = reasonOf(error).replace(/, got .*$/s, "");
    const [, word = "", name = ""] =
      /^unknown enum value "(.*)" for enum (\S+)$/.exec(reason) ?? [];
    const hint = enumHint(name, word, registry);
    throw new Fault({
      message: `is not a valid ${desc.typeName} in text format: ${reason}`,
      ...(hint !== undefined && { hint }),
    });
  }
}

function defaultSchema(text: string, place: Place): DescMessage {
  return text
    .replaceAll(/^\s*#.*$/gm, "")
    .trimStart()
    .startsWith("[")
    ? AnySchema
    : place.type.desc;
}

function schemaOf(name: string, context: FolderContext): DescMessage {
  if (name === ResourceSchema.typeName) return ResourceSchema;
  if (name === DiscoveryResponseSchema.typeName) return DiscoveryResponseSchema;
  const desc = context.registry.getMessage(name);
  if (desc === undefined)
    throw new Fault({
      message: `the type ${quote(name)} after "# proto-message:" is not known`,
      rule: "B-TYPE-1",
    });
  return desc;
}
