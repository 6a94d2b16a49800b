import { StatusCode, XdsError, type Status, type StatusName } from "@xdstp/core";

const names: ReadonlyMap<number, StatusName> = new Map(
  (Object.keys(StatusCode) as StatusName[]).map((name) => [StatusCode[name], name]),
);

/** A status as what a handler throws, so that its call ends with it. */
export function statusError({ code, message }: Status): XdsError {
  return new XdsError(names.get(code) ?? "UNKNOWN", message);
}
