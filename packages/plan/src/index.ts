/**
 * The changes for the clients of a server if it had other content.
 *
 * ```ts
 * const served = await readServed((request) => server.clientStatus(request), next);
 * const plan = await planChange({ served, next, registry: envoyRegistry() });
 * console.log(plan.added, plan.changed, plan.removed);
 * ```
 *
 * @packageDocumentation
 */
export { planChange, plannedResource, type PlanOptions } from "./plan-change.ts";
export { type DrainRule, drainRules } from "./drains.ts";
export { type AskStatus, readServed } from "./read-served.ts";
export type {
  ClientGroup,
  Drain,
  FieldChange,
  GroupPlan,
  Plan,
  PlannedHold,
  PlannedResource,
  PlannedResponse,
  ResourceChange,
  ServedState,
  Subscription,
} from "./plan.ts";
