import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, StructSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RejectedVersion } from "@xdstp/protocol/server";
import {
  type ClientConfig,
  ClientConfig_GenericXdsConfigSchema,
  ClientConfigSchema,
  ConfigStatus,
} from "@xdstp/protos/status";

/** A `client_features` entry of the caller: requests what clients have rejected of the source, by resource and version, where the source counts that. Servers that do not know it leave it out. */
export const REJECTIONS = "xdstp.status.rejections";

/**
 * What clients have rejected as one more `ClientConfig`, with {@link REJECTIONS} as its scope: a row for each version of a resource, newest first, with the reason of the first who has rejected it.
 * Its `xds_config` is a `Struct`: `clients`, `by` and `among` as in {@link RejectedVersion}.
 * @param spend - Called for each row; throws when there are too many
 */
export function rejectionConfig(
  rejections: readonly RejectedVersion[],
  spend: (row: ClientConfig["genericXdsConfigs"][number]) => void,
): ClientConfig {
  const config = create(ClientConfigSchema, { clientScope: REJECTIONS });
  for (const rejection of rejections) {
    const row = create(ClientConfig_GenericXdsConfigSchema, rowOf(rejection));
    spend(row);
    config.genericXdsConfigs.push(row);
  }
  return config;
}

function rowOf({
  typeUrl,
  name,
  version,
  clients,
  by,
  among,
  reason,
  since,
}: RejectedVersion): Omit<
  MessageInitShape<typeof ClientConfig_GenericXdsConfigSchema>,
  "$typeName"
> {
  return {
    typeUrl,
    name,
    configStatus: ConfigStatus.ERROR,
    errorState: {
      details: reason,
      versionInfo: version,
      lastUpdateAttempt: timestampFromMs(since),
    },
    xdsConfig: anyPack(StructSchema, fromJson(StructSchema, { clients, among, by: [...by] })),
  };
}
