import { createCache, type PutOptions } from "../src/index.ts";
import type { Entry } from "@xdstp/core";

export const TYPE = "type.googleapis.com/test.Type";

/** Returns the entry of a resource of {@link TYPE} in a cache. */
export function added(
  name: string,
  options: PutOptions & { readonly text?: string; readonly asked?: string } = {},
): Entry {
  const { text = "", asked = name, ...rest } = options;
  const cache = createCache({ types: [{ typeUrl: TYPE, collectionTypeUrl: `${TYPE}Collection` }] });
  cache.put({ typeUrl: TYPE, name, value: Buffer.from(text), ...rest });
  const [entry] = cache.topic(TYPE, { name: asked }).members();
  if (entry === undefined) throw new Error(`the cache does not hold ${name}`);
  return entry;
}

/** Returns an entry without a resource. */
export function removed(name: string, revision = 1): Entry {
  return { revision, since: 0, superseded: false, name };
}
