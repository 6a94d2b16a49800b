import { toBinary } from "@bufbuild/protobuf";
import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  type Oneof,
} from "./envoy-check.ts";
import { type VisitedMessage, visitMessages } from "./visit-messages.ts";

interface Trigger {
  readonly name: string;
}

interface OverloadManager {
  readonly resourceMonitors: readonly Extension[];
  readonly actions: readonly { readonly name: string; readonly triggers: readonly Trigger[] }[];
  readonly loadshedPoints: readonly {
    readonly name: string;
    readonly triggers: readonly Trigger[];
  }[];
}

/** What Envoy rejects in a bootstrap as a whole, and in filters that are configured once. */
export const bootstrapChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.LayeredRuntime", layers),
  envoyCheck("bad-bootstrap", "envoy.config.overload.v3.OverloadManager", overload),
  envoyCheck("bad-bootstrap", "envoy.config.overload.v3.ScaledTrigger", scaling),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Bootstrap", dnsCaches),
  envoyCheck(
    "bad-jwt",
    "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
    jwtProviders,
  ),
  envoyCheck("bad-jwt", "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider", jwtKeys),
];

function* layers({
  layers: list,
}: {
  layers: readonly { readonly name: string }[];
}): Iterable<EnvoyFinding> {
  yield* repeated(list, "layers", "layer");
}

function* repeated(
  list: readonly { readonly name: string }[],
  field: string,
  what: string,
): Iterable<EnvoyFinding> {
  const seen = new Map<string, number>();
  for (const [index, { name }] of list.entries()) {
    const first = seen.get(name);
    if (first === undefined) seen.set(name, index);
    else yield finding([field, index, "name"], `${quote(name)} is the name of an earlier ${what}`);
  }
}

/** The actions that Envoy 1.40 has. */
const actions: ReadonlySet<string> = new Set(
  [
    "stop_accepting_requests",
    "disable_http_keepalive",
    "stop_accepting_connections",
    "reject_incoming_connections",
    "shrink_heap",
    "reduce_timeouts",
    "reset_high_memory_stream",
  ].map((name) => `envoy.overload_actions.${name}`),
);

function* overload(manager: OverloadManager): Iterable<EnvoyFinding> {
  const { resourceMonitors, actions: list, loadshedPoints } = manager;
  yield* repeated(resourceMonitors, "resource_monitors", "resource monitor");
  yield* repeated(list, "actions", "action");
  yield* repeated(loadshedPoints, "loadshed_points", "point");
  for (const [index, { name }] of list.entries())
    if (!actions.has(name))
      yield finding(["actions", index, "name"], `${quote(name)} is not an action of Envoy`);
  const monitors = new Set(resourceMonitors.map(({ name }) => name));
  for (const [field, users] of [
    ["actions", list],
    ["loadshed_points", loadshedPoints],
  ] as const)
    for (const [index, { triggers }] of users.entries())
      for (const [at, { name }] of triggers.entries())
        if (!monitors.has(name))
          yield finding(
            [field, index, "triggers", at, "name"],
            `${quote(name)} is not among the resource_monitors`,
          );
}

function* scaling({
  scalingThreshold: from,
  saturationThreshold: to,
}: {
  scalingThreshold: number;
  saturationThreshold: number;
}): Iterable<EnvoyFinding> {
  if (from >= to) yield finding(["scaling_threshold"], "must be less than saturation_threshold");
}

/** Caches of one name are one cache, so that their settings must be equal. */
function* dnsCaches(_: object, { visited, registry }: CheckScene): Iterable<EnvoyFinding> {
  const seen = new Map<string, { readonly bytes: Buffer; readonly cache: VisitedMessage }>();
  for (const cache of visitMessages(visited, registry)) {
    const { message } = cache;
    if (message.desc.typeName !== "envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig")
      continue;
    const { name } = message.message as unknown as { readonly name: string };
    const bytes = Buffer.from(toBinary(message.desc, message.message));
    const first = seen.get(name);
    if (first === undefined) seen.set(name, { bytes, cache });
    else if (!first.bytes.equals(bytes))
      yield finding(
        cache.path.map((step) =>
          step.kind === "index" ? step.index : step.kind === "key" ? `[${step.key}]` : step.name,
        ),
        `the DNS cache ${quote(name)} has other settings elsewhere`,
        "make all dns_cache_config of one name equal",
      );
  }
}

interface Requirement {
  readonly requiresType: Oneof;
}

interface Jwt {
  readonly providers: Readonly<Record<string, object>>;
  readonly rules: readonly { readonly requirementType: Oneof }[];
  readonly requirementMap: Readonly<Record<string, Requirement>>;
}

function* jwtProviders({ providers, rules, requirementMap }: Jwt): Iterable<EnvoyFinding> {
  for (const [index, { requirementType: type }] of rules.entries()) {
    if (type.case === "requires")
      yield* requirement(type.value as Requirement, ["rules", index, "requires"], providers);
    if (type.case === "requirementName" && !Object.hasOwn(requirementMap, String(type.value)))
      yield finding(
        ["rules", index, "requirement_name"],
        `${quote(String(type.value))} is not in requirement_map`,
      );
  }
  for (const [key, one] of Object.entries(requirementMap))
    yield* requirement(one, ["requirement_map", `[${key}]`], providers);
}

function* requirement(
  { requiresType: type }: Requirement,
  at: readonly (string | number)[],
  providers: Readonly<Record<string, object>>,
): Iterable<EnvoyFinding> {
  switch (type.case) {
    case "providerName":
      yield* provider(String(type.value), [...at, "provider_name"], providers);
      break;
    case "providerAndAudiences": {
      const { providerName } = type.value as { readonly providerName: string };
      yield* provider(providerName, [...at, "provider_and_audiences", "provider_name"], providers);
      break;
    }
    case "requiresAny":
    case "requiresAll": {
      const field = type.case === "requiresAny" ? "requires_any" : "requires_all";
      const { requirements } = type.value as { readonly requirements: readonly Requirement[] };
      for (const [index, one] of requirements.entries())
        yield* requirement(one, [...at, field, "requirements", index], providers);
    }
  }
}

function* provider(
  name: string,
  at: readonly (string | number)[],
  providers: Readonly<Record<string, object>>,
): Iterable<EnvoyFinding> {
  if (!Object.hasOwn(providers, name))
    yield finding(at, `${quote(name)} is not one of the providers`);
}

function* jwtKeys({
  jwksSourceSpecifier: source,
}: {
  jwksSourceSpecifier: Oneof;
}): Iterable<EnvoyFinding> {
  if (source.case !== "localJwks") return;
  const { specifier } = source.value as { readonly specifier: Oneof };
  if (specifier.case !== "inlineString" || typeof specifier.value !== "string") return;
  const reason = keysError(specifier.value);
  if (reason !== undefined) yield finding(["local_jwks", "inline_string"], reason);
}

/** Certificates in PEM are taken too, and a comma after the last entry. */
function keysError(text: string): string | undefined {
  if (text.includes("-----BEGIN ")) return undefined;
  try {
    const value = JSON.parse(text.replaceAll(/,(\s*[\]}])/g, "$1")) as {
      readonly keys?: unknown;
    } | null;
    return Array.isArray(value?.keys) ? undefined : "has no list of keys";
  } catch {
    return "is not JSON";
  }
}
