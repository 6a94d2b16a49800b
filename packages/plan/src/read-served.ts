import { fromBinary, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { nodeField } from "@xdstp/cache";
import { XdsError } from "@xdstp/core";
import { readResource } from "@xdstp/protocol/client";
import type { Node } from "@xdstp/protos/discovery";
import {
  type ClientConfig,
  type ClientConfig_GenericXdsConfig,
  type ClientStatusRequestSchema,
  type ClientStatusResponse,
  ConfigStatus,
} from "@xdstp/protos/status";

import { compare } from "./compare.ts";
import type { ClientGroup, PlannedResource, ServedState, Subscription } from "./plan.ts";

/** Sends a request for client status (CSDS) to a server. */
export type AskStatus = (
  request: Omit<MessageInitShape<typeof ClientStatusRequestSchema>, "$typeName">,
) => Promise<Pick<ClientStatusResponse, "config">>;

/** Client features that the requests have; see `@xdstp/server`. */
const RESOURCES = "xdstp.status.resources";
const SUBSCRIPTIONS = "xdstp.status.subscriptions";
const SERVER_FACTS = "xdstp.status.server";
const BY_TYPE = "xdstp.status.by-type";
const VIEW_KEY = "xdstp.view";

/** Names in one request for contents. */
const namesPerRequest = 1_000;

/**
 * Reads what a server has and who is connected, from its client status. The content of resources is fetched only where `next` has another version or none.
 *
 * Rejects with an XdsError: FAILED_PRECONDITION if the server does not list its resources, PERMISSION_DENIED if it shows the caller only some of its clients, ABORTED if its content changes meanwhile, and what `ask` rejects with.
 * @param next - The resources that the server would have
 */
export async function readServed(
  ask: AskStatus,
  next: readonly PlannedResource[],
  {
    nodeKey = "cluster",
  }: {
    /** The field of a node that chooses its view, where the server has no view with content yet, as `nodeField` of `@xdstp/cache` takes it. Default: `cluster`. */
    readonly nodeKey?: string;
  } = {},
): Promise<ServedState> {
  const { config } = await ask({
    excludeResourceContents: true,
    node: {
      userAgentName: "xdstp",
      clientFeatures: [RESOURCES, SUBSCRIPTIONS, SERVER_FACTS, BY_TYPE],
    },
  });
  const hiddenStreams = hiddenStreamsIn(config);
  checkListed(config, hiddenStreams);
  const resources = resourcesIn(config);
  const viewOf = viewsOf([...resources, ...next], nodeKey);
  const clients = config.filter(
    ({ clientScope, node }) => node !== undefined || !isOurs(clientScope),
  );
  return {
    resources: await withContents(ask, resources, next),
    groups: groupsOf(clients, viewOf),
    hiddenStreams: hiddenStreams ?? 0,
  };
}

function isOurs(scope: string): boolean {
  return scope.startsWith("xdstp.status.");
}

function checkListed(config: readonly ClientConfig[], hiddenStreams: number | undefined): void {
  if (config.some(isListed)) return;
  if (hiddenStreams !== undefined && hiddenStreams > 0) throw notAllowed;
  throw new XdsError(
    "FAILED_PRECONDITION",
    hiddenStreams === undefined
      ? "does not list what it serves: only an `xdstp serve` of this release or a newer one does, so what would change is not known"
      : "does not list what it serves to this caller: it is a relay or an older `xdstp serve`, or its policy shows the caller only some clients (a rule with `status: all` shows all)",
  );
}

const notAllowed = new XdsError(
  "PERMISSION_DENIED",
  "shows this caller only some of its clients; a policy rule with `status: all` shows all",
);

function isListed({ clientScope, node }: ClientConfig): boolean {
  return (
    node === undefined && (clientScope === RESOURCES || clientScope.startsWith(`${RESOURCES}/`))
  );
}

/** undefined: the server is not of this stack. */
function hiddenStreamsIn(config: readonly ClientConfig[]): number | undefined {
  const facts = config.find(
    ({ clientScope, node }) => clientScope === SERVER_FACTS && node === undefined,
  );
  if (facts === undefined) return undefined;
  const [count = 0] = facts.genericXdsConfigs.flatMap(({ name, xdsConfig }) => {
    const { hiddenStreams } = name === "" ? structOf(xdsConfig) : {};
    return typeof hiddenStreams === "number" ? [hiddenStreams] : [];
  });
  return count;
}

function resourcesIn(config: readonly ClientConfig[]): readonly PlannedResource[] {
  return config.filter(isListed).flatMap(({ clientScope, genericXdsConfigs }) => {
    const view = clientScope === RESOURCES ? undefined : clientScope.slice(RESOURCES.length + 1);
    return genericXdsConfigs.map((row) => ({
      ...resourceOf(row),
      ...(view !== undefined && { view }),
    }));
  });
}

function resourceOf({
  typeUrl,
  name,
  versionInfo,
  xdsConfig,
}: ClientConfig_GenericXdsConfig): PlannedResource {
  const bytes = Buffer.from(xdsConfig?.value ?? []);
  const { payload, aliases, ttlMs, noStore, constraints, metadata } = readResource(
    bytes,
    0,
    bytes.length,
    typeUrl,
  );
  return {
    typeUrl,
    resource: {
      name,
      version: versionInfo,
      payload: payload ?? { typeUrl, value: new Uint8Array() },
      ...(aliases && { aliases }),
      ...(ttlMs !== undefined && { ttlMs }),
      ...(noStore !== undefined && { noStore }),
      ...(constraints && { constraints }),
      ...(metadata && { metadata }),
    },
  };
}

/** Fetches the contents of what changes or is removed. */
async function withContents(
  ask: AskStatus,
  resources: readonly PlannedResource[],
  next: readonly PlannedResource[],
): Promise<readonly PlannedResource[]> {
  const wanted = new Set(compare(resources, next).pairs.flatMap(({ before }) => before ?? []));
  const names = [...wanted].map(({ typeUrl, resource: { name } }) => ({ typeUrl, name }));
  const found = new Map<string, PlannedResource>();
  for (let at = 0; at < names.length; at += namesPerRequest) {
    const byType = Map.groupBy(names.slice(at, at + namesPerRequest), ({ typeUrl }) => typeUrl);
    const requested = Object.fromEntries(
      [...byType].map(([typeUrl, list]) => [typeUrl, list.map(({ name }) => name)]),
    );
    const { config } = await ask({
      node: {
        userAgentName: "xdstp",
        clientFeatures: [RESOURCES, BY_TYPE],
        metadata: { [RESOURCES]: requested },
      },
      // No client: their rows are known.
      nodeMatchers: [{ nodeId: { matchPattern: { case: "exact", value: noClient } } }],
    });
    for (const resource of resourcesIn(config)) found.set(versionKey(resource), resource);
  }
  return resources.map((resource) => {
    if (!wanted.has(resource)) return resource;
    const whole = found.get(versionKey(resource));
    if (whole === undefined)
      throw new XdsError("ABORTED", "has changed its resources while they were read; try again");
    return whole;
  });
}

/** The id of a node that does not exist. */
const noClient = "xdstp.plan: no client";

function versionKey({ typeUrl, view, resource: { name, version } }: PlannedResource): string {
  return JSON.stringify([typeUrl, view, name, version]);
}

/** The view of a client. undefined: that of all clients. */
type ViewOf = (node: Node | undefined) => string | undefined;

/** A server shows the view of a client as soon as one view has content. Before that the node says it, as far as client status shows it. */
function viewsOf(resources: readonly PlannedResource[], nodeKey: string): ViewOf {
  if (resources.every(({ view }) => view === undefined)) return () => undefined;
  const keyOf = nodeField(nodeKey);
  return (node) => {
    const shown = node?.metadata?.[VIEW_KEY];
    if (typeof shown === "string" || node === undefined) return isText(shown) ? shown : undefined;
    const { id, cluster, userAgentName, clientFeatures, locality } = node;
    return keyOf({
      id,
      cluster,
      userAgentName,
      userAgentVersion: "",
      clientFeatures,
      locality: "",
      ...(locality && { place: locality }),
    });
  };
}

/** Clients that are served alike, the largest group first. */
function groupsOf(config: readonly ClientConfig[], viewOf: ViewOf): readonly ClientGroup[] {
  const lists = new Map<number, JsonObject>();
  const groups = new Map<string, ClientGroup & { readonly clients: string[] }>();
  for (const { node, clientScope, genericXdsConfigs } of config) {
    const rows = genericXdsConfigs.map((row) => ({ row, struct: structOf(row.xdsConfig) }));
    for (const { struct } of rows)
      if (typeof struct.list === "number" && "names" in struct) lists.set(struct.list, struct);
    const { id = "", userAgentName, userAgentVersionType, clientFeatures } = node ?? {};
    const view = viewOf(node);
    const key = JSON.stringify([
      view,
      userAgentName,
      userAgentVersionType?.value,
      clientFeatures,
      rows.map(({ row, struct: { variant, service, list } }) => [
        row.typeUrl,
        row.configStatus,
        variant,
        service,
        list,
      ]),
    ]);
    const group = groups.get(key) ?? {
      clients: [],
      node,
      ...(view !== undefined && { view }),
      ...groupOf(rows, lists),
    };
    groups.set(key, group);
    group.clients.push(id === "" ? clientScope : id);
  }
  return [...groups.values()].sort((one, other) => other.clients.length - one.clients.length);
}

interface Row {
  readonly row: ClientConfig_GenericXdsConfig;
  readonly struct: JsonObject;
}

function groupOf(
  rows: readonly Row[],
  lists: ReadonlyMap<number, JsonObject>,
): Pick<ClientGroup, "variant" | "service" | "subscriptions" | "sees" | "behind"> {
  const [first] = rows;
  const service = first?.struct.service;
  const listOf = ({ struct: { list } }: Row): JsonObject =>
    (typeof list === "number" ? lists.get(list) : undefined) ?? {};
  const sees = rows.flatMap((row) => {
    const names = listOf(row).sees;
    return Array.isArray(names) ? [[row.row.typeUrl, names.filter(isText)] as const] : [];
  });
  return {
    variant: first?.struct.variant === "sotw" ? "sotw" : "delta",
    ...(typeof service === "string" && { service }),
    subscriptions: new Map(
      rows.map((row) => [row.row.typeUrl, subscriptionsIn(listOf(row).names)] as const),
    ),
    ...(sees.length > 0 && { sees: new Map(sees) }),
    behind: new Map(
      rows.flatMap(({ row: { typeUrl, configStatus } }) => {
        const state = behind.get(configStatus);
        return state === undefined ? [] : [[typeUrl, state] as const];
      }),
    ),
  };
}

const behind: ReadonlyMap<ConfigStatus, "unanswered" | "rejected"> = new Map([
  [ConfigStatus.STALE, "unanswered"],
  [ConfigStatus.ERROR, "rejected"],
]);

function subscriptionsIn(names: JsonValue | undefined): readonly Subscription[] {
  if (!Array.isArray(names)) return [];
  return names.flatMap((one): readonly Subscription[] => {
    if (typeof one === "string") return [{ name: one }];
    if (typeof one !== "object" || one === null || Array.isArray(one)) return [];
    const { name, parameters } = one;
    if (typeof name !== "string") return [];
    return [{ name, parameters: textsOf(parameters) }];
  });
}

function textsOf(value: JsonValue | undefined): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => isText(entry[1])),
  );
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string";
}

function structOf(any: { readonly value: Uint8Array } | undefined): JsonObject {
  if (any === undefined) return {};
  try {
    return toJson(StructSchema, fromBinary(StructSchema, any.value));
  } catch {
    return {};
  }
}
