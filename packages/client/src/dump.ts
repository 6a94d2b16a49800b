import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AnyBytes } from "@xdstp/core";
import {
  ClientConfigSchema,
  type ClientConfig_GenericXdsConfigSchema,
  ClientResourceStatus,
  type ClientConfig,
} from "@xdstp/protos/status";
import { NodeSchema } from "@xdstp/protos/discovery";

import { allRows, type Fed, type ResourceState, type StatusRow } from "./status-rows.ts";

/** How a payload is shown. */
export type ShowPayload = (payload: AnyBytes) => AnyBytes;

/** What is dumped. */
export interface DumpSource {
  readonly caches: Iterable<Fed>;
  /** The encoded node. */
  readonly node: Uint8Array;
  readonly scope: string;
  /** Absent: contents are left out (`exclude_resource_contents`). */
  readonly show: ShowPayload | undefined;
}

/** The state of a client in the form of CSDS. */
export function dump({ caches, node, scope, show }: DumpSource): ClientConfig {
  const genericXdsConfigs = Array.from(allRows(caches), (row) => configOf(row, show));
  return create(ClientConfigSchema, {
    node: fromBinary(NodeSchema, node),
    clientScope: scope,
    genericXdsConfigs,
  });
}

type Config = Omit<MessageInitShape<typeof ClientConfig_GenericXdsConfigSchema>, "$typeName">;

function configOf(
  { typeUrl, name, state, resource, at, rejected, error }: StatusRow,
  show: ShowPayload | undefined,
): Config {
  const payload = resource === undefined ? undefined : show?.(resource.payload);
  return {
    typeUrl,
    name,
    clientStatus: statusOf[state],
    versionInfo: resource?.given ?? "",
    ...(at > 0 && { lastUpdated: timestampFromMs(at) }),
    ...(payload !== undefined && { xdsConfig: { typeUrl: payload.typeUrl, value: payload.value } }),
    ...(rejected !== undefined && {
      errorState: {
        details: rejected.error.message,
        versionInfo: rejected.version,
        lastUpdateAttempt: timestampFromMs(rejected.at),
      },
    }),
    ...(error !== undefined && { errorState: { details: error.message } }),
  };
}

const statusOf: Readonly<Record<ResourceState, ClientResourceStatus>> = {
  requested: ClientResourceStatus.REQUESTED,
  does_not_exist: ClientResourceStatus.DOES_NOT_EXIST,
  acked: ClientResourceStatus.ACKED,
  nacked: ClientResourceStatus.NACKED,
  received_error: ClientResourceStatus.RECEIVED_ERROR,
  timeout: ClientResourceStatus.TIMEOUT,
};
