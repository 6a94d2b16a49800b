import { isMessage, type Message } from "@bufbuild/protobuf";

/** The first field in a message, or in one inside it, that its type does not have. */
export function unknownField(
  message: Message,
): { readonly typeName: string; readonly no: number } | undefined {
  const own = message.$unknown?.[0];
  if (own !== undefined) return { typeName: message.$typeName, no: own.no };
  return firstOf(Object.values(message));
}

function firstOf(values: readonly unknown[]): ReturnType<typeof unknownField> {
  for (const value of values) {
    const found = within(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Lists, maps and oneofs are plain arrays and objects. */
function within(value: unknown): ReturnType<typeof unknownField> {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return undefined;
  return isMessage(value) ? unknownField(value) : firstOf(Object.values(value));
}
