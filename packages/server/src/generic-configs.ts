import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AnyBytes, Entry, Topic } from "@xdstp/core";
import {
  type Delivery,
  deliveryOf,
  entryKey,
  type LastError,
  missedText,
  type TypeStatus,
  type TypeView,
} from "@xdstp/protocol/server";
import {
  type ClientConfig_GenericXdsConfig,
  ClientConfig_GenericXdsConfigSchema,
  ConfigStatus,
} from "@xdstp/protos/status";
import { isGlob, nameKey } from "@xdstp/uri";

import { type FormerStates, type Held, heldState } from "./held-state.ts";

/** Returns a payload for display. `undefined`: it is not shown. */
export type ShowPayload = (payload: AnyBytes) => AnyBytes | undefined;

/**
 * Yields the rows of one type of one client: one for each resource, and one for each name that does
 * not exist (B-CSDS-2, S-CSDS-4).
 *
 * `version_info` is the version of the response that the client accepted last, as for `xds_config`
 * in csds.proto. `xds_config` is the resource that the client has, if its answers show that and the
 * source still has that state.
 */
export function* genericConfigs(
  view: TypeView,
  show: ShowPayload,
  former: FormerStates,
): Generator<ClientConfig_GenericXdsConfig> {
  const seen = new Set<string>();
  for (const topic of view.topics) {
    const members = topic.members();
    if (members.length === 0) yield emptyRow(view, topic, show, former);
    for (const entry of members) {
      const key = entryKey(entry, entry.name);
      if (seen.has(key)) continue;
      seen.add(entry.name).add(key);
      yield entryRow(view, topic, entry, show, former);
    }
  }
  for (const { name, resource } of view.exchange.inFlight?.entries ?? []) {
    if (resource === undefined && !seen.has(name))
      yield rowOf(view, name, {
        ...acceptedVersion(view),
        ...sentAt(view),
        configStatus: ConfigStatus.STALE,
      });
  }
}

type Row = Omit<MessageInitShape<typeof ClientConfig_GenericXdsConfigSchema>, "$typeName">;

function rowOf({ typeUrl }: TypeView, name: string, row: Row): ClientConfig_GenericXdsConfig {
  return create(ClientConfig_GenericXdsConfigSchema, { typeUrl, name, ...row });
}

/**
 * Returns the row of a name, glob or `*` without resources. The client may still have the resource
 * of a name that was removed. Of a glob or `*` no removal has the name, and there may be many.
 */
function emptyRow(
  view: TypeView,
  topic: Topic,
  show: ShowPayload,
  former: FormerStates,
): ClientConfig_GenericXdsConfig {
  const { name } = topic.interest;
  const removed =
    name === "*" || isGlob(name)
      ? undefined
      : topic.removed().find((entry) => nameKey(entry.name) === nameKey(name));
  return removed === undefined
    ? rowOf(view, name, { configStatus: ConfigStatus.NOT_SENT })
    : entryRow(view, topic, removed, show, former);
}

function entryRow(
  view: TypeView,
  topic: Topic,
  entry: Entry,
  show: ShowPayload,
  former: FormerStates,
): ClientConfig_GenericXdsConfig {
  const held = heldState(view, topic, entry, former);
  const hasOne = held.what === "newest" || held.what === "earlier";
  const payload = held.entry?.resource && show(held.entry.resource.payload);
  const content: Row = {
    ...(hasOne && acceptedVersion(view)),
    ...(payload !== undefined && { xdsConfig: { typeUrl: payload.typeUrl, value: payload.value } }),
  };
  const acceptedAt = timeAt(hasOne ? view.exchange.acceptedAt : undefined);
  if (entry.resource === undefined)
    return rowOf(view, entry.name, {
      ...content,
      ...acceptedAt,
      configStatus: hasOne ? ConfigStatus.STALE : ConfigStatus.NOT_SENT,
      ...(entry.error !== undefined && { errorState: { details: entry.error.text } }),
    });
  const delivery = deliveryOf(view, topic, entry);
  return rowOf(view, entry.name, {
    ...content,
    ...(delivery === "in-flight" ? sentAt(view) : acceptedAt),
    configStatus: statusOf(view, entry, delivery, held),
    ...(held.what !== "newest" && errorOf(view, delivery, show(entry.resource.payload))),
  });
}

function statusOf(
  { acceptedUpTo }: TypeView,
  { since }: Entry,
  delivery: Delivery,
  { what }: Held,
): ConfigStatus {
  // A full state repeats what the client has, and is not answered yet.
  if (delivery === "in-flight") return ConfigStatus.STALE;
  if (what === "newest") return ConfigStatus.SYNCED;
  if (delivery === "rejected") return ConfigStatus.ERROR;
  if (delivery !== "pending" || what === "earlier") return ConfigStatus.STALE;
  const mayHaveOne = what === "unknown" && acceptedUpTo > 0 && since <= acceptedUpTo;
  return mayHaveOne ? ConfigStatus.STALE : ConfigStatus.NOT_SENT;
}

function acceptedVersion({ exchange: { versionAccepted } }: TypeView): Row {
  return { versionInfo: versionAccepted };
}

function sentAt({ exchange: { inFlight } }: TypeView): Row {
  return timeAt(inFlight?.sentAt);
}

function timeAt(ms: number | undefined): Row {
  return ms === undefined ? {} : { lastUpdated: timestampFromMs(ms) };
}

/** Returns the last error of the client, until it has accepted a response. */
function errorOf(
  { exchange: { lastError } }: TypeView,
  delivery: Delivery,
  payload: AnyBytes | undefined,
): Row {
  if (lastError === undefined) return {};
  const { at, version } = lastError;
  const failed =
    delivery === "rejected" && payload !== undefined
      ? { failedConfiguration: { typeUrl: payload.typeUrl, value: payload.value } }
      : {};
  return {
    errorState: {
      details: detailsOf(lastError),
      versionInfo: version,
      lastUpdateAttempt: timestampFromMs(at),
      ...failed,
    },
  };
}

/**
 * An entry in `client_features` of the caller: it requests one row per type, without names. Servers
 * that do not know it send a row for each resource.
 */
export const BY_TYPE = "xdstp.status.by-type";

const states: Readonly<Record<TypeStatus["state"], ConfigStatus>> = {
  SYNCED: ConfigStatus.SYNCED,
  STALE: ConfigStatus.STALE,
  NACKED: ConfigStatus.ERROR,
  NOT_SENT: ConfigStatus.NOT_SENT,
  REQUESTED: ConfigStatus.NOT_SENT,
};

/** Returns the text of a rejection, and the reference that the client had not accepted (S-ACK-21). */
function detailsOf({ code, message, missed }: LastError): string {
  const text = message === "" ? `code ${code}, without a text` : message;
  return missed === undefined ? text : `${text}; it ${missedText(missed)}`;
}

/**
 * Returns one row for one type of one client. Use it for thousands of clients with thousands of
 * resources (S-CSDS-4).
 */
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
