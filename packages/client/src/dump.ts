import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Cache } from "@xdstp/cache";
import type { AnyBytes, Entry } from "@xdstp/core";
import type { RefusedState, WantState, WantStatus } from "@xdstp/core/client";
import { ClientConfigSchema, ClientConfig_GenericXdsConfigSchema, ClientResourceStatus, type ClientConfig, type ClientConfig_GenericXdsConfig } from "@xdstp/protos/status";
import { NodeSchema } from "@xdstp/protos/discovery";
import { fromBinary } from "@bufbuild/protobuf";
import type { ServerChain } from "./server-chain.ts";

/** How a payload is shown. */
export type ShowPayload = (payload: AnyBytes) => AnyBytes;

/** What is dumped. */
export interface DumpSource {
  readonly cache: Cache;
  readonly chain: ServerChain;
  /** The encoded node. */
  readonly node: Uint8Array;
  readonly scope: string;
  /** Absent: contents are left out (`exclude_resource_contents`). */
  readonly show: ShowPayload | undefined;
}

/** The state of a client, a row for each resource and for each name that has none (B-CSDS-2, C-CSDS-3). */
export function dump({ cache, chain, node, scope, show }: DumpSource): ClientConfig {
  const rows = new Map<string, ClientConfig_GenericXdsConfig>();
  for (const { status } of chain.status()) {
    for (const { typeUrl, wants } of status?.types ?? []) {
      for (const want of wants) for (const row of rowsOf(cache, typeUrl, want, show)) rows.set(`${typeUrl} ${row.name}`, row);
    }
  }
  return create(ClientConfigSchema, { node: fromBinary(NodeSchema, node), clientScope: scope, genericXdsConfigs: [...rows.values()] });
}

function* rowsOf(cache: Cache, typeUrl: string, want: WantStatus, show: ShowPayload | undefined): Generator<ClientConfig_GenericXdsConfig> {
  const members = cache.topic(typeUrl, want.interest).members();
  const refused = new Map(want.refused.map((state) => [state.name, state]));
  const held = members.filter(({ resource }) => resource !== undefined);
  for (const entry of held) {
    yield heldRow(typeUrl, entry, want, refused.get(entry.name), show);
    refused.delete(entry.name);
  }
  for (const state of refused.values()) yield rowOf(typeUrl, state.name, { clientStatus: ClientResourceStatus.NACKED, ...errorOf(state) });
  if (held.length === 0 && refused.size === 0) yield rowOf(typeUrl, want.interest.name, { clientStatus: statusOf[want.state], ...(want.error === undefined ? {} : { errorState: { details: want.error.message } }) });
}

function heldRow(typeUrl: string, { name, resource }: Entry, { state, at, error }: WantStatus, refused: RefusedState | undefined, show: ShowPayload | undefined): ClientConfig_GenericXdsConfig {
  const payload = resource === undefined || show === undefined ? undefined : show(resource.payload);
  const ownError = state === "error" && error !== undefined;
  return rowOf(typeUrl, name, {
    versionInfo: resource?.version ?? "",
    clientStatus: refused !== undefined ? ClientResourceStatus.NACKED : ownError ? ClientResourceStatus.RECEIVED_ERROR : ClientResourceStatus.ACKED,
    ...(at > 0 && { lastUpdated: timestampFromMs(at) }),
    ...(payload !== undefined && { xdsConfig: { typeUrl: payload.typeUrl, value: payload.value } }),
    ...(refused !== undefined ? errorOf(refused) : ownError ? { errorState: { details: error.message } } : {}),
  });
}

function errorOf({ version, error, at }: RefusedState): Row {
  return { errorState: { details: error.message, versionInfo: version, lastUpdateAttempt: timestampFromMs(at) } };
}

type Row = Omit<MessageInitShape<typeof ClientConfig_GenericXdsConfigSchema>, "$typeName">;

function rowOf(typeUrl: string, name: string, row: Row): ClientConfig_GenericXdsConfig {
  return create(ClientConfig_GenericXdsConfigSchema, { typeUrl, name, ...row });
}

/** Where nothing is held. What did not come in time is missing, unless the server asked for another conclusion (C-GRPC-10). */
const statusOf: Readonly<Record<WantState, ClientResourceStatus>> = {
  requested: ClientResourceStatus.REQUESTED,
  held: ClientResourceStatus.ACKED,
  missing: ClientResourceStatus.DOES_NOT_EXIST,
  refused: ClientResourceStatus.NACKED,
  error: ClientResourceStatus.RECEIVED_ERROR,
  timeout: ClientResourceStatus.TIMEOUT,
};
