import type { Registry } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { PathStep } from "@xdstp/validate";
import type { ProblemCode } from "../problem-codes.ts";
import { type CheckScene, type EnvoyCheck, pathOfFinding } from "./envoy-check.ts";
import { eachMessage } from "./visit-messages.ts";

/** A part of a message that a client rejects. */
export interface Rejection {
  readonly code: ProblemCode;
  readonly path: readonly PathStep[];
  /** The problem, as the predicate of a sentence about the field. */
  readonly message: string;
  readonly hint?: string;
}

/** The type of checks for every message. */
export const everyType = "*";

/** Checks by the message that they are about. Those of {@link everyType} are for every message. */
export type CheckTable = ReadonlyMap<string, readonly EnvoyCheck[]>;

/** Returns the findings of the checks of a table in a message and all messages within it. */
export function runChecks(
  table: CheckTable,
  message: ReflectMessage,
  { registry, files }: Pick<CheckScene, "files"> & { readonly registry: Registry },
): readonly Rejection[] {
  const rejections: Rejection[] = [];
  const always = table.get(everyType) ?? [];
  eachMessage({ message, path: [], above: undefined }, registry, (visited) => {
    const checks = table.get(visited.message.desc.typeName) ?? [];
    for (const check of [...checks, ...always])
      for (const found of check.find(visited.message.message, { visited, registry, files }))
        rejections.push({
          code: found.code ?? check.code,
          path: pathOfFinding(visited, found),
          message: found.message,
          ...(found.hint !== undefined && { hint: found.hint }),
        });
  });
  return rejections;
}
