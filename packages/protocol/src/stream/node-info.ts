import type { NodeInfo } from "@xdstp/core";

/**
 * Returns true if a client reads SotW resources that are wrapped in `Resource`. Both spellings of
 * the feature have the same meaning (S-NODE-6).
 */
export function takesWrapped(node: NodeInfo | undefined): boolean {
  return (
    node?.clientFeatures.some(
      (feature) =>
        feature === "xds.config.supports-resource-in-sotw" ||
        feature === "xds.config.resource-in-sotw",
    ) ?? false
  );
}

/** Returns true if a client announces that it supports TTLs (S-TTL-1). */
export function announcesTtl(node: NodeInfo | undefined): boolean {
  return node?.clientFeatures.includes("xds.config.supports-resource-ttl") ?? false;
}

/**
 * Returns the length in UTF-16 units of everything that is stored of a node. The client chooses it,
 * so it has a limit.
 */
export function lengthOfNode({
  id,
  cluster,
  userAgentName,
  userAgentVersion,
  locality,
  clientFeatures,
  dynamicParameters,
}: NodeInfo): number {
  const length = lengthOf([id, cluster, userAgentName, userAgentVersion, locality]);
  return length + lengthOf(clientFeatures) + lengthOfParameters(dynamicParameters);
}

function lengthOfParameters(parameters: NodeInfo["dynamicParameters"]): number {
  if (parameters === undefined) return 0;
  const texts = Object.entries(parameters).flatMap(([typeUrl, params]) => [
    typeUrl,
    ...Object.entries(params).flat(),
  ]);
  return lengthOf(texts);
}

function lengthOf(texts: readonly string[]): number {
  let length = texts.length;
  for (const text of texts) length += text.length;
  return length;
}

/**
 * Returns the node of a stream after a further message with a node. The first node stays in force,
 * but the new dynamic parameters replace the earlier ones (S-NODE-2, S-NODE-3). The same object if
 * they are equal.
 */
export function nodeAfter(
  held: NodeInfo | undefined,
  given: NodeInfo | undefined,
): NodeInfo | undefined {
  if (held === undefined || given === undefined) return held ?? given;
  if (textOf(held.dynamicParameters) === textOf(given.dynamicParameters)) return held;
  const { id, cluster, userAgentName, userAgentVersion, locality, clientFeatures } = held;
  const first = { id, cluster, userAgentName, userAgentVersion, locality, clientFeatures };
  return given.dynamicParameters === undefined
    ? first
    : { ...first, dynamicParameters: given.dynamicParameters };
}

function textOf(parameters: NodeInfo["dynamicParameters"] = {}): string {
  return JSON.stringify(
    Object.entries(parameters)
      .map(([typeUrl, params]) => [typeUrl, Object.entries(params).sort()])
      .sort(),
  );
}

/** The fields of a decoded `envoy.config.core.v3.Node` that are read. */
export interface NodeLike {
  /** `node.id`. */
  readonly id: string;
  /** `node.cluster`. */
  readonly cluster: string;
  /** `node.user_agent_name`. */
  readonly userAgentName: string;
  /** `node.user_agent_version` or `node.user_agent_build_version`. */
  readonly userAgentVersionType:
    | { readonly case: "userAgentVersion"; readonly value: string }
    | { readonly case: "userAgentBuildVersion"; readonly value: BuildVersionLike }
    | { readonly case: undefined };
  /** `node.locality`. Absent: none. */
  readonly locality?:
    { readonly region: string; readonly zone: string; readonly subZone: string } | undefined;
  /** `node.client_features`. */
  readonly clientFeatures: readonly string[];
  /** `node.dynamic_parameters`, by type URL. Absent: none. */
  readonly dynamicParameters?: Readonly<
    Record<string, { readonly params: Readonly<Record<string, string>> }>
  >;
}

interface BuildVersionLike {
  readonly version?:
    | { readonly majorNumber: number; readonly minorNumber: number; readonly patch: number }
    | undefined;
}

/** Returns the fields of a decoded node that are stored. */
export function nodeInfoOf(node: NodeLike): NodeInfo {
  const { region, zone, subZone } = node.locality ?? { region: "", zone: "", subZone: "" };
  return {
    id: node.id,
    cluster: node.cluster,
    userAgentName: node.userAgentName,
    userAgentVersion: versionOf(node.userAgentVersionType),
    locality: [region, zone, subZone].join("/").replace(/\/+$/, ""),
    clientFeatures: node.clientFeatures,
    ...dynamicParametersOf(node),
  };
}

function dynamicParametersOf({
  dynamicParameters = {},
}: NodeLike): Pick<NodeInfo, "dynamicParameters"> {
  const entries = Object.entries(dynamicParameters).map(
    ([typeUrl, { params }]) => [typeUrl, { ...params }] as const,
  );
  return entries.length === 0 ? {} : { dynamicParameters: Object.fromEntries(entries) };
}

function versionOf(type: NodeLike["userAgentVersionType"]): string {
  if (type.case === "userAgentVersion") return type.value;
  const version = type.case === "userAgentBuildVersion" ? type.value.version : undefined;
  return version === undefined
    ? ""
    : [version.majorNumber, version.minorNumber, version.patch].join(".");
}

/**
 * Returns why the node of a message is rejected on a stream that has this node (S-NODE-2,
 * S-NODE-3). undefined: it is accepted.
 */
export function checkNode(
  held: NodeInfo | undefined,
  given: NodeInfo | undefined,
): string | undefined {
  if (held === undefined) return given === undefined ? "the first message has no node" : undefined;
  if (given === undefined) return undefined;
  return given.id === held.id && given.cluster === held.cluster
    ? undefined
    : "node.id or node.cluster changed on the stream";
}
