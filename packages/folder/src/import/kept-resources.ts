import type { JsonObject, Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { secret, shortNameOf } from "@xdstp/resource-types";
import type { UnmovedResource } from "./imported.ts";
import {
  descOfType,
  type JsonResource,
  nounOf,
  resourceKey,
  staticLists,
} from "./json-resource.ts";
import { messagesInJson, objectOf, textOf, valueOf, without } from "./messages-in-json.ts";
import { neededResources } from "./needed-resources.ts";

/** The resources among which {@link keptResources} decides. */
export interface KeptSubject {
  readonly bootstrap: JsonObject;
  readonly registry: Registry;
  /** The static resources of the bootstrap. */
  readonly fixed: readonly JsonResource[];
  /** Resources that are served and were not static. */
  readonly dynamic: readonly JsonResource[];
}

/** Returns the static resources that stay in the bootstrap, and why: those that cannot be served, and those that other parts of the bootstrap, or config sources, refer to. */
export function keptResources(subject: KeptSubject): readonly UnmovedResource[] {
  const { bootstrap, registry, fixed, dynamic } = subject;
  const reasonOf = ownReasons(subject);
  const own = new Map(fixed.map((one) => [one, reasonOf(one)] as const));
  const needed = neededResources({
    rest: without(bootstrap, "static_resources"),
    fixed,
    staying: fixed.filter((one) => own.get(one) !== undefined),
    dynamic,
    registry,
  });
  return fixed.flatMap((one) => {
    const field = needed.get(resourceKey(one));
    const reason = own.get(one) ?? (field === undefined ? undefined : `${field} refers to it`);
    return reason === undefined ? [] : [{ typeUrl: one.type.typeUrl, name: one.name, reason }];
  });
}

/** Returns a function that says why a resource cannot be served, whatever refers to it. */
function ownReasons({
  bootstrap,
  registry,
  fixed,
  dynamic,
}: KeptSubject): (one: JsonResource) => string | undefined {
  const otherSources = new Map<ResourceType, string | undefined>(
    staticLists.map(({ type, others }) => [type, otherSource(bootstrap, others)] as const),
  );
  const counts = new Map<string, number>();
  for (const key of fixed.map(resourceKey)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const served = new Set(dynamic.map(resourceKey));
  return (one) => {
    const { type, name, json } = one;
    const source = otherSources.get(type);
    if (source !== undefined)
      return `Envoy takes its ${shortNameOf(type.typeUrl) ?? ""} from dynamic_resources.${source}`;
    if (name === "") return "it has no name";
    if (name === "*" || name.startsWith("xdstp:")) return "its name is not an opaque one";
    if ((counts.get(resourceKey(one)) ?? 0) > 1) return `another ${nounOf(type)} has its name`;
    if (served.has(resourceKey(one)))
      return `a ${nounOf(type)} that Envoy gets from a server has its name, and is served; rename one of them`;
    if (objectOf(json, "api_listener") !== undefined)
      return "Envoy has an api_listener only statically";
    return type === secret ? relativeFileReason(one, registry) : undefined;
  };
}

function otherSource(bootstrap: JsonObject, fields: readonly string[]): string | undefined {
  const dynamic = objectOf(bootstrap, "dynamic_resources");
  return fields.find((field) => dynamic !== undefined && valueOf(dynamic, field) !== undefined);
}

/** The server of a secret reads its files, and runs elsewhere than Envoy. */
function relativeFileReason({ type, json }: JsonResource, registry: Registry): string | undefined {
  for (const message of messagesInJson({ json, desc: descOfType(type, registry) }, registry)) {
    const file = textOf(message.json, "filename");
    if (message.desc.typeName === "envoy.config.core.v3.DataSource" && /^[^/]/.test(file))
      return `its file ${JSON.stringify(file)} counts from where Envoy is started; make the path absolute, or copy the file into the folder`;
  }
  return undefined;
}
