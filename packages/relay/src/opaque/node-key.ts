import { createHash } from "node:crypto";

import type { BootstrapNode, NodeOptions } from "@xdstp/bootstrap";
import { type NodeClaim, XdsError } from "@xdstp/core";

type JsonObject = NonNullable<BootstrapNode["metadata"]>;
type JsonValue = JsonObject[string];

/** The node of a tenant upstream: the node of the relay with some fields of its clients. */
export interface TenantNode {
  readonly node: BootstrapNode;
  readonly userAgent?: NonNullable<NodeOptions["userAgent"]>;
}

/**
 * One field of a node: how to read it from a client, and how to set it in the node of the relay.
 */
interface Field {
  read(node: NodeClaim): JsonValue | undefined;
  put(tenant: TenantNode, value: JsonValue | undefined): TenantNode;
}

/** The fields of a key (`opaqueKey`). */
export interface NodeKey {
  /** Returns the values of a client by field. A field that the node does not have is `null`. */
  valuesOf(node: NodeClaim | undefined): NodeValues;
  /** Returns a short id, equal for equal values. */
  idOf(values: NodeValues): string;
  /**
   * Returns the node of the relay with these values, and nothing else of the client (B-RELAY-4).
   */
  nodeWith(own: TenantNode, values: NodeValues): TenantNode;
}

/** Values by field. */
export type NodeValues = Readonly<JsonObject>;

/**
 * Creates a key of these fields. Throws an XdsError, INVALID_ARGUMENT, for a field that a node does
 * not have.
 */
export function createNodeKey(names: readonly string[]): NodeKey {
  const fields = new Map(names.map((name) => [name, fieldOf(name)] as const));
  return {
    valuesOf: (node) =>
      Object.fromEntries(
        [...fields].map(([name, field]) => [name, (node && field.read(node)) ?? null]),
      ),
    idOf: (values) => createHash("sha256").update(sortedJson(values)).digest("base64url"),
    nodeWith: (own, values) =>
      [...fields].reduce(
        (tenant, [name, field]) => field.put(tenant, values[name] ?? undefined),
        own,
      ),
  };
}

const plain: Readonly<Record<string, Field>> = {
  id: {
    read: ({ id }) => id,
    put: (tenant, value) => ({ ...tenant, node: { ...tenant.node, id: textOf(value) } }),
  },
  cluster: {
    read: ({ cluster }) => cluster,
    put: (tenant, value) => ({ ...tenant, node: { ...tenant.node, cluster: textOf(value) } }),
  },
  user_agent_name: {
    read: ({ userAgentName }) => userAgentName,
    put: (tenant, value) => ({
      ...tenant,
      userAgent: { version: "", ...tenant.userAgent, name: textOf(value) },
    }),
  },
  "locality.region": placeField("region", 0),
  "locality.zone": placeField("zone", 1),
  "locality.sub_zone": placeField("subZone", 2),
};

function fieldOf(name: string): Field {
  const known = Object.hasOwn(plain, name) ? plain[name] : undefined;
  if (known !== undefined) return known;
  const [first, ...path] = name.split(".");
  if (first === "metadata" && path.length > 0 && path.every((part) => part !== ""))
    return metadataField(path);
  throw new XdsError(
    "INVALID_ARGUMENT",
    `opaqueKey: a node has no field ${JSON.stringify(name)}; there are ${Object.keys(plain).join(", ")} and metadata.KEY`,
    { rule: "B-RELAY-2" },
  );
}

function placeField(part: keyof NonNullable<NodeClaim["place"]>, index: number): Field {
  return {
    read({ place, locality }) {
      const value = place === undefined ? locality.split("/")[index] : place[part];
      return value === "" ? undefined : value;
    },
    put: (tenant, value) => ({
      ...tenant,
      node: {
        ...tenant.node,
        locality: {
          region: "",
          zone: "",
          subZone: "",
          ...tenant.node.locality,
          [part]: textOf(value),
        },
      },
    }),
  };
}

function metadataField(path: readonly string[]): Field {
  return {
    read: ({ metadata }) =>
      path.reduce<JsonValue | undefined>(
        (value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined),
        // Metadata arrives as a protobuf message, so it is valid JSON.
        metadata as JsonObject | undefined,
      ),
    put: (tenant, value) => ({
      ...tenant,
      node: { ...tenant.node, metadata: withValue(tenant.node.metadata, path, value) },
    }),
  };
}

function withValue(
  held: JsonValue | undefined,
  [first = "", ...rest]: readonly string[],
  value: JsonValue | undefined,
): JsonObject {
  const { [first]: old, ...others } = isObject(held) ? held : {};
  const next = rest.length === 0 ? value : withValue(old, rest, value);
  return { ...others, ...(next !== undefined && { [first]: next }) };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Sorts the keys, since clients may send equal metadata with keys in any order. */
function sortedJson(value: JsonValue): string {
  return JSON.stringify(value, (_, inner: JsonValue) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
