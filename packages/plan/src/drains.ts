import { shortNameOf } from "@xdstp/resource-types";

import type { Drain, ResourceChange } from "./plan.ts";

/** A rule of what Envoy does with connections when a resource of a type changes. */
export interface DrainRule {
  /** Names the rule, in a plan too. */
  readonly id: string;
  /** The short name of the type. */
  readonly type: string;
  /** The change of the resource. */
  readonly action: ResourceChange["action"];
  /** The rule is for changes of nothing but these fields. Absent: for all changes. */
  readonly only?: readonly string[];
  /** The rule is for resources that have this field after the change. Absent: for all resources. */
  readonly has?: string;
  /** The connections that close, and how. */
  readonly text: string;
  /** The evidence for it. */
  readonly source: Drain["source"];
}

/**
 * The rules, of which the first that fits a change applies. A change that no rule fits closes no connection.
 * Measured with Envoy 1.40: `plan-drains.real.ts` of the suites with real programs makes such changes to a running Envoy with open connections.
 */
export const drainRules: readonly DrainRule[] = [
  {
    id: "listener-removed",
    type: "listeners",
    action: "removed",
    text: "Envoy stops accepting on it, and drains its connections (600 s by default: --drain-time-s)",
    source: "measured",
  },
  {
    id: "filter-chains-changed",
    type: "listeners",
    action: "changed",
    only: ["filterChains", "defaultFilterChain", "filterChainMatcher"],
    has: "filterChains",
    text: "Envoy drains the connections of filter chains that change or are removed; those of other filter chains stay",
    source: "measured",
  },
  {
    id: "listener-replaced",
    type: "listeners",
    action: "changed",
    text: "Envoy replaces the listener, and drains all its connections (600 s by default: --drain-time-s)",
    source: "measured",
  },
  {
    id: "cluster-removed",
    type: "clusters",
    action: "removed",
    text: "Envoy closes the connections to its endpoints, each when its requests have ended",
    source: "measured",
  },
  {
    id: "cluster-changed",
    type: "clusters",
    action: "changed",
    text: "Envoy replaces the cluster, and closes the connections to its endpoints, each when its requests have ended",
    source: "measured",
  },
  {
    id: "endpoints-removed",
    type: "endpoints",
    action: "removed",
    text: "Envoy keeps the endpoints until the cluster is removed or changed",
    source: "measured",
  },
  {
    id: "endpoints-changed",
    type: "endpoints",
    action: "changed",
    text: "Envoy closes the connections to endpoints that are removed, each when its requests have ended",
    source: "measured",
  },
];

/** The content of a changed resource. */
export interface ChangedContent {
  /** The fields of the message that differ. */
  readonly changed: readonly string[];
  /** The fields that it has after the change. */
  readonly fields: readonly string[];
}

/** Returns what Envoy does with connections; undefined: nothing. */
export function drainOf(
  typeUrl: string,
  action: ResourceChange["action"],
  content: ChangedContent | undefined,
): Drain | undefined {
  const type = shortNameOf(typeUrl);
  const { changed, fields } = content ?? { changed: [], fields: [] };
  const rule = drainRules.find(
    ({ only, has, ...one }) =>
      one.type === type &&
      one.action === action &&
      (only === undefined ||
        (changed.length > 0 && changed.every((name) => only.includes(name)))) &&
      (has === undefined || fields.includes(has)),
  );
  return rule && { rule: rule.id, text: rule.text, source: rule.source };
}
