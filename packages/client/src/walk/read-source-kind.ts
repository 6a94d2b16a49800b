import { decodeText, walkFields } from "@xdstp/core/wire";

/** Field numbers of `envoy.config.core.v3.ConfigSource`. */
const ADS = 3;
const SELF = 5;
const AUTHORITIES = 7;
const specifiers: ReadonlyMap<number, SourceKind["kind"]> = new Map([
  [1, "other"],
  [2, "other"],
  [ADS, "ads"],
  [SELF, "self"],
  [8, "other"],
]);
/** A field number of `xds.core.v3.Authority`. */
const NAME = 1;

/** The part of an encoded ConfigSource that is read without the API of Envoy. */
export interface SourceKind {
  readonly kind: "ads" | "self" | "other";
  /** The authorities that the ConfigSource applies to (C-AUTH-1). */
  readonly authorities: readonly string[];
}

/** Reads the fields of a ConfigSource that determine whether it applies to a name. Never throws. */
export function readSourceKind(source: Uint8Array): SourceKind {
  let kind: SourceKind["kind"] = "ads";
  const authorities: string[] = [];
  walkFields(source, (field, start, end) => {
    kind = specifiers.get(field) ?? kind;
    if (field === AUTHORITIES) authorities.push(nameIn(source, start, end));
    return true;
  });
  return { kind, authorities };
}

function nameIn(bytes: Uint8Array, start: number, end: number): string {
  let name = "";
  walkFields(
    bytes,
    (field, from, to) => {
      if (field === NAME) name = decodeText(bytes, from, to);
      return true;
    },
    { start, end },
  );
  return name;
}
