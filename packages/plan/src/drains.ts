import { shortNameOf } from "@xdstp/resource-types";

import type { Drain, FieldChange, ResourceChange } from "./plan.ts";

/** What Envoy does with connections when a resource of a type changes: a row for each case. */
interface DrainRow extends Drain {
  /** The short name of the type. */
  readonly type: string;
  readonly action: ResourceChange["action"];
  /** The row is for changes of nothing but these fields. Absent: whatever changes. */
  readonly only?: readonly string[];
}

/** Of each type and action, the first row that fits. Measured with Envoy 1.40: the statistics of its listener manager and of a cluster, and the connections that its endpoints had. */
const rows: readonly DrainRow[] = [
  {
    type: "listeners",
    action: "removed",
    text: "Envoy stops accepting on it, and drains its connections (600 s by default: --drain-time-s)",
    source: "measured",
  },
  {
    type: "listeners",
    action: "changed",
    only: ["filterChains", "defaultFilterChain"],
    text: "Envoy drains the connections of filter chains that change or are removed; those of other filter chains stay",
    source: "measured",
  },
  {
    type: "listeners",
    action: "changed",
    text: "Envoy replaces the listener, and drains all its connections (600 s by default: --drain-time-s)",
    source: "measured",
  },
  {
    type: "clusters",
    action: "removed",
    text: "Envoy closes the connections to its endpoints, each when its requests have ended",
    source: "measured",
  },
  {
    type: "clusters",
    action: "changed",
    text: "Envoy replaces the cluster, and closes the connections to its endpoints, each when its requests have ended",
    source: "measured",
  },
  {
    type: "endpoints",
    action: "removed",
    text: "Envoy keeps the endpoints until the cluster is removed or changed",
    source: "measured",
  },
  {
    type: "endpoints",
    action: "changed",
    text: "Envoy closes the connections to endpoints that are removed, each when its requests have ended",
    source: "measured",
  },
];

/** What Envoy does with connections; undefined: nothing. */
export function drainOf(
  typeUrl: string,
  action: ResourceChange["action"],
  fields: readonly FieldChange[] | undefined,
): Drain | undefined {
  const type = shortNameOf(typeUrl);
  const changed = fields?.map(({ path }) => /^[^.[]*/.exec(path)?.[0] ?? "") ?? [];
  const row = rows.find(
    ({ only, ...one }) =>
      one.type === type &&
      one.action === action &&
      (only === undefined || (changed.length > 0 && changed.every((name) => only.includes(name)))),
  );
  return row && { text: row.text, source: row.source };
}
