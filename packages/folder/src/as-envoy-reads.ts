import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { isObject } from "./documents-of.ts";
import { Fault, type JsonPath, located, quote } from "./folder-problem.ts";

/**
 * Returns a message in the JSON form of protobuf, from the forms that Envoy also reads in its own configuration.
 * These forms are: one value in place of a list with one item, lists within lists, a Duration or Timestamp as `{ seconds, nanos }`, a wrapper as `{ value }`, enum names in any case, and numbers and booleans as texts.
 * Throws a fault with its path for a Duration that Envoy does not read though the JSON reader does.
 * Resources over xDS are encoded, so these forms occur only in files of Envoy.
 */
export function asEnvoyReads(json: JsonObject, desc: DescMessage, registry: Registry): JsonObject {
  const fields = fieldsOf(desc);
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const field = fields.get(key);
      return [
        key,
        field === undefined
          ? value
          : located(() => fieldValue(value, field, registry), { path: [key] }),
      ];
    }),
  );
}

/** Returns the fields of a message, by `name` and by `jsonName`. */
function fieldsOf(desc: DescMessage): ReadonlyMap<string, DescField> {
  const known = fieldsByName.get(desc);
  if (known !== undefined) return known;
  const fields = new Map(
    desc.fields.flatMap((one) => [
      [one.name, one],
      [one.jsonName, one],
    ]),
  );
  fieldsByName.set(desc, fields);
  return fields;
}

const fieldsByName = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

function fieldValue(value: JsonValue, field: DescField, registry: Registry): JsonValue {
  if (value === null) return value;
  const one = (item: JsonValue, path: JsonPath): JsonValue =>
    located(() => itemValue(item, field, registry), { path });
  if (field.fieldKind === "list")
    return listItems(value, field).map((item, index) =>
      one(item, Array.isArray(value) ? [index] : []),
    );
  if (field.fieldKind !== "map") return one(value, []);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, one(item, [key])]));
}

/** Flattens lists within lists. A null becomes an empty message; in a list of other values it is left out. */
function listItems(value: JsonValue, field: DescField): readonly JsonValue[] {
  const items = Array.isArray(value) ? flattened(value) : [value];
  if (field.message === undefined) return items.filter((item) => item !== null);
  return items.map((item) => item ?? {});
}

function flattened(list: readonly JsonValue[]): readonly JsonValue[] {
  return list.flatMap((item) => (Array.isArray(item) ? flattened(item) : [item]));
}

function itemValue(value: JsonValue, field: DescField, registry: Registry): JsonValue {
  if (field.message !== undefined) return messageValue(value, field.message, registry);
  if (typeof value !== "string") return value;
  if (field.enum !== undefined) return enumValue(value, field.enum);
  return scalarValue(value, field.scalar);
}

function enumValue(text: string, { values }: DescEnum): JsonValue {
  if (/^-?\d+$/.test(text)) return Number(text);
  const name = text.toUpperCase();
  return values.find((one) => one.name.toUpperCase() === name)?.name ?? text;
}

function scalarValue(text: string, scalar: ScalarType): JsonValue {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return text;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT: {
      const isDecimal = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text);
      return isDecimal && Number.isFinite(Number(text)) ? Number(text) : text;
    }
    case ScalarType.BOOL:
      if (/^(?:true|t|yes|y|1)$/i.test(text)) return true;
      return /^(?:false|f|no|n|0)$/i.test(text) ? false : text;
    default: {
      const isFraction = /^-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?$/.test(text) && !/^-?\d+$/.test(text);
      return isFraction && Number.isSafeInteger(Number(text)) ? Number(text) : text;
    }
  }
}

function messageValue(value: JsonValue, desc: DescMessage, registry: Registry): JsonValue {
  const wrapped = isWrapperDesc(desc) ? desc.fields[0] : undefined;
  if (wrapped !== undefined) return itemValue(unwrapped(value), wrapped, registry);
  if (desc.typeName === "google.protobuf.Duration" && typeof value === "string")
    return checkedDuration(value);
  if (!isObject(value)) return value;
  if (desc.typeName === "google.protobuf.Duration") return durationText(value);
  if (desc.typeName === "google.protobuf.Timestamp") return timestampText(value);
  if (desc.typeName === "google.protobuf.Any") {
    const typeUrl = value["@type"];
    const held =
      typeof typeUrl === "string" ? registry.getMessage(typeUrl.replace(/^.*\//, "")) : undefined;
    return held === undefined ? value : asEnvoyReads(value, held, registry);
  }
  return desc.typeName.startsWith("google.protobuf.") ? value : asEnvoyReads(value, desc, registry);
}

function unwrapped(value: JsonValue): JsonValue {
  if (!isObject(value)) return value;
  const { value: inner, ...more } = value;
  return inner === undefined || Object.keys(more).length > 0 ? value : inner;
}

/** Returns whole seconds and the fraction as digits, or `undefined` if the object is not a Duration or Timestamp. */
function secondsOf(
  value: JsonObject,
): { readonly whole: number; readonly part: number; readonly fraction: string } | undefined {
  const { seconds = 0, nanos = 0, ...more } = value;
  const whole = Number(seconds);
  const part = Number(nanos);
  const isTime =
    Object.keys(more).length === 0 && Number.isInteger(whole) && Number.isInteger(part);
  if (!isTime) return undefined;
  const fraction = part === 0 ? "" : `.${String(Math.abs(part)).padStart(9, "0")}`;
  return { whole, part, fraction };
}

/** Returns the text. Throws a fault for one with something behind its unit, such as `5sec`, which the JSON reader passes over. */
function checkedDuration(text: string): JsonValue {
  if (!/^-?\d+(?:\.\d+)?s./s.test(text)) return text;
  throw new Fault({
    code: "wrong-value",
    message: `${quote(text)} is not a valid google.protobuf.Duration`,
    hint: 'write seconds, such as "1.5s"',
    path: [],
  });
}

function durationText(value: JsonObject): JsonValue {
  const time = secondsOf(value);
  if (time === undefined) return value;
  const sign = time.whole < 0 || time.part < 0 ? "-" : "";
  return `${sign}${Math.abs(time.whole)}${time.fraction}s`;
}

function timestampText(value: JsonObject): JsonValue {
  const time = secondsOf(value);
  const date = new Date((time?.whole ?? Number.NaN) * 1000);
  if (time === undefined || time.part < 0 || Number.isNaN(date.getTime())) return value;
  return date.toISOString().replace(/\.000Z$/, `${time.fraction}Z`);
}
