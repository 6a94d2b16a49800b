import { XdsError } from "@xdstp/core";

/** What is said of a name of which a server says no more than that it does not exist. */
export function notFound(typeUrl: string, name: string): XdsError {
  return new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
    typeUrl,
    resource: name,
  });
}
