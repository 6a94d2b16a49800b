import type { Resource } from "@xdstp/core";
import { readCollectionEntries } from "@xdstp/protos/xds";

/** The inline entry of a list that a directive names (C-LIST-7), as a resource of its own; undefined: there is none. */
export function readEntry({ payload, ...list }: Resource, entry: string): Resource | undefined {
  const read = readCollectionEntries(payload.value);
  if (!read.ok) return undefined;
  const found = read.value.find((item) => item.form === "inline" && item.entry.name === entry);
  if (found?.form !== "inline" || found.entry.resource === undefined) return undefined;
  const { version, resource: { typeUrl, value } } = found.entry;
  return { ...list, version, payload: { typeUrl, value } };
}
