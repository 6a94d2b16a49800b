import { type DescField, isMessage, ScalarType } from "@bufbuild/protobuf";
import { isReflectMessage, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { AnySchema } from "@bufbuild/protobuf/wkt";

const redacted = "[redacted]";

/** Replaces what a field holds: texts and bytes by `[redacted]`, in messages everything, and the rest is cleared. @internal */
export function blank(message: ReflectMessage, field: DescField): void {
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

/** Takes away fields that the type does not know. Answers whether there were any. @internal */
export function dropUnknown(message: ReflectMessage): boolean {
  const had = (message.getUnknown() ?? []).length > 0;
  if (had) message.setUnknown([]);
  return had;
}

/** The messages in a field, one or many; changing one changes what holds it. @internal */
export function messagesIn(message: ReflectMessage, field: DescField): readonly ReflectMessage[] {
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
