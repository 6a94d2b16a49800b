import { create, fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import type { StoredResource } from "@xdstp/core";
import { ResourceSchema } from "@xdstp/protos/discovery";
import {
  type ClientConfig,
  type ClientConfig_GenericXdsConfig,
  ClientConfig_GenericXdsConfigSchema,
  ClientConfigSchema,
} from "@xdstp/protos/status";

import type { ShowPayload } from "./generic-configs.ts";

/**
 * A `client_features` entry of the caller, and the scope of the answer: requests all resources that the server has, whether or not a client subscribes to them.
 * `node.metadata` of the caller may have a field of this name: an object with an array of names for each type URL, and only these are sent.
 */
export const RESOURCES = "xdstp.status.resources";

/** A resource that a server has. */
export interface ServedResource {
  /** The type that it is requested under. */
  readonly typeUrl: string;
  /** The content, whole. */
  readonly resource: StoredResource;
  /** The key of the view that has it (`viewKey`). Absent: the clients of all views. */
  readonly viewKey?: string | undefined;
}

/** The options of {@link servedConfigs}. */
export interface ServedConfigsOptions {
  readonly resources: Iterable<ServedResource>;
  /** Returns the content to show; undefined: the row has no content. */
  readonly show: ShowPayload;
  /** Returns true if the caller may see a resource and has requested it. */
  readonly isShown: (typeUrl: string, name: string) => boolean;
}

/**
 * Yields the resources of a server as further `ClientConfig`s, without a node: those of the clients of all views with {@link RESOURCES} as scope, those of a view with {@link RESOURCES}, a slash and its key.
 * The `version_info` of a row is the version of the resource; its `xds_config` is a `Resource` message, without the content where the request excludes contents.
 * It yields each row before it adds it, so that the caller can count the row, and let others run.
 */
export function* servedConfigs(
  config: ClientConfig[],
  { resources, show, isShown }: ServedConfigsOptions,
): Generator<ClientConfig_GenericXdsConfig> {
  const views = new Map<string, ClientConfig>();
  const configOf = (scope: string): ClientConfig => {
    const known = views.get(scope) ?? create(ClientConfigSchema, { clientScope: scope });
    if (!views.has(scope)) config.push(known);
    views.set(scope, known);
    return known;
  };
  configOf(RESOURCES);
  for (const { typeUrl, resource, viewKey } of resources) {
    if (!isShown(typeUrl, resource.name)) continue;
    const row = rowOf(typeUrl, resource, show);
    yield row;
    configOf(viewKey === undefined ? RESOURCES : `${RESOURCES}/${viewKey}`).genericXdsConfigs.push(
      row,
    );
  }
}

function rowOf(
  typeUrl: string,
  resource: StoredResource,
  show: ShowPayload,
): ClientConfig_GenericXdsConfig {
  const { name, version, wire, payload } = resource;
  const row = create(ClientConfig_GenericXdsConfigSchema, { typeUrl, name, versionInfo: version });
  const shown = show(payload);
  if (shown === undefined && !hasMore(resource)) return row;
  const message = fromBinary(ResourceSchema, wire);
  message.name = "";
  message.version = "";
  if (shown === undefined) delete message.resource;
  else if (message.resource !== undefined)
    Object.assign(message.resource, { typeUrl: shown.typeUrl, value: shown.value });
  row.xdsConfig = anyPack(ResourceSchema, message);
  return row;
}

/** Returns true if clients see more of a resource than name, version and content. */
function hasMore({ aliases, ttlMs, noStore, constraints, metadata }: StoredResource): boolean {
  return [aliases, ttlMs, noStore, constraints, metadata].some((part) => part !== undefined);
}

/** Returns the test of the names that a caller requests. It accepts all names if the caller names none. */
export function requestedNames(
  metadata: JsonObject | undefined,
): (typeUrl: string, name: string) => boolean {
  const given = metadata?.[RESOURCES];
  if (typeof given !== "object" || given === null || Array.isArray(given)) return () => true;
  const names = new Map(
    Object.entries(given).map(([typeUrl, list]) => [
      typeUrl,
      new Set(Array.isArray(list) ? list : []),
    ]),
  );
  return (typeUrl, name) => names.get(typeUrl)?.has(name) === true;
}
