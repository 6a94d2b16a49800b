import type { DescMessage } from "@bufbuild/protobuf";
import { type CheckScene, type EnvoyFinding, finding } from "./envoy-check.ts";
import { closestMessage } from "./visit-messages.ts";

/** The folder in the API of Envoy with the extensions of its contrib build. */
const contribFolder = "contrib/";

/**
 * Types of extensions in the API that no build of Envoy 1.40 for Linux has by default: Envoy does not find their `@type` when it reads a bootstrap.
 * In a list of load balancing policies that comes from a server, Envoy passes over those that it does not have, so only bootstraps are checked.
 */
const absentTypes: ReadonlySet<string> = new Set([
  "envoy.extensions.filters.http.gzip.v3.Gzip",
  "envoy.extensions.filters.http.kill_request.v3.KillRequest",
  "envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst",
  "envoy.extensions.load_balancing_policies.random_subsetting.v3.RandomSubsetting",
  "envoy.extensions.rbac.audit_loggers.stream.v3.StdoutAuditLog",
  "envoy.extensions.transport_sockets.s2a.v3.S2AConfiguration",
]);

/** Finds the configuration of an extension that the standard build of Envoy 1.40 does not have. */
export function* missingExtension(_: object, { visited }: CheckScene): Iterable<EnvoyFinding> {
  const { desc } = visited.message;
  if (isOfContrib(desc)) {
    const { above } = visited;
    if (above === undefined || isOfContrib(above.message.desc)) return;
    yield finding(
      ["@type"],
      `${desc.typeName} is only in the contrib build of Envoy`,
      "start a contrib build, such as the image envoyproxy/envoy with a contrib tag",
    );
  } else if (absentTypes.has(desc.typeName) && isInBootstrap(visited))
    yield finding(
      ["@type"],
      `${desc.typeName} is not in the builds of Envoy 1.40`,
      "remove it, unless your build of Envoy has it",
    );
}

/** Finds a listener of a bootstrap for calls in the same process, which only Envoy Mobile has. gRPC clients use such a listener too, but get it from a server. */
export function* listenerOfMobile(
  { apiListener }: { readonly apiListener?: object },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  if (apiListener !== undefined && isInBootstrap(visited))
    yield finding(
      ["api_listener"],
      "is only in Envoy Mobile, so other builds of Envoy do not start with it",
      "use filter_chains",
    );
}

function isInBootstrap(visited: CheckScene["visited"]): boolean {
  return closestMessage(visited, "envoy.config.bootstrap.v3.Bootstrap") !== undefined;
}

function isOfContrib({ file }: DescMessage): boolean {
  return file.name.startsWith(contribFolder);
}
