import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { MessageType } from "@xdstp/core";

import { typeUrlOf } from "./type-urls.ts";

/**
 * Returns how messages of a schema of protobuf-es become resources, for `put` of a cache: `put(messageType(FlagSchema), { name: "dark-mode" })`.
 * A message is what `create()` returns, or the fields that `create()` takes.
 *
 * Map keys are sorted before a message is encoded, so that equal messages have equal bytes and versions (S-VER-4).
 */
export function messageType<Desc extends DescMessage>(
  schema: Desc,
  {
    nameField = 1,
  }: {
    /** Number of the field with the name. Absent: 1. */
    readonly nameField?: number;
  } = {},
): MessageType<MessageInitShape<Desc>> {
  const field = schema.fields.find(({ number }) => number === nameField);
  return {
    typeUrl: typeUrlOf(schema.typeName),
    encode: (message) => toBinary(schema, sortMaps(schema, create(schema, message))),
    nameOf(message) {
      const name: unknown = field === undefined ? undefined : Reflect.get(message, field.localName);
      return typeof name === "string" ? name : "";
    },
  };
}

/** A message type of protobuf-es, with the members that `sortMaps` reads. */
interface MessageSchema {
  readonly typeName: string;
  readonly fields: readonly MessageField[];
}

interface MessageField {
  readonly localName: string;
  readonly fieldKind: string;
  readonly message?: MessageSchema | undefined;
  readonly oneof?: { readonly localName: string } | undefined;
}

/** A copy of a message in which the keys of every map, at any depth, are in one order; the parts that hold no map are shared. */
export function sortMaps<M extends object>(schema: MessageSchema, message: M): M {
  let copy: M | undefined;
  for (const field of schema.fields) {
    const value = fieldValue(message, field);
    const sorted = sortField(field, value);
    if (sorted === value) continue;
    copy ??= Object.assign(
      Object.create(Object.getPrototypeOf(message) as object | null) as M,
      message,
    );
    Reflect.set(
      copy,
      field.oneof?.localName ?? field.localName,
      field.oneof === undefined ? sorted : { case: field.localName, value: sorted },
    );
  }
  return copy ?? message;
}

function fieldValue(message: object, field: MessageField): unknown {
  if (field.oneof === undefined) return Reflect.get(message, field.localName);
  const chosen: unknown = Reflect.get(message, field.oneof.localName);
  return isObject(chosen) && Reflect.get(chosen, "case") === field.localName
    ? Reflect.get(chosen, "value")
    : undefined;
}

function sortField({ fieldKind, message }: MessageField, value: unknown): unknown {
  if (!isObject(value)) return value;
  if (fieldKind === "map") return sortKeys(value, (item) => sortValue(message, item));
  if (fieldKind === "list" && Array.isArray(value))
    return shareIfEqual(
      value,
      value.map((item: unknown) => sortValue(message, item)),
    );
  return fieldKind === "message" ? sortValue(message, value) : value;
}

function sortValue(schema: MessageSchema | undefined, value: unknown): unknown {
  if (schema === undefined || !isObject(value)) return value;
  // In a field, a Struct is plain JSON.
  return schema.typeName === "google.protobuf.Struct" && !("$typeName" in value)
    ? sortJson(value)
    : sortMaps(schema, value);
}

function sortJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortJson);
  return isObject(value) ? sortKeys(value, sortJson) : value;
}

function sortKeys(map: object, sortItem: (item: unknown) => unknown): object {
  const entries = Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortItem(item)]));
}

function shareIfEqual(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((item, index) => item === before[index]) ? before : after;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}
