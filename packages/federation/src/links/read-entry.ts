import type { Resource } from "@xdstp/core";
import { memberTypeOf } from "@xdstp/uri";

import { readList } from "../list/read-list.ts";

/** The inline entry of a list that a directive names (C-LIST-7), as a resource of its own; undefined: there is none. */
export function readEntry({ payload, ...list }: Resource, entry: string): Resource | undefined {
  const memberTypeUrl = memberTypeOf(payload.typeUrl);
  const read = memberTypeUrl === undefined ? undefined : readList(payload, memberTypeUrl);
  const found = read?.ok === true ? read.value.find((one) => one.kind === "inline" && one.name === entry) : undefined;
  return found?.kind === "inline" ? { ...list, version: found.version, payload: found.payload } : undefined;
}
