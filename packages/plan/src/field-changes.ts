import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

import type { FieldChange } from "./plan.ts";

/** Differences that are listed at most. */
export const mostFields = 1_000;

/**
 * Lists the values that differ between two messages as JSON, in the order of the new one, up to {@link mostFields}.
 * Members of a list that have names of their own are compared by name, others by place.
 */
export function fieldChanges(before: JsonValue, after: JsonValue): readonly FieldChange[] {
  const found: FieldChange[] = [];
  for (const change of walk("", before, after)) {
    if (found.push(change) === mostFields) break;
  }
  return found;
}

function* walk(
  path: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): Generator<FieldChange> {
  if (before === after) return;
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(after), ...Object.keys(before)]);
    for (const name of names)
      yield* walk(memberPath(path, name), valueAt(before, name), valueAt(after, name));
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    yield* walkLists(path, before, after);
    return;
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  yield { path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
}

function* walkLists(
  path: string,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
): Generator<FieldChange> {
  const [old, fresh] = [byName(before), byName(after)];
  if (old !== undefined && fresh !== undefined) {
    for (const [name, value] of fresh) yield* walk(namedPath(path, name), old.get(name), value);
    for (const [name, value] of old)
      if (!fresh.has(name)) yield* walk(namedPath(path, name), value, undefined);
    const kept = [...old.keys()].filter((name) => fresh.has(name));
    const now = [...fresh.keys()].filter((name) => old.has(name));
    if (kept.join("\u0000") !== now.join("\u0000"))
      yield { path: `${path}[order]`, before: kept, after: now };
    return;
  }
  for (let at = 0; at < Math.max(before.length, after.length); at++)
    yield* walk(`${path}[${at}]`, before[at], after[at]);
}

/** Members by their names, if each has one of its own. */
function byName(list: readonly JsonValue[]): ReadonlyMap<string, JsonValue> | undefined {
  const named = new Map(
    list.flatMap((member) => {
      const name = isObject(member) ? valueAt(member, "name") : undefined;
      return typeof name === "string" && name !== "" ? [[name, member] as const] : [];
    }),
  );
  return named.size === list.length ? named : undefined;
}

function memberPath(path: string, name: string): string {
  const member = /^(?:[A-Za-z_$][\w$]*|\(\w+\))$/.test(name) ? name : `[${JSON.stringify(name)}]`;
  return path === "" || member.startsWith("[") ? `${path}${member}` : `${path}.${member}`;
}

function namedPath(path: string, name: string): string {
  return `${path}[${JSON.stringify(name)}]`;
}

function valueAt(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
