import { create, fromJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, StructSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ClientConfig,
  ClientConfig_GenericXdsConfigSchema,
  ClientConfigSchema,
  ConfigStatus,
} from "@xdstp/protos/status";

/**
 * An entry in `client_features` of the caller: it requests the facts of the server itself. Servers
 * that do not know it ignore it. Without it, the response has clients only.
 */
export const SERVER_FACTS = "xdstp.status.server";

/** The facts of a server in client status. */
interface ServerFacts {
  /** The number of open streams that the caller may not see. */
  readonly hiddenStreams: number;
  /** Empty if the caller may not see it, or the server has none. */
  readonly health: readonly Health[];
}

/**
 * Returns the facts as one more `ClientConfig` with {@link SERVER_FACTS} as its scope and without a
 * node.
 * A row for each {@link Health} has its name, when it was loaded (`last_updated`) and why it is
 * stale (`error_state`); its `xds_config` is a `Struct` with `kind` and `expiresAt`.
 * A row without a name has `hiddenStreams` in such a `Struct`.
 * @param spend - Called for each row; throws if there are too many
 */
export function serverFactsConfig(
  { hiddenStreams, health }: ServerFacts,
  spend: (row: ClientConfig["genericXdsConfigs"][number]) => void,
): ClientConfig {
  const config = create(ClientConfigSchema, { clientScope: SERVER_FACTS });
  for (const init of [{ ...structOf({ hiddenStreams }) }, ...health.map(rowOf)]) {
    const row = create(ClientConfig_GenericXdsConfigSchema, init);
    spend(row);
    config.genericXdsConfigs.push(row);
  }
  return config;
}

type Row = Omit<MessageInitShape<typeof ClientConfig_GenericXdsConfigSchema>, "$typeName">;

function rowOf({ kind, name, loadedAt, stale, expiresAt }: Health): Row {
  return {
    name,
    configStatus: stale === undefined ? ConfigStatus.SYNCED : ConfigStatus.ERROR,
    ...(loadedAt !== undefined && { lastUpdated: timestampFromMs(loadedAt) }),
    ...(stale !== undefined && {
      errorState: { details: stale.reason, lastUpdateAttempt: timestampFromMs(stale.since) },
    }),
    ...structOf({ kind, ...(expiresAt !== undefined && { expiresAt }) }),
  };
}

function structOf(fields: JsonObject): Row {
  return { xdsConfig: anyPack(StructSchema, fromJson(StructSchema, fields)) };
}

/**
 * The health of something that a server serves or uses: a folder, a policy file, a certificate, or
 * a server upstream.
 */
export interface Health {
  /** The kind. An unknown kind is shown unchanged. */
  readonly kind: "source" | "policy" | "certificate" | "upstream" | (string & {});
  /** The name for display: a directory, a file, or an address. */
  readonly name: string;
  /** When its last valid state was loaded, in milliseconds since the epoch. Absent: never. */
  readonly loadedAt?: number;
  /**
   * Present if the newest state is invalid and not used: since when (milliseconds since the epoch),
   * why, and the number of broken files if known. Absent: the last valid state is the newest one.
   */
  readonly stale?: {
    readonly since: number;
    readonly reason: string;
    readonly brokenFiles?: number;
  };
  /** When it expires, in milliseconds since the epoch. Absent: never. */
  readonly expiresAt?: number;
}
