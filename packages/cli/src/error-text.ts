import type { XdsError } from "@xdstp/core";
import { withoutNode } from "./ask-failure.ts";

/** The text of an error for people, followed by the id of the broken rule: `text [C-REDIR-4]`. `npm run rules` and docs/rules show the rule. */
export function errorText(error: XdsError | undefined): string {
  return error === undefined ? "" : withRule(withoutNode(error.text), error.context.rule);
}

/** A text followed by the id of a rule, as for problems of a folder. */
export function withRule(text: string, rule: string | undefined): string {
  return rule === undefined ? text : `${text} [${rule}]`;
}
