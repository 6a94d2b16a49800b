import { StatusCode, type StatusName } from "./status.ts";

const names: ReadonlyMap<number, StatusName> = new Map(
  Object.entries(StatusCode).map(([name, code]) => [code, name as StatusName]),
);

/** The name of a code; undefined: it is none. */
export function statusNameOf(code: number): StatusName | undefined {
  return names.get(code);
}
