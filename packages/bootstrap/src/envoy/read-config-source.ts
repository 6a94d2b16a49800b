import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { fromBinary, type JsonValue, type Message } from "@bufbuild/protobuf";
import {
  type ConfigSource,
  ConfigSourceSchema,
  type PathConfigSource,
} from "@xdstp/protos/envoy/core";
import { XdsError } from "@xdstp/core";
import { asObject, inside, type Place, wrongAt } from "../grpc/place.ts";
import { checkVersion, readApiConfigSource } from "./read-api-config-source.ts";
import type { EnvoyBootstrap, EnvoyConfigSource } from "./config-source.ts";
import { readDuration } from "./read-duration.ts";
import { parseText, readMessage } from "./read-message.ts";
import type { PathSource, ServerConfig, SourceConfig } from "../server-config.ts";

/** Options of {@link readConfigSource}. */
export interface ReadConfigSourceOptions {
  /** Resolves `envoy_grpc.cluster_name`. Default: there are no clusters. */
  readonly clusters?: EnvoyBootstrap["clusters"];
  /** The name of the source in errors. Default: `ConfigSource`. */
  readonly source?: string;
}

const initialFetchMs = 15_000;

/**
 * Reads an `envoy.config.core.v3.ConfigSource`: the generated message, its JSON, or a text in YAML
 * or JSON (C-AUTH-1, C-AUTH-6, C-AGG-2).
 * `resource_api_version` may be absent. Fields that only tune Envoy's own connections are ignored.
 * A path becomes a server with `file`; a relative one is relative to the working directory, as for
 * Envoy.
 *
 * Throws an XdsError that names the field: INVALID_ARGUMENT for an invalid or missing value;
 * UNIMPLEMENTED for checks and credentials that would be ignored otherwise.
 */
export function readConfigSource(
  config: ConfigSource | object | string,
  { clusters = () => undefined, source = "ConfigSource" }: ReadConfigSourceOptions = {},
): EnvoyConfigSource {
  const place: Place = { source, path: "", whole: "the ConfigSource" };
  return sourceOf(messageOf(config, place), place, clusters);
}

/** Reads a ConfigSource at a place in a larger configuration. @internal */
export function readPlacedConfigSource(
  json: JsonValue,
  place: Place,
  clusters: EnvoyBootstrap["clusters"],
): EnvoyConfigSource {
  return sourceOf(
    readMessage(ConfigSourceSchema, asObject({ value: json, place })),
    place,
    clusters,
  );
}

function messageOf(config: ConfigSource | object | string, place: Place): ConfigSource {
  if (typeof config === "string") return readMessage(ConfigSourceSchema, parseText(config, place));
  if ((config as Partial<Message> | null)?.$typeName === ConfigSourceSchema.typeName)
    return config as ConfigSource;
  return readMessage(ConfigSourceSchema, asObject({ value: config as JsonValue, place }));
}

function sourceOf(
  config: ConfigSource,
  place: Place,
  clusters: EnvoyBootstrap["clusters"],
): EnvoyConfigSource {
  const { configSourceSpecifier: specifier } = config;
  checkVersion(config.resourceApiVersion, inside(place, "resource_api_version"));
  const facts = factsOf(config, place);
  switch (specifier.case) {
    case "ads":
      return { kind: "ads", ...facts };
    case "self":
      checkVersion(
        specifier.value.transportApiVersion,
        inside(place, "self", "transport_api_version"),
      );
      return { kind: "self", ...facts };
    case "apiConfigSource":
      return {
        kind: "servers",
        servers: readApiConfigSource(specifier.value, inside(place, "api_config_source"), clusters),
        ...facts,
      };
    case "path": {
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- Envoy's API deprecates the field, but existing configurations still set it
      const file = { path: pathIn(specifier.value, inside(place, "path")) };
      return { kind: "servers", servers: [fileServer(file)], ...facts };
    }
    case "pathConfigSource": {
      const file = readPathSource(specifier.value, inside(place, "path_config_source"));
      return { kind: "servers", servers: [fileServer(file)], ...facts };
    }
    case undefined:
      throw wrongAt(
        place,
        "says no source; give ads, self, api_config_source or path_config_source",
      );
  }
}

function readPathSource({ path, watchedDirectory }: PathConfigSource, place: Place): PathSource {
  return {
    path: pathIn(path, inside(place, "path")),
    ...(watchedDirectory !== undefined && {
      watchedDirectory: pathIn(watchedDirectory.path, inside(place, "watched_directory", "path")),
    }),
  };
}

function pathIn(path: string, place: Place): string {
  if (path === "") throw wrongAt(place, "is empty; give the path of a file");
  return resolve(path);
}

function fileServer(file: PathSource): ServerConfig {
  return {
    uri: pathToFileURL(file.path).href,
    credentials: { type: "insecure" },
    features: new Set(),
    variant: "sotw",
    aggregated: false,
    keepRemoved: false,
    file,
  };
}

function factsOf(
  { authorities, initialFetchTimeout }: ConfigSource,
  place: Place,
): Pick<EnvoyConfigSource, "authorities" | "initialFetchMs"> {
  return {
    authorities: [...new Set(authorities.map(({ name }) => name))],
    initialFetchMs:
      initialFetchTimeout === undefined
        ? initialFetchMs
        : readDuration(initialFetchTimeout, inside(place, "initial_fetch_timeout")),
  };
}

/**
 * Reads ConfigSources of payloads (`source` of a reference): the option `sourceOf` of `createClient`, so that a walk follows them (C-AUTH-4).
 * The returned function throws an XdsError for bytes that are not a ConfigSource and for a ConfigSource that {@link readConfigSource} rejects. It throws INVALID_ARGUMENT for `ads` and `self`, which need no reading.
 * A server chooses what its payloads say, so a path in one is PERMISSION_DENIED unless `files` is true.
 */
export function configSourceReader({
  files = false,
  ...options
}: ReadConfigSourceOptions & {
  /** True if payloads may lead to files of this machine. Default: false. */
  readonly files?: boolean;
} = {}): (configSource: Uint8Array) => SourceConfig {
  return (configSource) => {
    const read = readConfigSource(decoded(configSource), options);
    if (read.kind !== "servers")
      throw new XdsError(
        "INVALID_ARGUMENT",
        `the ConfigSource says ${read.kind}, and no servers of its own`,
      );
    const { servers, authorities } = read;
    const path = servers.find(({ file }) => file !== undefined)?.file?.path;
    if (path !== undefined && !files)
      throw new XdsError(
        "PERMISSION_DENIED",
        `the ConfigSource leads to the file ${JSON.stringify(path)}, which a payload may not; allow it with configSourceReader({ files: true })`,
      );
    return { servers, authorities };
  };
}

function decoded(bytes: Uint8Array): ConfigSource {
  try {
    return fromBinary(ConfigSourceSchema, bytes);
  } catch (cause) {
    throw new XdsError("INVALID_ARGUMENT", "the bytes are not a ConfigSource", { cause });
  }
}
