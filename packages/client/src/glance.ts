import { walkFields } from "@xdstp/core/wire";
import { type Resource, XdsError } from "@xdstp/core";

import { isSchema, watchedType, type TypeSource } from "./watched-type.ts";

/** Why something is rejected that is not decoded yet: it is of another type or, where a schema says what it should be, no message at all. */
export function glance(
  source: TypeSource<unknown>,
): (resource: Resource, name: string) => XdsError | undefined {
  const { typeUrl } = watchedType(source);
  return ({ payload }, name) => {
    const isWhole =
      !isSchema(source) || walkFields(payload.value, () => undefined).outcome === "complete";
    const fault =
      otherType(payload.typeUrl, typeUrl) ?? (isWhole ? undefined : "its payload is not a message");
    return fault === undefined
      ? undefined
      : new XdsError("INVALID_ARGUMENT", fault, { typeUrl, resource: name });
  };
}

/** A redirect or a list, for example. */
export function otherType(came: string, typeUrl: string): string | undefined {
  return came === typeUrl
    ? undefined
    : `it is a ${came.replace(/^.*\//, "")}, which this client does not follow`;
}
