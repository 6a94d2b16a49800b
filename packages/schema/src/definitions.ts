import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescOneof,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type Settings, settingsIn } from "@xdstp/validate";
import { acceptedTypes, anyChoices, typeSuggestions } from "./any-choices.ts";
import { countKeywords, rejectsEmpty, valueKeywords } from "./constraint-keywords.ts";
import type { Dialect } from "./dialect.ts";
import type { DocComments } from "./doc-comments.ts";
import { createFieldRules } from "./field-rules.ts";
import { allOf, type JsonSchema, orNull, patternOf } from "./json-schema.ts";

/**
 * The use of a message, which decides the content of its definition.
 *
 * - `field`: the value of a field.
 * - `any`: the content of an Any, so it has its type in `@type`.
 * - `document`: the content of a file. `@type` may be left out.
 * - `unchecked`: the value of a field whose rules switch those of the message off.
 */
type Use = "field" | "any" | "document" | "unchecked";

/** The differences of a definition from its message. */
export interface Changes {
  /** Fields that may be left out, by their names, whatever their rules are. */
  readonly optional?: readonly string[];
  /** The schemas of fields, by their names. */
  readonly fields?: Readonly<Record<string, JsonSchema>>;
}

/** Definitions that refer to each other, each made when something first refers to it. */
export interface Definitions {
  /** A reference to a message as the value of a field. */
  message(desc: DescMessage): JsonSchema;
  /** A reference to a message as the content of a file, by a name of its own. */
  document(name: string, desc: DescMessage, changes?: Changes): JsonSchema;
  /** A reference to a definition that is made by hand. The name needs no escapes in a URL. */
  named(name: string, make: () => JsonSchema): JsonSchema;
  /** Everything that was referred to, by name. */
  all(): Readonly<Record<string, JsonSchema>>;
}

const anyType = "google.protobuf.Any";

/** The options of {@link createDefinitions}. */
export interface DefinitionsOptions {
  readonly dialect: Dialect;
  readonly comments: DocComments;
  /** The beginning of references to the definitions. Default: `#/$defs/`. */
  readonly base?: string;
}

/** Makes {@link Definitions} of the types of a registry. */
export function createDefinitions(
  registry: Registry,
  { dialect, comments, base = "#/$defs/" }: DefinitionsOptions,
): Definitions {
  const rules = createFieldRules(registry);
  const made = new Map<string, JsonSchema>();
  const waiting: (() => void)[] = [];

  return {
    message: (desc) => messageRef(desc, "field"),
    document: (name, desc, changes = {}) =>
      named(name, () => definition(newest(desc), "document", changes)),
    named,
    all,
  };

  function named(name: string, make: () => JsonSchema): JsonSchema {
    if (!made.has(name)) {
      made.set(name, {});
      // Messages refer to each other in circles, and hundreds deep.
      waiting.push(() => made.set(name, make()));
    }
    return { $ref: `${base}${name}` };
  }

  function all(): Readonly<Record<string, JsonSchema>> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next();
    return Object.fromEntries([...made].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The type of this name in the registry, which may be newer than generated code. */
  function newest(desc: DescMessage): DescMessage {
    return registry.getMessage(desc.typeName) ?? desc;
  }

  function messageRef(desc: DescMessage, use: "field" | "any" | "unchecked"): JsonSchema {
    const current = newest(desc);
    if (use === "any") return named(`@${current.typeName}`, () => anyDefinition(current));
    const prefix = use === "field" ? "" : `${use}-`;
    return named(`${prefix}${current.typeName}`, () => definition(current, use));
  }

  /** Returns the definition of the content of an Any, by the type that it states. Well-known types with a form of their own are in `value`. */
  function anyDefinition(desc: DescMessage): JsonSchema {
    const value = wellKnownValue(desc);
    if (value === undefined) return definition(desc, "any");
    return { type: "object", properties: { "@type": true, value }, additionalProperties: false };
  }

  function wellKnownValue(desc: DescMessage): JsonSchema | undefined {
    if (desc.typeName === anyType) return anyRef(undefined);
    return isWrapperDesc(desc) ? wrapperRef(desc) : wellKnownRef(desc);
  }

  function scalarRef(scalar: ScalarType): JsonSchema {
    return named(scalarName(scalar), () => ({
      title: scalarName(scalar),
      ...orNull(dialect.scalar(scalar)),
    }));
  }

  function wrapperRef({ typeName, name, field }: DescMessage): JsonSchema {
    const scalar = field.value?.scalar ?? ScalarType.STRING;
    return named(typeName, () => ({
      title: name,
      ...orNull(dialect.wrapper(dialect.scalar(scalar))),
    }));
  }

  function wellKnownRef({ typeName, name }: DescMessage): JsonSchema | undefined {
    const form = dialect.wellKnown(typeName);
    return form && named(typeName, () => ({ title: name, ...orNull(form) }));
  }

  function definition(desc: DescMessage, use: Use, changes: Changes = {}): JsonSchema {
    const isChecked = use !== "unchecked" && !rules.isDisabled(desc);
    const rulesOf = (field: DescField): Settings | undefined =>
      isChecked ? rules.rulesOf(field) : undefined;
    const fields = desc.fields.map((field) => {
      const own = changes.fields?.[field.name];
      const schema = own ?? fieldSchema(field, rulesOf(field), isChecked);
      const isOptional = own !== undefined || changes.optional?.includes(field.name) === true;
      return {
        field,
        schema,
        isRequired: !isOptional && isRequired(field, rulesOf(field), schema),
      };
    });
    const required = fields.filter((one) => one.isRequired).map((one) => one.field);
    const single = required.filter((field) => field.jsonName === field.name);
    const double = required.filter((field) => field.jsonName !== field.name);
    return {
      title: desc.name,
      ...comments.keywordsOf(desc),
      ...(desc.deprecated && { deprecated: true }),
      type: use === "field" || use === "unchecked" ? ["object", "null"] : "object",
      properties: {
        ...(use === "any" && { "@type": true }),
        ...(use === "document" && { "@type": typeSchema(desc) }),
        ...Object.fromEntries(
          fields.map(({ field, schema }) => [field.name, described(field, schema)]),
        ),
      },
      ...otherNames(fields),
      additionalProperties: false,
      ...allOf(
        single.length > 0 ? { required: single.map(({ name }) => name) } : {},
        // Not with anyOf, of which yaml-language-server shows the descriptions instead of that of the message.
        ...double.map(({ name, jsonName }) => ({
          if: { required: [jsonName] },
          else: { required: [name] },
        })),
        ...desc.oneofs.map((oneof) => oneofSchema(oneof, isChecked && rules.isRequired(oneof))),
      ),
    };
  }

  function described(field: DescField, schema: JsonSchema): JsonSchema {
    const keywords = comments.keywordsOf(field);
    const { description, markdownDescription = description } = keywords;
    // An editor takes what is missing from the definition, and prefers Markdown: that of the type would hide the comment on the field.
    const type = field.message ?? field.enum;
    const isHidden =
      description !== undefined &&
      "$ref" in schema &&
      type !== undefined &&
      "markdownDescription" in comments.keywordsOf(type);
    return { ...keywords, ...(isHidden && { markdownDescription }), ...schema };
  }

  function fieldSchema(field: DescField, of: Settings | undefined, isChecked: boolean): JsonSchema {
    const deprecated = field.deprecated ? { deprecated: true } : {};
    if (field.fieldKind === "list") {
      const items = itemSchema(field, settingsIn(settingsIn(of, "repeated"), "items"), isChecked);
      const title = `list of ${typeNameOf(field)}`;
      return { title, ...deprecated, ...dialect.list(items), ...countKeywords(field, of) };
    }
    if (field.fieldKind === "map") {
      const map = settingsIn(of, "map");
      const texts = settingsIn(settingsIn(map, "keys"), "string");
      const keys = valueKeywords(field, texts && { string: texts });
      return {
        title: `map of ${typeNameOf(field)}`,
        ...deprecated,
        type: ["object", "null"],
        additionalProperties: itemSchema(field, settingsIn(map, "values"), isChecked),
        ...(Object.keys(keys).length > 0 && { propertyNames: keys }),
        ...countKeywords(field, of),
      };
    }
    return { ...deprecated, ...orNull(itemSchema(field, of, isChecked)) };
  }

  /** A value, an item of a list, or a value of a map. */
  function itemSchema(field: DescField, of: Settings | undefined, isChecked: boolean): JsonSchema {
    const keywords = valueKeywords(field, of);
    if (field.enum !== undefined)
      return allOf(enumRef(field.enum, settingsIn(of, "enum")?.defined_only === true), keywords);
    const { message } = field;
    if (message === undefined) return allOf(scalarRef(field.scalar), keywords);
    if (isWrapperDesc(message)) return allOf(wrapperRef(message), keywords);
    if (message.typeName === anyType) return anyRef(field);
    const form = wellKnownRef(message);
    if (form !== undefined) return allOf(form, keywords);
    // Rules of an Any on another message, as ExtensionConfigSource.config_source has them, end the checks too.
    const isSkipped = settingsIn(of, "message")?.skip === true || of?.any !== undefined;
    return messageRef(message, isChecked && !isSkipped ? "field" : "unchecked");
  }

  function enumRef(desc: DescEnum, isClosed: boolean): JsonSchema {
    return named(`${isClosed ? "defined-" : ""}${desc.typeName}`, () => {
      const schema = dialect.enumeration(desc, isClosed, comments.valueKeywordsOf(desc));
      return { title: desc.name, ...comments.keywordsOf(desc), ...schema };
    });
  }

  /** An Any: what it holds by its type, and the types that are suggested for the field. */
  function anyRef(field: DescField | undefined): JsonSchema {
    const { name, urls } = typeSuggestions(registry, field);
    const content = named(anyType, () => ({
      title: "Any",
      type: ["object", "null"],
      allOf: [
        // An Any without content is read as one that is not set.
        { if: { minProperties: 1 }, then: { required: ["@type"] } },
        ...anyChoices(registry).map(choiceOf),
      ],
    }));
    const accepted = named("accepted-types", () => ({ pattern: acceptedTypes(registry) }));
    const type = { anyOf: [{ enum: urls }, accepted] };
    return named(`any-of-${name}`, () => ({ ...content, properties: { "@type": type } }));
  }

  /** A pattern takes any host before the name, and is not suggested in the place of `urls`. Its dots may be anything: no two names differ in them. */
  function choiceOf(desc: DescMessage): JsonSchema {
    const type = { pattern: `(^|/)${desc.typeName}$` };
    return {
      if: { properties: { "@type": type }, required: ["@type"] },
      then: messageRef(desc, "any"),
    };
  }
}

function scalarName(scalar: ScalarType): string {
  return ScalarType[scalar].toLowerCase();
}

/** The type of a value, an item or a value of a map, as an editor shows it. */
function typeNameOf({ message, enum: values, scalar }: DescField): string {
  return message?.name ?? values?.name ?? scalarName(scalar ?? ScalarType.STRING);
}

function isRequired(field: DescField, of: Settings | undefined, schema: JsonSchema): boolean {
  if (field.oneof !== undefined) return false;
  if (field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) return true;
  const isDemanded = ["message", "any", "duration", "timestamp"].some(
    (kind) => settingsIn(of, kind)?.required === true,
  );
  if (isDemanded) return true;
  if (field.message !== undefined && field.fieldKind === "message") return false;
  const hasPresence = field.presence === FeatureSet_FieldPresence.EXPLICIT;
  return !hasPresence && of !== undefined && rejectsEmpty(schema);
}

/** The names of a field in JSON; both are read. */
function namesOf({ name, jsonName }: DescField): readonly string[] {
  return name === jsonName ? [name] : [name, jsonName];
}

function requiredName(name: string): JsonSchema {
  return { required: [name] };
}

/** The names in lowerCamelCase, which are accepted and not suggested. */
function otherNames(
  fields: readonly { readonly field: DescField; readonly schema: JsonSchema }[],
): JsonSchema {
  const others = fields.filter(({ field }) => field.name !== field.jsonName);
  if (others.length === 0) return {};
  const bySchema = Map.groupBy(others, ({ schema }) => JSON.stringify(schema));
  return {
    patternProperties: Object.fromEntries(
      [...bySchema.values()].map((group) => [
        patternOf(group.map(({ field }) => field.jsonName)),
        group[0]?.schema,
      ]),
    ),
  };
}

/** At most one field of a oneof may be set, and where it is required one has to be. */
function oneofSchema({ fields }: DescOneof, isRequired: boolean): JsonSchema {
  const one = fields.flatMap(namesOf).map(requiredName);
  if (isRequired) return one.length === 1 ? (one[0] ?? {}) : { oneOf: one };
  return one.length === 1 ? {} : { oneOf: [...one, { not: { anyOf: one } }] };
}

/** The `@type` of a message, with any host before its name. The usual one is suggested. */
function typeSchema(desc: DescMessage): JsonSchema {
  return { anyOf: [{ enum: [typeUrlOf(desc)] }, { pattern: `(^|/)${desc.typeName}$` }] };
}

function typeUrlOf({ typeName }: DescMessage): string {
  return `type.googleapis.com/${typeName}`;
}
