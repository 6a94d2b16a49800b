import { create, fromJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, StructSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ClientConfig,
  ClientConfig_GenericXdsConfigSchema,
  ClientConfigSchema,
  ConfigStatus,
} from "@xdstp/protos/status";

/** A `client_features` entry of the caller: requests the server's facts about itself. Servers that do not know it leave them out; a caller that does not send it gets clients only. */
export const SERVER_FACTS = "xdstp.status.server";

/** What a server says of itself in client status. */
interface ServerFacts {
  /** The number of open streams that the caller may not see. */
  readonly hiddenStreams: number;
  /** Absent: the caller may not see it, or the server has none. */
  readonly health: readonly Health[];
}

/**
 * The facts as one more `ClientConfig` with {@link SERVER_FACTS} as its scope and without a node.
 * A row for each {@link Health} has its name, when it was loaded (`last_updated`) and why it is stale (`error_state`); its `xds_config` is a `Struct` with `kind` and `expiresAt`.
 * A row without a name has `hiddenStreams` in such a `Struct`.
 * @param spend - Called for each row; throws when there are too many
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

/** How things stand with something that a server serves or uses: a folder, a policy file, a certificate, a server above it. */
export interface Health {
  /** What it is. A kind that is not known is shown as it is. */
  readonly kind: "source" | "policy" | "certificate" | "upstream" | (string & {});
  /** Which one, for people: a directory, a file, an address. */
  readonly name: string;
  /** When its last good state was loaded, in milliseconds since the epoch. Absent: never. */
  readonly loadedAt?: number;
  /** The newest state is not used, since when (milliseconds since the epoch), why, and the number of files that are broken, where that is known. Absent: the last good state is the newest one. */
  readonly stale?: {
    readonly since: number;
    readonly reason: string;
    readonly brokenFiles?: number;
  };
  /** When it expires, in milliseconds since the epoch. Absent: never. */
  readonly expiresAt?: number;
}
