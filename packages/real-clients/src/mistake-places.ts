/** A value of JSON or YAML. */
export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Keys and indexes from the root. */
export type JsonPath = readonly (string | number)[];

/** A value in a configuration. */
export interface Place {
  readonly path: JsonPath;
  /** The path as text, without the indexes: `static_resources.clusters[].name`. */
  readonly name: string;
  /** The last key; empty for an item of a list. */
  readonly key: string;
  readonly value: Json;
  /** The object that holds it. */
  readonly parent: Readonly<Record<string, Json>> | undefined;
  /** All places of the configuration. */
  readonly root: readonly Place[];
}

/** Every value of a configuration, except for the root. */
export function placesIn(root: Json): readonly Place[] {
  const places: Place[] = [];
  const walk = (value: Json, path: JsonPath, name: string, parent: Place["parent"]): void => {
    if (path.length > 0) {
      const last = path.at(-1);
      places.push({
        path,
        name,
        key: typeof last === "string" ? last : "",
        value,
        parent,
        root: places,
      });
    }
    if (Array.isArray(value))
      for (const [index, item] of (value as readonly Json[]).entries())
        walk(item, [...path, index], `${name}[]`, undefined);
    else if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value as Readonly<Record<string, Json>>))
        walk(
          item,
          [...path, key],
          name === "" ? key : `${name}.${key}`,
          value as Record<string, Json>,
        );
  };
  walk(root, [], "", undefined);
  return places;
}

/** A copy with a value set; undefined removes it. */
export function withValue(root: Json, path: JsonPath, value: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return value ?? null;
  if (Array.isArray(root)) {
    const items: Json[] = [...(root as readonly Json[])];
    const index = Number(step);
    if (rest.length === 0 && value === undefined) items.splice(index, 1);
    else items[index] = withValue(items[index] ?? {}, rest, value);
    return items;
  }
  const entries = new Map(Object.entries(root as Readonly<Record<string, Json>>));
  const key = String(step);
  if (rest.length > 0 || value !== undefined)
    entries.set(key, withValue(entries.get(key) ?? {}, rest, value));
  else entries.delete(key);
  return Object.fromEntries(entries);
}
