import { XdsError } from "@xdstp/core";

/** The error of a name that a server reports as missing without a reason. */
export function notFound(typeUrl: string, name: string): XdsError {
  return new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
    typeUrl,
    resource: name,
    reason: "missing",
  });
}
