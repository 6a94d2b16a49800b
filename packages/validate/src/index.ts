/**
 * Checks messages against the rules of their types: `validate.rules` of the Envoy API, and
 * `buf.validate` of your own types. Needs Node.
 *
 * @packageDocumentation
 */
export { createValidator, type Validator } from "./create-validator.ts";
export {
  createRuleReader,
  type RuleOptions,
  type RuleReader,
  type Settings,
  settingsIn,
} from "./rule-settings.ts";
export type { PathStep, Violation } from "./violation.ts";
