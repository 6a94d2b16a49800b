import { isDeepStrictEqual } from "node:util";
import type { JsonObject, Registry } from "@bufbuild/protobuf";
import { cluster, clusterLoadAssignment, secret, shortNameOf } from "@xdstp/resource-types";
import { Fault } from "../../folder-problem.ts";
import { fieldOf } from "../../json-reason.ts";
import type { UnmovedResource } from "../imported.ts";
import {
  type JsonResource,
  nounOf,
  resourceKey,
  searchedResource,
  staticOf,
} from "../json-resource.ts";
import { objectOf, textOf, without } from "../messages-in-json.ts";
import { neededResources } from "../needed-resources.ts";
import { isOwnSource, sourcesIn } from "./config-sources.ts";
import { asConfigured } from "./dumped-endpoints.ts";
import type { Dump } from "./read-dump.ts";
import { isRedacted, redactedFields } from "./redacted-fields.ts";

/** The parts of a dump that can be imported. */
export interface UsableResources {
  /** Resources for the folder, next to the static ones. */
  readonly dynamic: readonly JsonResource[];
  /** Resources that cannot be used, and why. */
  readonly missing: UnmovedResource[];
  /** Fields of static resources that the bootstrap needs, which the dump does not show. */
  readonly toFill: readonly string[];
}

/** Leaves out resources that are redacted, are warming or do not have an opaque name. Removes the static ones of these from the bootstrap. */
export function usableResources(dump: Dump, registry: Registry): UsableResources {
  const { bootstrap, found } = dump;
  const missing: UnmovedResource[] = [];
  const dynamic = new Map<string, JsonResource>();
  const all = [...found, ...staticOf(bootstrap)];
  const endpoints = edsClusters(all);
  const ofServices = secretsOfServices(all, registry);
  for (const { isWarming, ...one } of found) {
    const { type, name, json } = one;
    // A cluster without EDS has its endpoints itself.
    if (type === clusterLoadAssignment && !endpoints.has(name)) continue;
    if (type === secret && ofServices.has(name)) continue;
    const reason = unusable(one, isWarming);
    if (type === clusterLoadAssignment) asConfigured(json, endpoints.get(name));
    const other = dynamic.get(resourceKey(one));
    if (reason === undefined && other !== undefined && !isDeepStrictEqual(other.json, json))
      throw twoOfOneName(one, all, registry);
    if (reason === undefined) dynamic.set(resourceKey(one), one);
    else missing.push({ typeUrl: type.typeUrl, name, reason });
  }
  const { unusable: hidden, toFill } = redactedStatic(dump, registry);
  missing.push(...hidden);
  return { dynamic: [...dynamic.values()], missing, toFill };
}

/** Removes static resources with redacted fields from the bootstrap, unless it needs them: these fields are filled in by hand. */
function redactedStatic(
  { bootstrap, found }: Dump,
  registry: Registry,
): { readonly unusable: readonly UnmovedResource[]; readonly toFill: readonly string[] } {
  const fixed = staticOf(bootstrap);
  const rest = without(without(bootstrap, "static_resources"), "dynamic_resources");
  const needed = neededResources({ rest, fixed, staying: [], dynamic: found, registry });
  const hidden = fixed.filter(({ json }) => isRedacted(json));
  const removed = hidden.filter((one) => !needed.has(resourceKey(one)));
  const isRemoved = new Set<unknown>(removed.map(({ json }) => json));
  const lists = objectOf(bootstrap, "static_resources") ?? {};
  for (const [key, list] of Object.entries(lists))
    if (Array.isArray(list)) lists[key] = list.filter((one) => !isRemoved.has(one));
  return {
    unusable: removed.map(({ type, name }) => ({ typeUrl: type.typeUrl, name, reason: redacted })),
    toFill: hidden
      .filter((one) => needed.has(resourceKey(one)))
      .flatMap(({ type, name, json }) =>
        redactedFields(json).map((field) => `${nounOf(type)} ${JSON.stringify(name)}: ${field}`),
      ),
  };
}

const redacted = "the dump does not show its private keys and passwords; add a file that has them";

function unusable({ name, json }: JsonResource, isWarming: boolean): string | undefined {
  if (isWarming) return "it is warming: Envoy still waits for what it refers to";
  if (name === "") return "it has no name";
  if (name === "*") return 'its name is "*", which subscribes to all; give it another one';
  if (name.startsWith("xdstp:")) return "its name is not an opaque one";
  return isRedacted(json) ? redacted : undefined;
}

/** Two sources may give different resources of one name; a server cannot. */
function twoOfOneName(
  { type, name }: JsonResource,
  all: readonly JsonResource[],
  registry: Registry,
): Fault {
  const fields = all.flatMap((one) =>
    sourcesIn(searchedResource(one, registry), registry)
      .filter(({ message, row }) => row.type === type && row.nameOf?.(message) === name)
      .map(({ message }) => `${JSON.stringify(one.name)}: ${fieldOf(message.path)}`),
  );
  return new Fault({
    code: "duplicate-name",
    message: `has two ${shortNameOf(type.typeUrl) ?? "resources"} ${JSON.stringify(name)} that differ, from different sources`,
    hint: `give them different names where they are referred to: ${[...new Set(fields)].join(", ")}`,
  });
}

/** The clusters that subscribe to their endpoints, by the name of these. */
function edsClusters(resources: readonly JsonResource[]): ReadonlyMap<string, JsonObject> {
  return new Map(
    resources.flatMap(({ type, name, json }) => {
      const eds = type === cluster ? objectOf(json, "eds_cluster_config") : undefined;
      return eds === undefined ? [] : [[textOf(eds, "service_name") || name, json] as const];
    }),
  );
}

/** The names of secrets that have a service of their own, such as an agent on the host of Envoy: it gives each Envoy another one. */
function secretsOfServices(
  resources: readonly JsonResource[],
  registry: Registry,
): ReadonlySet<string> {
  return new Set(
    resources.flatMap((one) =>
      sourcesIn(searchedResource(one, registry), registry)
        .filter(
          ({ row, message: { json } }) =>
            row.type === secret && isOwnSource(objectOf(json, row.field)),
        )
        .map(({ message }) => textOf(message.json, "name")),
    ),
  );
}
