import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AnyBytes, Entry, ResourceSource, Topic } from "@xdstp/core";
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

/** Returns a payload for display. `undefined`: it is not shown. */
export type ShowPayload = (payload: AnyBytes) => AnyBytes | undefined;

/** Returns former states of resources that were replaced since. */
export type FormerStates = Pick<ResourceSource, "asOf">;

/**
 * Yields the rows of one type of one client: one for each resource, and one for each name that does
 * not exist (B-CSDS-2, S-CSDS-4).
 *
 * `version_info` is the version of the response that the client accepted last, as for `xds_config`
 * in csds.proto. `xds_config` is the resource that the client has, if the source still has that
 * state.
 */
export function* genericConfigs(
  view: TypeView,
  show: ShowPayload,
  former: FormerStates,
): Generator<ClientConfig_GenericXdsConfig> {
  const seen = new Set<string>();
  for (const topic of view.topics) {
    const members = topic.members();
    if (members.length === 0)
      yield rowOf(view, topic.interest.name, { configStatus: ConfigStatus.NOT_SENT });
    for (const entry of members) {
      const key = entryKey(entry, entry.name);
      if (seen.has(key)) continue;
      seen.add(entry.name).add(key);
      yield entryRow(view, topic, entry, show, former);
    }
  }
  for (const { name, resource } of view.exchange.inFlight?.entries ?? []) {
    if (resource === undefined && !seen.has(name))
      yield rowOf(view, name, { ...held(view), ...sentAt(view), configStatus: ConfigStatus.STALE });
  }
}

type Row = Omit<MessageInitShape<typeof ClientConfig_GenericXdsConfigSchema>, "$typeName">;

function rowOf({ typeUrl }: TypeView, name: string, row: Row): ClientConfig_GenericXdsConfig {
  return create(ClientConfig_GenericXdsConfigSchema, { typeUrl, name, ...row });
}

function entryRow(
  view: TypeView,
  topic: Topic,
  entry: Entry,
  show: ShowPayload,
  former: FormerStates,
): ClientConfig_GenericXdsConfig {
  if (entry.resource === undefined)
    return rowOf(view, entry.name, {
      configStatus: ConfigStatus.NOT_SENT,
      ...(entry.error !== undefined && { errorState: { details: entry.error.text } }),
    });
  const delivery = deliveryOf(view, topic, entry);
  const {
    acceptedUpTo,
    exchange: { acceptedAt },
  } = view;
  const hadOne = acceptedUpTo > 0 && entry.since <= acceptedUpTo;
  const holds = isHeld(view, entry, delivery) ? entry : formerOf(view, topic, entry, former);
  const payload = holds?.resource === undefined ? undefined : show(holds.resource.payload);
  return rowOf(view, entry.name, {
    configStatus: statusOf(delivery, hadOne),
    ...(hadOne && held(view)),
    ...(delivery === "in-flight" ? sentAt(view) : timeAt(hadOne ? acceptedAt : undefined)),
    ...(payload !== undefined && { xdsConfig: { typeUrl: payload.typeUrl, value: payload.value } }),
    ...(delivery !== "accepted" && errorOf(view, delivery, show(entry.resource.payload))),
  });
}

function statusOf(delivery: Delivery, hadOne: boolean): ConfigStatus {
  if (delivery === "accepted") return ConfigStatus.SYNCED;
  if (delivery === "rejected") return ConfigStatus.ERROR;
  return delivery === "in-flight" || hadOne ? ConfigStatus.STALE : ConfigStatus.NOT_SENT;
}

/**
 * Returns true if the client has this state. A full-state response repeats unchanged resources, so
 * a response in flight does not mean that the client lacks them.
 */
function isHeld(
  { removals, acceptedUpTo }: TypeView,
  { revision }: Entry,
  delivery: Delivery,
): boolean {
  return delivery === "accepted" || (removals === "absent" && revision <= acceptedUpTo);
}

/**
 * Returns the state that the client had accepted before this one. For an answer to a subscription
 * it is unknown whether the client had a state.
 */
function formerOf(
  { typeUrl, acceptedUpTo, exchange: { inFlight, rejected } }: TypeView,
  topic: Topic,
  { name, revision, since }: Entry,
  former: FormerStates,
): Entry | undefined {
  if (
    acceptedUpTo < since ||
    inFlight?.origin.answered.has(topic) === true ||
    rejected?.answered.has(topic) === true
  )
    return undefined;
  return acceptedUpTo < revision ? former.asOf?.(typeUrl, name, acceptedUpTo) : undefined;
}

function held({ exchange: { versionAccepted } }: TypeView): Row {
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
