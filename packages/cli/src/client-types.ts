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

/** The state of a resource: as a management server sees it (SYNCED, STALE, NOT_SENT, NACKED), or as a client reports it. */
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
  /** The version that the client uses. Empty: none, or not reported. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt?: number;
  /** The reason why the resource was rejected or is not available. The text comes from the other program and is not trusted. */
  readonly error?: { readonly message: string; readonly version: string; readonly at?: number };
}

/** One type of a client. */
export interface ClientType {
  readonly typeUrl: string;
  /** The worst state of its resources. */
  readonly state: ResourceState;
  readonly resources: readonly ClientResource[];
}

/** One client in the answer of a server. None of these facts is verified. */
export interface StatusClientRow {
  readonly id: string;
  readonly cluster: string;
  readonly userAgent: string;
  /** The part of the program, or its address. It distinguishes clients with the same id. */
  readonly scope: string;
  /** The view of the configuration that this client is served: the node key of `xdstp serve`, or the tenant of `xdstp relay`. Absent: the view of all clients, or the server is not of this stack. */
  readonly view?: string;
  readonly types: readonly ClientType[];
}

/** Returns the clients in the answer of any CSDS server, with their types. */
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

/** The field of `node.metadata` that has the view in answers of servers of this stack. These servers add their facts ({@link isOfServer}) and omit the metadata of the client. Other servers forward the client's metadata, so a client can write anything into this field. */
const VIEW_KEY = "xdstp.view";

function viewOf({ node }: ClientConfig): Pick<StatusClientRow, "view"> {
  const value = node?.metadata?.[VIEW_KEY];
  return typeof value === "string" ? { view: value } : {};
}

/** The states from the worst to the best. A type has the worst state of its resources. A missing name counts as good if the type has other resources. */
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

/** Reads the old form of an answer, from servers without `generic_xds_configs`: it has one state for each type, and no names. */
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
