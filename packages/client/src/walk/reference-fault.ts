import { XdsError, type Reference } from "@xdstp/core";
import { collectionTypeOf, isGlob, typeFromTypeUrl, typeOf } from "@xdstp/uri";

/** Why a name in a payload cannot be followed; undefined: it can be asked for. */
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
  if (type === undefined) return fault("INVALID_ARGUMENT", "is not an xdstp name");
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
  return isGlob(name)
    ? fault(
        "UNIMPLEMENTED",
        "is a glob collection, which a walk does not follow; leave its type out",
      )
    : undefined;
}
