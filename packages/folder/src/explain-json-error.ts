import type { Registry } from "@bufbuild/protobuf";
import { ResourceJsonError } from "@xdstp/protos/envoy";
import { closest } from "./closest.ts";
import { Fault, type FaultPlace, reasonOf } from "./fault.ts";

/** An error of the JSON reader as a fault with its path; for a field that does not exist, with the one that was meant. */
export function explainJsonError(error: unknown, place: FaultPlace, registry: Registry): Fault {
  if (!(error instanceof ResourceJsonError)) return new Fault({ ...place, message: reasonOf(error) });
  const message = error.reason.replaceAll(/cannot decode (?:message |field )?(\S+) from JSON: /g, "$1: ");
  const hint = meantField(message, registry);
  return new Fault({ ...place, path: [...place.path, ...error.path], message, ...(hint !== undefined && { hint }) });
}

function meantField(message: string, registry: Registry): string | undefined {
  const [, typeName = "", key = ""] = /(\S+): key "(.*)" is unknown$/s.exec(message) ?? [];
  const fields = registry.getMessage(typeName)?.fields ?? [];
  const meant = closest(key, fields.map(({ name }) => name));
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}
