/** A JSON Schema (draft 2020-12), or a part of one, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Several schemas that all have to hold, as one. Schemas without keywords are left out. */
export function allOf(...schemas: readonly JsonSchema[]): JsonSchema {
  const given = schemas.filter((schema) => Object.keys(schema).length > 0);
  const names = given.flatMap((schema) => Object.keys(schema));
  if (new Set(names).size === names.length)
    return Object.fromEntries(given.flatMap((schema) => Object.entries(schema)));
  return { allOf: given };
}

/** The schema, and `null` too, with which JSON says that a field is not set. Only `type` and `enum` speak of `null`. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [...[type].flat(), "null"] }),
    ...(Array.isArray(values) && { enum: [...(values as readonly unknown[]), null] }),
  };
}

/** A pattern that a text matches if it is exactly one of these. */
export function patternOf(texts: readonly string[]): string {
  return `^(${texts.map(escapePattern).join("|")})$`;
}

/** A text as a pattern that matches it, also with the flag `u`. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
