import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import type { NodeInfo } from "@xdstp/core";
import type { ServerStream, RejectedVersion } from "@xdstp/protocol/server";
import { NodeSchema, type Node } from "@xdstp/protos/discovery";
import {
  type ClientConfig,
  type ClientConfig_GenericXdsConfig,
  ClientConfigSchema,
  ClientConfig_GenericXdsConfigSchema,
  ConfigStatus,
} from "@xdstp/protos/status";
import { anyPack, StructSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";

import { genericConfigs, type ShowPayload, typeConfig } from "./generic-configs.ts";
import type { FormerStates } from "./held-state.ts";

/** Creates the rows of a stream. */
export type RowsOf = (stream: ServerStream) => Iterable<ClientConfig_GenericXdsConfig>;

/**
 * Returns one stream as a `ClientConfig`. Two clients may claim the same node id, so streams are
 * never joined: the address of the client, as `client_scope`, distinguishes them.
 * @param spend - Called for each row; throws if there are too many
 */
export function clientConfig(
  stream: ServerStream,
  rowsOf: RowsOf,
  spend: (row: ClientConfig_GenericXdsConfig) => void,
): ClientConfig {
  const { node, peer, viewKey } = stream.info;
  const config = create(ClientConfigSchema, {
    clientScope: peer,
    ...(node !== undefined && { node: nodeOf(node, viewKey) }),
  });
  for (const row of rowsOf(stream)) {
    spend(row);
    config.genericXdsConfigs.push(row);
  }
  return config;
}

/** Returns a function for a row per resource. */
export function rowsByName(
  show: ShowPayload,
  formerOf: (stream: ServerStream) => FormerStates,
): RowsOf {
  return function* rows(stream) {
    for (const view of stream.views()) yield* genericConfigs(view, show, formerOf(stream));
  };
}

/** Returns a row per type. */
export const rowsByType: RowsOf = (stream) => stream.status().types.map(typeConfig);

/**
 * The field of `node.metadata` in client status with the key of the view that the client is served.
 * Metadata of the client itself are not included.
 */
export const VIEW_KEY = "xdstp.view";

/**
 * The maximum number of UTF-16 units of a view key that are shown: it may come from the metadata of
 * a client.
 */
const mostViewKey = 256;

/** Returns the stored part of a node as a message. */
function nodeOf(
  { id, cluster, userAgentName, userAgentVersion, locality, clientFeatures }: NodeInfo,
  viewKey: string | undefined,
): Node {
  const [region = "", zone = "", ...subZone] = locality.split("/");
  return create(NodeSchema, {
    id,
    cluster,
    userAgentName,
    clientFeatures: [...clientFeatures],
    ...(userAgentVersion !== "" && {
      userAgentVersionType: { case: "userAgentVersion", value: userAgentVersion },
    }),
    ...(viewKey !== undefined && {
      metadata: { [VIEW_KEY]: viewKey.slice(0, mostViewKey).replace(/[\ud800-\udbff]$/, "") },
    }),
    ...(locality !== "" && { locality: { region, zone, subZone: subZone.join("/") } }),
  });
}

/**
 * An entry in `client_features` of the caller. It requests the rejections of clients by resource
 * and version, if the source counts them. A server that does not know it ignores it.
 */
export const REJECTIONS = "xdstp.status.rejections";

/**
 * Returns the rejections of clients as one more `ClientConfig`, with {@link REJECTIONS} as its
 * scope. It has a row for each version of a resource, newest first, with the reason of the first
 * client that rejected it.
 * Its `xds_config` is a `Struct`: `clients`, `by` and `among` as in {@link RejectedVersion}.
 * @param spend - Called for each row; throws if there are too many
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
