import { XdsError, type StoredResource } from "@xdstp/core";

/** Why a resource that is there is none of its type: it is a redirect, or a list. */
export function typeFault(
  typeUrl: string,
  { name, payload }: StoredResource,
): XdsError | undefined {
  return payload.typeUrl === typeUrl
    ? undefined
    : new XdsError(
        "UNIMPLEMENTED",
        `${JSON.stringify(name)} is a ${payload.typeUrl.replace(/^.*\//, "")}, which a walk does not follow`,
        { typeUrl, resource: name },
      );
}
