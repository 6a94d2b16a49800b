import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type LastError,
  missedText,
  type TypeState,
  type TypeStatus,
} from "@xdstp/protocol/server";
import {
  type ClientConfig_GenericXdsConfig,
  ClientConfig_GenericXdsConfigSchema,
  ConfigStatus,
} from "@xdstp/protos/status";

/** A `client_features` entry of the caller: one row per type is enough, without names. Servers that do not know it send a row for each resource. */
export const BY_TYPE = "xdstp.status.by-type";

const states: Readonly<Record<TypeState, ConfigStatus>> = {
  SYNCED: ConfigStatus.SYNCED,
  STALE: ConfigStatus.STALE,
  NACKED: ConfigStatus.ERROR,
  NOT_SENT: ConfigStatus.NOT_SENT,
  REQUESTED: ConfigStatus.NOT_SENT,
};

/** Returns the text of a rejection, and the reference that the client had not accepted (S-ACK-21). */
export function detailsOf({ code, message, missed }: LastError): string {
  const text = message === "" ? `code ${code}, without a text` : message;
  return missed === undefined ? text : `${text}; it ${missedText(missed)}`;
}

/** One type of one client in one row: what thousands of clients with thousands of resources can be asked for (S-CSDS-4). */
export function typeConfig({
  typeUrl,
  state,
  versionAccepted,
  acceptedAt,
  pendingSince,
  lastError,
}: TypeStatus): ClientConfig_GenericXdsConfig {
  const at = state === "STALE" ? (pendingSince ?? acceptedAt) : acceptedAt;
  return create(ClientConfig_GenericXdsConfigSchema, {
    typeUrl,
    versionInfo: versionAccepted,
    configStatus: states[state],
    ...(at !== undefined && { lastUpdated: timestampFromMs(at) }),
    ...(lastError !== undefined && {
      errorState: {
        details: detailsOf(lastError),
        versionInfo: lastError.version,
        lastUpdateAttempt: timestampFromMs(lastError.at),
      },
    }),
  });
}
