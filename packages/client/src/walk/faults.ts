import { type Fault, type Reference, type StoredResource, XdsError } from "@xdstp/core";
import { locatorFault } from "@xdstp/federation";
import { referencesOf, serviceNameFault } from "@xdstp/resource-types";
import { collectionTypeOf, isGlob, parseLocator, typeFromTypeUrl, typeOf } from "@xdstp/uri";

import { readSourceKind } from "./read-source-kind.ts";

/** Returns the reason why a walk rejects a resource, or `undefined` if it accepts the resource. */
export type ResourceFault = (
  typeUrl: string,
  name: string,
  payload: Uint8Array,
) => Fault | undefined;

/**
 * Returns a check for resources that gRPC rejects: a cluster that lacks the name of its EDS service
 * (C-GRPC-3) and, with `onlyAds`, a ConfigSource that sets neither `ads` nor `self` (C-GRPC-18).
 */
export function createResourceFault(onlyAds: boolean): ResourceFault {
  return onlyAds
    ? (typeUrl, name, payload) =>
        serviceNameFault(typeUrl, name, payload) ?? sourceFault(typeUrl, payload)
    : serviceNameFault;
}

function sourceFault(typeUrl: string, payload: Uint8Array): Fault | undefined {
  const other = referencesOf(typeUrl, payload, { files: true }).find(({ source, within }) =>
    [source, within?.source].some(
      (said) => said !== undefined && readSourceKind(said).kind === "other",
    ),
  );
  return other === undefined
    ? undefined
    : {
        text: `the ConfigSource of ${JSON.stringify(other.name)} sets neither ads nor self`,
        rule: "C-GRPC-18",
      };
}

/**
 * Returns the reason why a name in a payload cannot be followed, or `undefined` if it can be
 * requested. The name may have an alternative, and may be an entry of a list (C-ALT-2, C-LIST-7).
 */
export function referenceFault({ typeUrl, name }: Reference): XdsError | undefined {
  const fault = (
    code: "INVALID_ARGUMENT" | "UNIMPLEMENTED",
    text: string,
    rule?: string,
  ): XdsError =>
    new XdsError(code, `${JSON.stringify(name)} ${text}`, { typeUrl, resource: name, rule });
  if (name === "*") return fault("INVALID_ARGUMENT", "is not a name, but all of a type");
  if (!name.startsWith("xdstp:")) return undefined;
  const type = typeOf(name);
  const own = typeFromTypeUrl(typeUrl);
  if (type === undefined) {
    const parsed = parseLocator(name);
    if (!parsed.ok) return fault("INVALID_ARGUMENT", "is not an xdstp name", parsed.error.rule);
    if (isGlob(parsed.value)) return fault("UNIMPLEMENTED", globText);
    const wrong = locatorFault(typeUrl, parsed.value);
    return wrong && fault("INVALID_ARGUMENT", `cannot be followed: ${wrong.text}`, wrong.rule);
  }
  if (own !== undefined && type === collectionTypeOf(own))
    return fault(
      "UNIMPLEMENTED",
      "is a list collection, which a walk does not follow; leave its type out",
    );
  if (type !== own)
    return fault(
      "INVALID_ARGUMENT",
      `has the type ${type}; it has to be ${own ?? typeUrl}`,
      "B-TYPE-5",
    );
  return isGlob(name) ? fault("UNIMPLEMENTED", globText) : undefined;
}

const globText = "is a glob collection, which a walk does not follow; leave its type out";

/** Returns an error for a cached resource with a payload of another type: a redirect, or a list. */
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
