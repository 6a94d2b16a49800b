import type { Constraints } from "./constraints.ts";

/** Constraints in one line, for people, as in `and(env=prod, not(version exists))`. Different constraints give different texts, so that it is a key too. */
export function textOfConstraints(constraints: Constraints): string {
  switch (constraints.kind) {
    case "equals":
      return `${quoted(constraints.key)}=${quoted(constraints.value)}`;
    case "exists":
      return `${quoted(constraints.key)} exists`;
    case "not":
      return `not(${textOfConstraints(constraints.of)})`;
    default:
      return `${constraints.kind}(${constraints.of.map(textOfConstraints).join(", ")})`;
  }
}

function quoted(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : JSON.stringify(text);
}
