import { walkFields, WireType } from "@xdstp/core/wire";

/** Field numbers of `envoy.config.core.v3.ConfigSource`: the members of its oneof, and its authorities. */
const PATH = 1;
const API_CONFIG_SOURCE = 2;
const ADS = 3;
const SELF = 5;
const AUTHORITIES = 7;
const PATH_CONFIG_SOURCE = 8;
const specifiers: ReadonlySet<number> = new Set([
  PATH,
  API_CONFIG_SOURCE,
  ADS,
  SELF,
  PATH_CONFIG_SOURCE,
]);

/** Returns the kind of a ConfigSource. `ads`: plain `ads`, or an empty one. `file`: the resources that it names do not come over xDS. `own`: another source, which has to be looked up. */
export function sourceKind(bytes: Uint8Array, configSource: Range): "ads" | "file" | "own" {
  let last = 0;
  let authorities = 0;
  walkFields(
    bytes,
    (field) => {
      if (specifiers.has(field)) last = field;
      if (field === AUTHORITIES) authorities++;
      return true;
    },
    configSource,
  );
  if (last === PATH || last === PATH_CONFIG_SOURCE) return "file";
  return (last === 0 || last === ADS) && authorities === 0 ? "ads" : "own";
}

/** A place in a payload: of a nested message, or of a text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the place of the last length-delimited field of this number within a message. It reads malformed bytes up to the fault. */
export function lastField(bytes: Uint8Array, within: Range, number: number): Range | undefined {
  let found: Range | undefined;
  walkFields(
    bytes,
    (field, start, end, wireType) => {
      if (field === number && wireType === WireType.LENGTH_DELIMITED) found = { start, end };
      return true;
    },
    within,
  );
  return found;
}
