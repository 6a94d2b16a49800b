import { walkFields } from "@xdstp/core";
import type { Range } from "./range.ts";

/** Of `envoy.config.core.v3.ConfigSource`, the members of its oneof. */
const PATH = 1;
const API_CONFIG_SOURCE = 2;
const ADS = 3;
const SELF = 5;
const PATH_CONFIG_SOURCE = 8;
const specifiers: ReadonlySet<number> = new Set([PATH, API_CONFIG_SOURCE, ADS, SELF, PATH_CONFIG_SOURCE]);

/** Whether a ConfigSource reads from a file, so that what is named beside it does not come over xDS. */
export function isFileSource(bytes: Uint8Array, configSource: Range): boolean {
  let last = 0;
  walkFields(bytes, (field) => {
    if (specifiers.has(field)) last = field;
    return true;
  }, configSource);
  return last === PATH || last === PATH_CONFIG_SOURCE;
}
