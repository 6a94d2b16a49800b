import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import { escapePattern, type JsonSchema } from "./json-schema.ts";

/**
 * The forms of values that a reader accepts.
 *
 * - `xds`: the JSON of protobuf, as folders of xdstp and every xDS tool read it.
 * - `envoy`: what Envoy reads in its own configuration too: booleans as texts, names of enums in small letters, a Duration and a Timestamp as `{ seconds, nanos }`, a wrapper as `{ value }`, one value instead of a list of one.
 */
export type DialectName = "xds" | "envoy";

/** The schemas of values in one dialect. */
export interface Dialect {
  scalar(scalar: ScalarType): JsonSchema;
  /** A closed enum accepts only the numbers that it names. `descriptions`: keywords on its names, in their order. */
  enumeration(desc: DescEnum, isClosed: boolean, descriptions: JsonSchema): JsonSchema;
  /** A list, by the schema of its items. */
  list(items: JsonSchema): JsonSchema;
  /** A wrapper such as UInt32Value, by the schema of its value. */
  wrapper(value: JsonSchema): JsonSchema;
  /** A well-known type with a JSON form of its own; undefined: the type has none. */
  wellKnown(typeName: string): JsonSchema | undefined;
}

const numberText = String.raw`^-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$`;
const integer: JsonSchema = { type: ["integer", "string"], pattern: numberText };
const unsigned = (maximum?: number): JsonSchema => ({
  type: ["integer", "string"],
  pattern: numberText.replace("-?", ""),
  minimum: 0,
  ...(maximum !== undefined && { maximum }),
});
const signed32: JsonSchema = { ...integer, minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
const unsigned32 = unsigned(2 ** 32 - 1);
const float: JsonSchema = {
  type: ["number", "string"],
  pattern: `${numberText}|^(NaN|-?Infinity)$`,
};

const scalars: Readonly<Record<ScalarType, JsonSchema>> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BYTES]: { type: "string", pattern: String.raw`^[A-Za-z0-9+/_\s\-]*={0,2}\s*$` },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.DOUBLE]: float,
  [ScalarType.FLOAT]: float,
  [ScalarType.INT32]: signed32,
  [ScalarType.SINT32]: signed32,
  [ScalarType.SFIXED32]: signed32,
  [ScalarType.UINT32]: unsigned32,
  [ScalarType.FIXED32]: unsigned32,
  [ScalarType.INT64]: integer,
  [ScalarType.SINT64]: integer,
  [ScalarType.SFIXED64]: integer,
  [ScalarType.UINT64]: unsigned(),
  [ScalarType.FIXED64]: unsigned(),
};

const wellKnown: Readonly<Record<string, JsonSchema>> = {
  "google.protobuf.Duration": { type: "string", pattern: String.raw`^-?[0-9]+(\.[0-9]{0,9})?s$` },
  "google.protobuf.Timestamp": {
    type: "string",
    pattern: String.raw`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]{1,9})?(Z|[-+][0-9]{2}:[0-9]{2})$`,
  },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Struct": { type: "object" },
  "google.protobuf.ListValue": { type: "array" },
  "google.protobuf.Value": {},
};

const xds: Dialect = {
  scalar: (scalar) => scalars[scalar],
  enumeration: (desc, isClosed, descriptions) => ({
    // Not anyOf, of which yaml-language-server shows the descriptions instead of that of the field.
    oneOf: [
      { enum: desc.values.map(({ name }) => name), ...descriptions },
      enumNumbers(desc, isClosed),
    ],
  }),
  list: (items) => ({ type: ["array", "null"], items }),
  wrapper: (value) => value,
  wellKnown: (typeName) => wellKnown[typeName],
};

/** The words for true and false in a configuration of Envoy, which are texts in YAML 1.2. */
const booleanText =
  "^([Tt](rue|RUE)?|[Ff](alse|ALSE)?|[Yy](es|ES)?|[Nn][oO]?|[Oo]([nN]|ff|FF)|1|0)$";

/** Seconds and nanoseconds, as a message. */
const time: JsonSchema = {
  type: ["object"],
  properties: { seconds: integer, nanos: integer },
  additionalProperties: false,
};

/** Envoy reads an integer of 32 bits as a number, and all other numbers of YAML as texts. */
const text: JsonSchema = {
  if: { type: "integer", minimum: signed32.minimum, maximum: signed32.maximum },
  then: { type: ["string", "null"] },
  else: { type: ["string", "number", "null"] },
};

const envoy: Dialect = {
  scalar(scalar) {
    if (scalar === ScalarType.STRING) return text;
    if (scalar === ScalarType.BOOL) return { type: ["boolean", "string"], pattern: booleanText };
    return xds.scalar(scalar);
  },
  enumeration(desc, isClosed, descriptions) {
    const names = desc.values.map(({ name }) => name);
    const small = names.map((name) => name.toLowerCase()).filter((name) => !names.includes(name));
    const other = [...small.map(escapePattern), "-?[0-9]+"].join("|");
    const forms = xds.enumeration(desc, isClosed, descriptions).oneOf as readonly JsonSchema[];
    return { oneOf: [...forms, { type: "string", pattern: `^(${other})$` }] };
  },
  /** One value may replace a list of one. `type` comes first for editors, which then write the dash of an item. */
  list: (items) => ({
    type: ["array", "object", "string", "number", "boolean", "null"],
    if: { type: ["array", "null"] },
    then: { items },
    else: items,
  }),
  wrapper: ({ type = "string", ...value }) => ({
    ...value,
    type: [...[type].flat(), "object"],
    properties: { value: true },
    additionalProperties: false,
  }),
  wellKnown(typeName) {
    const form = xds.wellKnown(typeName);
    const isTime = /\.(?:Duration|Timestamp)$/.test(typeName);
    return isTime ? { ...time, ...form, type: ["string", "object"] } : form;
  },
};

/** The dialects by their names. */
export const dialects: Readonly<Record<DialectName, Dialect>> = { xds, envoy };

/** Only an open enum has other numbers than those that it names. Editors suggest `null` where `type` lists it, so the schema lists the types that are rejected. */
function enumNumbers(desc: DescEnum, isClosed: boolean): JsonSchema {
  const numbers = desc.values.map(({ number }) => number);
  return {
    not: { type: ["string", "boolean", "object", "array"] },
    ...(isClosed && { minimum: Math.min(...numbers), maximum: Math.max(...numbers) }),
  };
}
