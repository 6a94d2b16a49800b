import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Cache } from "@xdstp/cache";
import { type AnyBytes, type StoredResource, XdsError } from "@xdstp/core";
import type { Federation } from "@xdstp/federation";
import type { CallPeer, MethodRouter } from "@xdstp/grpc/server";
import type { WantState, WantStatus } from "@xdstp/protocol/client";
import { NodeSchema } from "@xdstp/protos/discovery";
import {
  type ClientConfig,
  type ClientConfig_GenericXdsConfigSchema,
  ClientConfigSchema,
  ClientResourceStatus,
  ClientStatusDiscoveryService,
  type ClientStatusRequest,
  type ClientStatusResponse,
  ClientStatusResponseSchema,
} from "@xdstp/protos/status";

import type { Client } from "./client.ts";

/** Converts a payload for display, for example without secrets. */
type ShowPayload = (payload: AnyBytes) => AnyBytes;

/** The caches and the node that `dump` reports. */
interface DumpSource {
  readonly caches: Iterable<Fed>;
  /** The encoded node. */
  readonly node: Uint8Array;
  readonly scope: string;
  /** `undefined`: the dump has no contents (`exclude_resource_contents`). */
  readonly show: ShowPayload | undefined;
}

/** Returns the state of a client as a CSDS message. */
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

/**
 * The states of A88. For a name with a cached resource, the state describes a newer version than
 * the cached one.
 */
type ResourceState =
  "requested" | "does_not_exist" | "acked" | "nacked" | "received_error" | "timeout";

/** The state of one resource, or of a name without a resource. */
export interface StatusRow {
  readonly typeUrl: string;
  readonly name: string;
  readonly state: ResourceState;
  /** The cached resource. */
  readonly resource?: StoredResource;
  /** When the last update arrived, in milliseconds since the epoch. 0: never. */
  readonly at: number;
  /** The newer version that was rejected. */
  readonly rejected?: WantStatus["rejected"][number];
  /** The reason why the resource is absent, or why the cached one may be out of date. */
  readonly error?: XdsError;
}

/** A cache, and the federation that feeds it. */
export interface Fed {
  readonly cache: Cache;
  readonly federation: Federation;
}

/**
 * Returns the rows of several caches. A name that is subscribed at several sources has one row for
 * each. For one server, type and name, caches with the same version share one row, and a row
 * without a resource is left out if another cache has a row.
 */
export function allRows(caches: Iterable<Fed>): Iterable<StatusRow> {
  const rows = new Map<string, readonly StatusRow[]>();
  for (const fed of caches)
    for (const [id, row] of statusRows(fed)) rows.set(id, withRow(rows.get(id) ?? [], row));
  return [...rows.values()].flat();
}

function withRow(rows: readonly StatusRow[], row: StatusRow): readonly StatusRow[] {
  if (
    rows.some(
      ({ resource }) => row.resource === undefined || resource?.given === row.resource.given,
    )
  )
    return rows;
  return [...rows.filter(({ resource }) => resource !== undefined), row];
}

/**
 * Returns a row for each resource, and for each name without a resource (B-CSDS-2, C-CSDS-3), with
 * a key of server, type and name. If a name was requested from several servers, the last server in
 * use counts.
 */
function statusRows({ cache, federation }: Fed): Iterable<readonly [id: string, row: StatusRow]> {
  const rows = new Map<string, readonly [id: string, row: StatusRow]>();
  for (const { id, status } of federation.status()) {
    for (const { typeUrl, wants } of status?.types ?? []) {
      for (const want of wants)
        for (const row of rowsOf(cache, typeUrl, want))
          rows.set(`${typeUrl} ${row.name}`, [`${id}\n${typeUrl} ${row.name}`, row]);
    }
  }
  return rows.values();
}

function* rowsOf(cache: Cache, typeUrl: string, want: WantStatus): Generator<StatusRow> {
  const { interest, at, state, error } = want;
  const rejected = new Map(want.rejected.map((one) => [one.name, one]));
  const entries = cache.topic(typeUrl, interest).members();
  const held = entries.flatMap(({ name, resource }) =>
    resource === undefined ? [] : { name, resource },
  );
  for (const { name, resource } of held) {
    const row = { typeUrl, name, resource, at };
    const bad = rejected.get(name);
    if (bad !== undefined) yield { ...row, state: "nacked", rejected: bad };
    else
      yield state === "failed" && error !== undefined
        ? { ...row, state: failureOf(state, error), error }
        : { ...row, state: "acked" };
    rejected.delete(name);
  }
  for (const bad of rejected.values())
    yield { typeUrl, name: bad.name, at: 0, state: "nacked", rejected: bad };
  if (held.length + want.rejected.length > 0) return;
  const why = error ?? entries.find(({ name }) => name === interest.name)?.error;
  yield {
    typeUrl,
    name: interest.name,
    at: 0,
    state: failureOf(state, why),
    ...(why !== undefined && { error: why }),
  };
}

/**
 * A name without a response in time counts as missing, unless the server asked for another
 * conclusion (C-GRPC-10).
 */
function failureOf(state: WantState, error: XdsError | undefined): ResourceState {
  switch (state) {
    case "requested":
      return "requested";
    case "cached":
      return "acked";
    case "rejected":
      return "nacked";
    case "late":
      return error?.code === "UNAVAILABLE" ? "timeout" : "does_not_exist";
    default:
      return error === undefined || error.code === "NOT_FOUND"
        ? "does_not_exist"
        : "received_error";
  }
}

/**
 * Returns the CSDS service for the clients of this process, which differ in their scopes
 * (C-CSDS-6). Use it in `routes` of a server whose own client status is off:
 * `createServer({ source, clientStatus: false, routes: clientStatusRoutes(() => [client]) })`.
 * A request with `node_matchers` gets INVALID_ARGUMENT, since there is one node only (B-CSDS-5).
 * Secrets are blanked.
 */
export function clientStatusRoutes(
  clients: () => Iterable<Pick<Client, "dump">>,
  mayRead: (peer: CallPeer) => boolean | Promise<boolean> = () => true,
): (router: MethodRouter) => void {
  const answer = async (
    { nodeMatchers, excludeResourceContents }: ClientStatusRequest,
    peer: CallPeer,
  ): Promise<ClientStatusResponse> => {
    if (!(await mayRead(peer)))
      throw new XdsError("PERMISSION_DENIED", "this caller may not read the status of the client");
    if (nodeMatchers.length > 0)
      throw new XdsError(
        "INVALID_ARGUMENT",
        "node_matchers are for control planes; a client reports its own status only",
        { rule: "B-CSDS-5" },
      );
    const config = await Promise.all(
      [...clients()].map((client) => client.dump({ contents: !excludeResourceContents })),
    );
    return create(ClientStatusResponseSchema, { config });
  };
  return (router) => {
    router.service(ClientStatusDiscoveryService, {
      fetchClientStatus: (request, { peer }) => answer(request, peer),
      async *streamClientStatus(requests, { peer }) {
        for await (const request of requests) yield await answer(request, peer);
      },
    });
  };
}
