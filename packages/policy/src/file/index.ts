/**
 * Policies as rules in a file: which client may see which names.
 *
 * ```ts
 * const policies = createRulePolicies(parsePolicy(text, "policy.yaml"));
 * const server = createServer({ source, tls, authorize: policies.authorize });
 * ```
 *
 * @packageDocumentation
 */
export { parsePolicy, type PolicyRule, type RuleSubject } from "./parse-policy.ts";
export type { Policy } from "../policy.ts";
export { createRulePolicies, type RulePolicies } from "./rule-policies.ts";
