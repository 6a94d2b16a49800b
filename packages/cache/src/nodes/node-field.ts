import { XdsError } from "@xdstp/core";

import type { CacheNode } from "./create-node-caches.ts";

const fields: Readonly<Record<string, (node: CacheNode) => unknown>> = {
  id: ({ id }) => id,
  cluster: ({ cluster }) => cluster,
  user_agent_name: ({ userAgentName }) => userAgentName,
  "locality.region": ({ place }) => place?.region,
  "locality.zone": ({ place }) => place?.zone,
  "locality.sub_zone": ({ place }) => place?.subZone,
};

/**
 * A `keyOf` that reads one field of a node: `id`, `cluster`, `user_agent_name`, `locality.region`, `locality.zone`, `locality.sub_zone` or `metadata.PATH`, such as `metadata.team.name`.
 * Texts, numbers and booleans are keys; a node without the field, or with another value, has none. Throws INVALID_ARGUMENT for a field that a node does not have.
 */
export function nodeField(name: string): (node: CacheNode) => string | undefined {
  const read = Object.hasOwn(fields, name) ? fields[name] : metadataAt(name);
  if (read === undefined)
    throw new XdsError(
      "INVALID_ARGUMENT",
      `a node has no field ${JSON.stringify(name)}; the fields are ${Object.keys(fields).join(", ")} and metadata.PATH`,
    );
  return (node) => {
    const value = read(node);
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;
  };
}

function metadataAt(name: string): ((node: CacheNode) => unknown) | undefined {
  const [first, ...path] = name.split(".");
  if (first !== "metadata" || path.length === 0 || path.includes("")) return undefined;
  return ({ metadata }) =>
    path.reduce<unknown>(
      (value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined),
      metadata,
    );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
