import type { Registry } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { PathStep } from "@xdstp/validate";
import type { ProblemCode } from "../problem-codes.ts";
import { type CheckScene, type EnvoyCheck, pathOfFinding } from "./envoy-check.ts";
import { eachMessage } from "./visit-messages.ts";

/** What a client rejects, and where. */
export interface Rejection {
  readonly code: ProblemCode;
  readonly path: readonly PathStep[];
  /** What is wrong, as the predicate of a sentence about the field. */
  readonly message: string;
  readonly hint?: string;
}

/** Checks by the message that they are about. */
export type CheckTable = ReadonlyMap<string, readonly EnvoyCheck[]>;

/** Returns what the checks of a table find in a message and all that is in it. */
export function runChecks(
  table: CheckTable,
  message: ReflectMessage,
  { registry, files }: Pick<CheckScene, "files"> & { readonly registry: Registry },
): readonly Rejection[] {
  const rejections: Rejection[] = [];
  eachMessage({ message, path: [], above: undefined }, registry, (visited) => {
    for (const check of table.get(visited.message.desc.typeName) ?? [])
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
