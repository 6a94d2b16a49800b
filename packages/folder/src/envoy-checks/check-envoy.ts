import type { Registry } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { bootstrapChecks } from "./bootstrap-checks.ts";
import { chainMatchChecks } from "./chain-match-checks.ts";
import { clusterChecks } from "./cluster-checks.ts";
import { clusterProtocolChecks } from "./cluster-protocol-checks.ts";
import { durationChecks } from "./duration-checks.ts";
import { type CheckScene, envoyCheck } from "./envoy-check.ts";
import { extensionChecks } from "./extension-checks.ts";
import { formatChecks } from "./format-checks.ts";
import { httpFilterChecks } from "./http-filter-checks.ts";
import { headerChecks } from "./header-checks.ts";
import { listenerChecks } from "./listener-checks.ts";
import { pathTemplateChecks } from "./path-template-checks.ts";
import { perRouteChecks } from "./per-route-checks.ts";
import { routeChecks } from "./route-checks.ts";
import { type CheckTable, everyType, type Rejection, runChecks } from "./run-checks.ts";
import { settingChecks } from "./setting-checks.ts";
import { listenerOfMobile, missingExtension } from "./standard-build.ts";
import { tlsChecks } from "./tls-checks.ts";
import { tlsContextChecks } from "./tls-context-checks.ts";
import { typedStructChecks } from "./typed-struct-checks.ts";
import { valueChecks } from "./value-checks.ts";

const checks: CheckTable = Map.groupBy(
  [
    envoyCheck("missing-extension", everyType, missingExtension),
    envoyCheck("missing-extension", "envoy.config.listener.v3.Listener", listenerOfMobile),
    ...bootstrapChecks,
    ...chainMatchChecks,
    ...clusterChecks,
    ...clusterProtocolChecks,
    ...durationChecks,
    ...extensionChecks,
    ...formatChecks,
    ...headerChecks,
    ...httpFilterChecks,
    ...listenerChecks,
    ...pathTemplateChecks,
    ...perRouteChecks,
    ...routeChecks,
    ...settingChecks,
    ...tlsChecks,
    ...tlsContextChecks,
    ...typedStructChecks,
    ...valueChecks,
  ],
  ({ type }) => type,
);

/**
 * Returns the parts of a message that Envoy's code rejects, though the schema and its constraints allow them: clusters, routes, filters, formats, patterns, TLS.
 * Each check is a row of the tables of this folder. The checks report nothing where they cannot know, so that nothing is reported that Envoy accepts.
 */
export function checkEnvoy(
  message: ReflectMessage,
  scene: Pick<CheckScene, "files"> & { readonly registry: Registry },
): readonly Rejection[] {
  return runChecks(checks, message, scene);
}
