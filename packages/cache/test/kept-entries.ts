import { createCache, type PutOptions } from "../src/index.ts";
import type { Entry } from "@xdstp/core";

export const TYPE = "type.googleapis.com/test.Type";

/** What the cache keeps of a resource of {@link TYPE}. */
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

/** Says that a name does not exist. */
export function removed(name: string, revision = 1): Entry {
  return { revision, since: 0, superseded: false, name };
}
