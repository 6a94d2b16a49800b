import {
  type DescField,
  fromBinary,
  fromJson,
  isMessage,
  type JsonValue,
  type Registry,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { type Any, anyPack, AnySchema, StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { typeNameFromUrl } from "../type-url.ts";
import { headerType, isSecretField, isSecretHeader } from "./secrecy.ts";

/** A packed message as plain data. */
export type PackedMessage = Pick<Any, "typeUrl" | "value">;

/** Anys in Anys are searched so deep; what lies deeper is left out. */
const DEEPEST = 50;

/** Messages that hold another one as JSON, with its type next to it. */
const jsonHolders: ReadonlySet<string> = new Set([
  "xds.type.v3.TypedStruct",
  "udpa.type.v1.TypedStruct",
]);

const nothing = new Uint8Array();

/**
 * A resource as anybody may see it: private keys, passwords, the values of headers such as `authorization`, and all else that Envoy's API marks as sensitive or this package knows to be read `[redacted]`, at any depth (B-CSDS-7).
 *
 * The same object where there is nothing to hide. What cannot be searched is left out: the bytes of types that the registry does not know, fields that a type does not know, and what is nested more than 50 Anys deep.
 */
export function withoutSecrets<T extends PackedMessage>(
  any: T,
  registry: Registry,
): T | PackedMessage {
  const value = searched(any, registry, 0);
  return value === any.value ? any : { typeUrl: any.typeUrl, value };
}

/** The same bytes if nothing in them is secret. */
function searched(
  { typeUrl, value }: PackedMessage,
  registry: Registry,
  depth: number,
): Uint8Array {
  if (value.length === 0) return value;
  const schema = registry.getMessage(typeNameFromUrl(typeUrl));
  if (schema === undefined || depth > DEEPEST) return nothing;
  try {
    const message = reflect(schema, fromBinary(schema, value));
    return hideIn(message, registry, depth) ? toBinary(schema, message.message) : value;
  } catch {
    return nothing;
  }
}

/** Hides what is secret in a message. Answers whether anything was. */
function hideIn(message: ReflectMessage, registry: Registry, depth: number): boolean {
  const { typeName } = message.desc;
  if (typeName === AnySchema.typeName) return hideInAny(message.message as Any, registry, depth);
  if (jsonHolders.has(typeName)) return hideInJson(message, registry, depth);
  let hidden = dropUnknown(message);
  const isSecret = secretsOf(message, registry);
  for (const field of message.fields.filter((one) => message.isSet(one))) {
    if (isSecret(field)) {
      blank(message, field);
      hidden = true;
    } else if (!isPlainStruct(field))
      for (const part of messagesIn(message, field))
        hidden = hideIn(part, registry, depth) || hidden;
  }
  return hidden;
}

/** Whether a field holds Structs as plain objects of JavaScript: these have neither secret nor unknown fields, and each look at them as messages copies them. */
function isPlainStruct({ message, parent }: DescField): boolean {
  return message?.typeName === StructSchema.typeName && parent.typeName !== ValueSchema.typeName;
}

/** Which fields of a message are secret. A header is whole, but for its name, where that is one of credentials. */
function secretsOf(
  { desc, message }: ReflectMessage,
  registry: Registry,
): (field: DescField) => boolean {
  if (
    desc.typeName === headerType &&
    isSecretHeader(String((message as { readonly key?: unknown }).key))
  )
    return ({ name }) => name !== "key";
  return (field) => isSecretField(field, registry);
}

function hideInAny(any: Any, registry: Registry, depth: number): boolean {
  const value = searched(any, registry, depth + 1);
  const hidden = value !== any.value;
  any.value = value;
  return hidden;
}

/** The JSON is read as the type that it names; where that finds a secret, or fails, all of it is removed. */
function hideInJson(holder: ReflectMessage, registry: Registry, depth: number): boolean {
  const { type_url: typeUrl, value } = toJson(holder.desc, holder.message, {
    registry,
    useProtoFieldName: true,
  }) as { readonly type_url?: string; readonly value?: JsonValue };
  if (value === undefined || !isSecretJson(typeUrl ?? "", value, registry, depth)) return false;
  for (const field of holder.fields) if (field.name === "value") holder.clear(field);
  return true;
}

function isSecretJson(
  typeUrl: string,
  json: JsonValue,
  registry: Registry,
  depth: number,
): boolean {
  const schema = registry.getMessage(typeNameFromUrl(typeUrl));
  if (schema === undefined) return true;
  try {
    const { value } = anyPack(schema, fromJson(schema, json, { registry }));
    return searched({ typeUrl, value }, registry, depth + 1) !== value;
  } catch {
    return true;
  }
}

const redacted = "[redacted]";

/** Replaces what a field holds: texts and bytes by `[redacted]`, in messages everything, and the rest is cleared. */
function blank(message: ReflectMessage, field: DescField): void {
  const parts = messagesIn(message, field);
  if (parts.length > 0) for (const part of parts) blankAll(part);
  else if (field.fieldKind === "map" && field.scalar === ScalarType.STRING)
    blankMap(message, field);
  else if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING)
    message.set(field, redacted);
  else if (field.fieldKind === "scalar" && field.scalar === ScalarType.BYTES)
    message.set(field, new TextEncoder().encode(redacted));
  else message.clear(field);
}

function blankMap(message: ReflectMessage, field: DescField & { fieldKind: "map" }): void {
  const map = message.get(field);
  for (const key of [...map.keys()]) map.set(key, redacted);
}

function blankAll(message: ReflectMessage): void {
  dropUnknown(message);
  if (isMessage(message.message, AnySchema)) message.message.value = new Uint8Array();
  else
    for (const field of message.fields.filter((one) => message.isSet(one))) blank(message, field);
}

/** Takes away fields that the type does not know. Answers whether there were any. */
function dropUnknown(message: ReflectMessage): boolean {
  const had = (message.getUnknown() ?? []).length > 0;
  if (had) message.setUnknown([]);
  return had;
}

/** The messages in a field, one or many; changing one changes what holds it. */
function messagesIn(message: ReflectMessage, field: DescField): readonly ReflectMessage[] {
  if (field.fieldKind === "message") return [message.get(field)];
  if (field.fieldKind === "list" && field.listKind === "message")
    return [...message.get(field)].filter(isReflected);
  if (field.fieldKind === "map" && field.mapKind === "message")
    return [...message.get(field).values()].filter(isReflected);
  return [];
}

function isReflected(value: unknown): value is ReflectMessage {
  return isReflectMessage(value);
}
