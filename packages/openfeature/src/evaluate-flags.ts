import type { EvaluationContext } from "@openfeature/core";

import type { FlagDocument } from "./flag-document.ts";

/** One evaluated flag, as OFREP sends it. */
export type EvaluatedFlag = Readonly<Record<string, unknown>> & { readonly key: string };

/**
 * Evaluates one flag. Undefined: it does not exist. A flag that is disabled, or has no default
 * variant, has no `value`: the caller uses the default in its code.
 */
export function evaluateFlag(
  { core }: FlagDocument,
  key: string,
  context: EvaluationContext,
): EvaluatedFlag | undefined {
  const flag = core.getFlag(key);
  if (flag === undefined) return undefined;
  const { metadata } = flag;
  if (flag.state === "DISABLED") return { key, reason: "DISABLED", metadata };
  const found = flag.evaluate(context);
  if (found.reason === "ERROR") {
    const { errorCode, errorMessage } = found;
    return { key, errorCode, errorDetails: errorMessage, metadata };
  }
  const { value, reason, variant } = found;
  return { key, value, reason, variant, metadata };
}

/** Evaluates all flags. */
export function evaluateAll(document: FlagDocument, context: EvaluationContext): EvaluatedFlag[] {
  return Array.from(document.core.getFlags().keys(), (key) =>
    evaluateFlag(document, key, context),
  ).filter((flag) => flag !== undefined);
}
