import { StatusCode, type Status, type StatusName } from "@xdstp/core";

const names = new Map<number, StatusName>(Object.entries(StatusCode).map(([name, code]) => [code, name as StatusName]));

/** The name of the code of a status. */
export function nameOf({ code }: Status): StatusName {
  return names.get(code) ?? "UNKNOWN";
}
