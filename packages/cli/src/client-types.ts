import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  ClientConfigStatus,
  type ClientConfig,
  type ClientConfig_GenericXdsConfig,
  type ClientStatusResponse,
  ClientResourceStatus,
  ConfigStatus,
  type PerXdsConfig,
} from "@xdstp/protos/status";
import { isOfServer } from "./server-facts.ts";
import { isOfRejections } from "./rejected-versions.ts";

/** How things stand with a resource: as a management server sees it (SYNCED, STALE, NOT_SENT, NACKED), or as a client says of itself. */
export type ResourceState =
  | "SYNCED"
  | "STALE"
  | "NACKED"
  | "NOT_SENT"
  | "REQUESTED"
  | "MISSING"
  | "ERROR"
  | "TIMEOUT"
  | "UNKNOWN";

/** One resource of a client. */
export interface ClientResource {
  readonly name: string;
  readonly state: ResourceState;
  /** The version that the client holds; empty: none, or not told. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt?: number;
  /** What was rejected, or could not be had; text of a stranger. */
  readonly error?: { readonly message: string; readonly version: string; readonly at?: number };
}

/** One type of a client. */
export interface ClientType {
  readonly typeUrl: string;
  /** The worst of its resources. */
  readonly state: ResourceState;
  readonly resources: readonly ClientResource[];
}

/** One client, as a server tells of it. Nothing of it is verified. */
export interface StatusClientRow {
  readonly id: string;
  readonly cluster: string;
  readonly userAgent: string;
  /** Which part of the program, or where it comes from: tells clients of one id apart. */
  readonly scope: string;
  /** The view of the configuration that it is served: the node key of `xdstp serve`, the tenant of `xdstp relay`. Absent: that of all clients, or the server is not of this stack. */
  readonly view?: string;
  readonly types: readonly ClientType[];
}

/** The answer of any CSDS server, client by client and type by type. */
export function clientRows({ config }: ClientStatusResponse): readonly StatusClientRow[] {
  const isOurs = config.some(isOfServer);
  return config
    .filter((one) => !isOfRejections(one) && !isOfServer(one))
    .map((one) => ({ ...clientRow(one), ...(isOurs && viewOf(one)) }));
}

function clientRow({
  node,
  clientScope,
  genericXdsConfigs,
  xdsConfig,
}: ClientConfig): StatusClientRow {
  const version =
    node?.userAgentVersionType.case === "userAgentVersion" ? node.userAgentVersionType.value : "";
  const byType = Map.groupBy(genericXdsConfigs, ({ typeUrl }) => typeUrl);
  const types = [...byType].map(([typeUrl, configs]) => typeOf(typeUrl, configs.map(resourceOf)));
  return {
    id: node?.id ?? "",
    cluster: node?.cluster ?? "",
    scope: clientScope,
    userAgent: [node?.userAgentName ?? "", version].filter((part) => part !== "").join(" "),
    types: types.length > 0 ? types : xdsConfig.flatMap(oldType),
  };
}

/** The field of `node.metadata` with the view, in answers of servers of this stack. Those add their facts ({@link isOfServer}) and leave out the metadata of the client. Other servers pass the metadata on, and a client can write anything into this field. */
const VIEW_KEY = "xdstp.view";

function viewOf({ node }: ClientConfig): Pick<StatusClientRow, "view"> {
  const value = node?.metadata?.[VIEW_KEY];
  return typeof value === "string" ? { view: value } : {};
}

/** From bad to good; a type is as bad as its worst resource. That a name does not exist is not trouble next to others that do. */
const order: readonly ResourceState[] = [
  "NACKED",
  "ERROR",
  "STALE",
  "TIMEOUT",
  "REQUESTED",
  "UNKNOWN",
  "SYNCED",
  "MISSING",
  "NOT_SENT",
];

function typeOf(typeUrl: string, resources: readonly ClientResource[]): ClientType {
  return {
    typeUrl,
    state:
      order.find((state) => resources.some((resource) => resource.state === state)) ?? "UNKNOWN",
    resources,
  };
}

const serverStates: ReadonlyMap<number, ResourceState> = new Map<number, ResourceState>([
  [ConfigStatus.SYNCED, "SYNCED"],
  [ConfigStatus.NOT_SENT, "NOT_SENT"],
  [ConfigStatus.STALE, "STALE"],
  [ConfigStatus.ERROR, "NACKED"],
]);

const clientStates: ReadonlyMap<number, ResourceState> = new Map<number, ResourceState>([
  [ClientResourceStatus.REQUESTED, "REQUESTED"],
  [ClientResourceStatus.DOES_NOT_EXIST, "MISSING"],
  [ClientResourceStatus.ACKED, "SYNCED"],
  [ClientResourceStatus.NACKED, "NACKED"],
  [ClientResourceStatus.RECEIVED_ERROR, "ERROR"],
  [ClientResourceStatus.TIMEOUT, "TIMEOUT"],
]);

function resourceOf({
  name,
  versionInfo,
  configStatus,
  clientStatus,
  lastUpdated,
  errorState,
}: ClientConfig_GenericXdsConfig): ClientResource {
  const at = errorState?.lastUpdateAttempt;
  return {
    name,
    version: versionInfo,
    state: serverStates.get(configStatus) ?? clientStates.get(clientStatus) ?? "UNKNOWN",
    ...(lastUpdated !== undefined && { updatedAt: timestampMs(lastUpdated) }),
    ...(errorState !== undefined && {
      error: {
        message: errorState.details,
        version: errorState.versionInfo,
        ...(at !== undefined && { at: timestampMs(at) }),
      },
    }),
  };
}

const oldStates: ReadonlyMap<number, ResourceState> = new Map<number, ResourceState>([
  [ClientConfigStatus.CLIENT_REQUESTED, "REQUESTED"],
  [ClientConfigStatus.CLIENT_ACKED, "SYNCED"],
  [ClientConfigStatus.CLIENT_NACKED, "NACKED"],
  [ClientConfigStatus.CLIENT_RECEIVED_ERROR, "ERROR"],
]);

const oldTypes = {
  listenerConfig: "envoy.config.listener.v3.Listener",
  clusterConfig: "envoy.config.cluster.v3.Cluster",
  routeConfig: "envoy.config.route.v3.RouteConfiguration",
  scopedRouteConfig: "envoy.config.route.v3.ScopedRouteConfiguration",
  endpointConfig: "envoy.config.endpoint.v3.ClusterLoadAssignment",
} as const;

/** The form of servers that do not know the generic one: a state for a type, and no names. */
function oldType({ status, clientStatus, perXdsConfig }: PerXdsConfig): readonly ClientType[] {
  if (perXdsConfig.case === undefined) return [];
  const version = "versionInfo" in perXdsConfig.value ? perXdsConfig.value.versionInfo : "";
  const state = serverStates.get(status) ?? oldStates.get(clientStatus) ?? "UNKNOWN";
  return [
    {
      typeUrl: `type.googleapis.com/${oldTypes[perXdsConfig.case]}`,
      state,
      resources: [{ name: "", state, version }],
    },
  ];
}
