import { anyUnpack, StructSchema, timestampMs } from "@bufbuild/protobuf/wkt";
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import type {
  ClientConfig,
  ClientConfig_GenericXdsConfig,
  ClientStatusResponse,
} from "@xdstp/protos/status";
import type { RejectedVersion } from "@xdstp/relay";

/** The client feature that requests the rejections of a relay's clients, and the scope of these in its answer. */
export const REJECTIONS = "xdstp.status.rejections";

/** Whether a row of client status is not a client. */
export function isOfRejections({ clientScope, node }: ClientConfig): boolean {
  return clientScope === REJECTIONS && node === undefined;
}

/** What clients of a relay have rejected, by resource and version, newest first; undefined: who was asked does not count it, or does not tell. */
export function toldRejections({
  config,
}: ClientStatusResponse): readonly RejectedVersion[] | undefined {
  const told = config.filter(isOfRejections);
  return told.length === 0
    ? undefined
    : mergeRejections(told.map(({ genericXdsConfigs }) => genericXdsConfigs.map(rejectionOf)));
}

function rejectionOf({
  typeUrl,
  name,
  errorState,
  xdsConfig,
}: ClientConfig_GenericXdsConfig): RejectedVersion {
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

/** What several processes have counted, as one: newest first. Clients that come to two of them count once as far as they are named. */
export function mergeRejections(
  lists: readonly (readonly RejectedVersion[])[],
): readonly RejectedVersion[] {
  const byVersion = Map.groupBy(lists.flat(), ({ typeUrl, name, version }) =>
    JSON.stringify([typeUrl, name, version]),
  );
  return [...byVersion.values()].map(joined).sort((one, other) => other.since - one.since);
}

function joined(same: readonly RejectedVersion[]): RejectedVersion {
  const first = same.reduce((one, other) => (other.since < one.since ? other : one));
  const by = [...new Set(same.flatMap((one) => one.by))];
  const unnamed = same.reduce((sum, one) => sum + one.clients - one.by.length, 0);
  return {
    ...first,
    by,
    clients: by.length + unnamed,
    among: Math.min(...same.map(({ among }) => among)),
  };
}
