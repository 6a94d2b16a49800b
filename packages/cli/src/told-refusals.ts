import { anyUnpack, StructSchema, timestampMs } from "@bufbuild/protobuf/wkt";
import { toJson, type JsonValue } from "@bufbuild/protobuf";
import type {
  ClientConfig,
  ClientConfig_GenericXdsConfig,
  ClientStatusResponse,
} from "@xdstp/protos/status";
import type { RefusedVersion } from "@xdstp/relay";
import { mergeRefusals } from "./merge-refusals.ts";

/** What asks a relay for what its clients have refused, and the scope under which that stands in its answer. */
export const REFUSALS = "xdstp.status.refusals";

/** Whether a row of client status is not a client. */
export function isOfRefusals({ clientScope, node }: ClientConfig): boolean {
  return clientScope === REFUSALS && node === undefined;
}

/** What clients of a relay have refused, by resource and version, newest first; undefined: who was asked does not count it, or does not tell. */
export function toldRefusals({
  config,
}: ClientStatusResponse): readonly RefusedVersion[] | undefined {
  const told = config.filter(isOfRefusals);
  return told.length === 0
    ? undefined
    : mergeRefusals(told.map(({ genericXdsConfigs }) => genericXdsConfigs.map(refusalOf)));
}

function refusalOf({
  typeUrl,
  name,
  errorState,
  xdsConfig,
}: ClientConfig_GenericXdsConfig): RefusedVersion {
  const struct = xdsConfig && anyUnpack(xdsConfig, StructSchema);
  const { clients, among, by }: Record<string, JsonValue> =
    struct === undefined ? {} : toJson(StructSchema, struct);
  const since = errorState?.lastUpdateAttempt;
  return {
    typeUrl,
    name,
    version: errorState?.versionInfo ?? "",
    reason: errorState?.details ?? "",
    since: since === undefined ? 0 : timestampMs(since),
    clients: countOf(clients),
    among: countOf(among),
    by: Array.isArray(by) ? by.filter((one) => typeof one === "string") : [],
  };
}

function countOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 1;
}
