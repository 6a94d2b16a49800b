import { create, toBinary, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { MessageType } from "@xdstp/core";
import { sortMaps } from "./sort-maps.ts";
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
