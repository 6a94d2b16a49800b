import type { Registry } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { PathStep } from "@xdstp/validate";
import type { ProblemCode } from "../problem-codes.ts";
import { bootstrapChecks } from "./bootstrap-checks.ts";
import { chainMatchChecks } from "./chain-match-checks.ts";
import { clusterChecks } from "./cluster-checks.ts";
import { type CheckScene, type EnvoyCheck, pathOfFinding } from "./envoy-check.ts";
import { clusterProtocolChecks } from "./cluster-protocol-checks.ts";
import { extensionChecks } from "./extension-checks.ts";
import { formatChecks } from "./format-checks.ts";
import { headerChecks } from "./header-checks.ts";
import { listenerChecks } from "./listener-checks.ts";
import { routeChecks } from "./route-checks.ts";
import { tlsChecks } from "./tls-checks.ts";
import { tlsContextChecks } from "./tls-context-checks.ts";
import { valueChecks } from "./value-checks.ts";
import { visitMessages } from "./visit-messages.ts";

/** All checks by the message that they are about. */
const checks: ReadonlyMap<string, readonly EnvoyCheck[]> = Map.groupBy(
  [
    ...bootstrapChecks,
    ...chainMatchChecks,
    ...clusterChecks,
    ...clusterProtocolChecks,
    ...extensionChecks,
    ...formatChecks,
    ...headerChecks,
    ...listenerChecks,
    ...routeChecks,
    ...tlsChecks,
    ...tlsContextChecks,
    ...valueChecks,
  ],
  ({ type }) => type,
);

/** What Envoy rejects, and where. */
export interface EnvoyRejection {
  readonly code: ProblemCode;
  readonly path: readonly PathStep[];
  /** What is wrong, as the predicate of a sentence about the field. */
  readonly message: string;
  readonly hint?: string;
}

/**
 * Returns what Envoy's code rejects in a message and all that is in it, though the schema and its constraints allow it: clusters, routes, filters, formats, patterns, TLS.
 * Each check is a row of the tables of this folder. What they do not know they leave alone, so that nothing is reported that Envoy accepts.
 */
export function checkEnvoy(
  message: ReflectMessage,
  { registry, files }: Pick<CheckScene, "files"> & { readonly registry: Registry },
): readonly EnvoyRejection[] {
  const rejections: EnvoyRejection[] = [];
  for (const visited of visitMessages({ message, path: [], above: undefined }, registry)) {
    for (const check of checks.get(visited.message.desc.typeName) ?? [])
      for (const found of check.find(visited.message.message, { visited, registry, files }))
        rejections.push({
          code: check.code,
          path: pathOfFinding(visited, found),
          message: found.message,
          ...(found.hint !== undefined && { hint: found.hint }),
        });
  }
  return rejections;
}
