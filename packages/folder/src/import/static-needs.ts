import type { DescMessage, JsonObject, Registry } from "@bufbuild/protobuf";
import { fieldOf } from "../json-reason.ts";
import {
  fieldsOf,
  messagesInJson,
  type MessageInJson,
  objectOf,
  textOf,
} from "./messages-in-json.ts";

/** A name that something refers to, and the place. */
export interface Need {
  readonly name: string;
  /** The field that holds it: `stats_sinks[0].typed_config.grpc_service.envoy_grpc.cluster_name`. */
  readonly field: string;
}

/** A message in which references are searched. */
export interface Searched {
  readonly json: JsonObject;
  readonly desc: DescMessage;
  /** The text that each {@link Need.field} begins with, such as `cluster "web": `. */
  readonly within: string;
}

/** The clusters that a message refers to. Each field is counted whose name says that it holds clusters, also in extensions that nothing here knows. */
export function* clustersIn(
  searched: Searched,
  registry: Registry,
  isWanted: (message: MessageInJson) => boolean = () => true,
): Generator<Need> {
  for (const message of messagesInJson(searched, registry)) {
    if (message.desc.typeName === node || !isWanted(message)) continue;
    const isWeight = message.desc.typeName.endsWith("ClusterWeight");
    for (const [key, field, value] of fieldsOf(message)) {
      const isName = field.name.includes("cluster") || (isWeight && field.name === "name");
      if (!isName || field.message !== undefined) continue;
      for (const name of [value].flat())
        if (typeof name === "string" && name !== "")
          yield { name, field: placeOf(searched, [...message.path, key]) };
    }
  }
}

/** `node.cluster` is a group of Envoys. */
const node = "envoy.config.core.v3.Node";

/** The clusters that Envoy accepts only from its bootstrap, wherever they are referred to. */
export function staticOnlyClusters(searched: Searched, registry: Registry): Iterable<Need> {
  return clustersIn(searched, registry, (message) => {
    let at: MessageInJson | undefined = message;
    while (at !== undefined && !staticOnly.has(at.desc.typeName)) at = at.above;
    return at !== undefined;
  });
}

/** Messages whose clusters Envoy looks up among the static ones. */
const staticOnly: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.ApiConfigSource",
  "envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig",
  "envoy.extensions.tracers.fluentd.v3.FluentdConfig",
]);

/** A reference to a secret without a source: it means a static one. */
export interface StaticSecret extends Need {
  readonly message: JsonObject;
}

/** The references to static secrets in a message. */
export function* staticSecretsIn(searched: Searched, registry: Registry): Generator<StaticSecret> {
  for (const { desc, json, path } of messagesInJson(searched, registry))
    if (desc.typeName === secretReference && objectOf(json, "sds_config") === undefined)
      yield { name: textOf(json, "name"), message: json, field: placeOf(searched, path) };
}

/** The message that refers to a secret. */
export const secretReference = "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig";

function placeOf({ within }: Searched, path: MessageInJson["path"]): string {
  return `${within}${fieldOf(path)}`;
}
