import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { defaultListenerTemplate, isTemplateOf } from "@xdstp/uri";
import { isDeeperThan, maxMetadataDepth, XdsError } from "@xdstp/core";
import type { Bootstrap, BootstrapNode, BootstrapServer } from "./bootstrap.ts";
import {
  asObject,
  booleanIn,
  entries,
  itemsIn,
  objectIn,
  type Place,
  type Placed,
  required,
  stringIn,
  wrongAt,
} from "./place.ts";
import { parseCredentials } from "./parse-credentials.ts";

/**
 * The locations that {@link readBootstrap} tries, in this order: `json`, `file`, the environment.
 */
export interface BootstrapSources {
  /** The bootstrap itself, as text or parsed. */
  readonly json?: string | object;
  /** The path of a file. */
  readonly file?: string;
  /** Default: the environment of the process. An empty variable counts as absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Types of `channel_creds` that belong to transports of the program, in addition to `insecure`
   * and `tls`: the names of the option `transports` of {@link createChannels}. Default: none.
   */
  readonly transports?: readonly string[];
}

/**
 * Reads the bootstrap from an option, or as every gRPC program does: from the file that
 * `GRPC_XDS_BOOTSTRAP` names, or else from the JSON in `GRPC_XDS_BOOTSTRAP_CONFIG` (C-GRPC-1). The
 * first location that is given counts, even if it is invalid.
 *
 * Throws an XdsError: FAILED_PRECONDITION if there is none, with the locations that were tried;
 * NOT_FOUND if a file cannot be read; INVALID_ARGUMENT with the invalid place (see
 * {@link parseBootstrap}).
 */
export function readBootstrap({
  json,
  file,
  env = process.env,
  transports = [],
}: BootstrapSources = {}): Bootstrap {
  const parse = (text: string | object, source: string): Bootstrap =>
    parseBootstrap(text, source, { transports });
  if (json !== undefined) return parse(json, "bootstrap");
  if (file !== undefined) return parse(textOf(file, file), file);
  const { GRPC_XDS_BOOTSTRAP: path, GRPC_XDS_BOOTSTRAP_CONFIG: text } = env;
  if (path !== undefined && path !== "") {
    const source = `GRPC_XDS_BOOTSTRAP=${path}`;
    return parse(textOf(path, source), source);
  }
  if (text !== undefined && text !== "") return parse(text, "GRPC_XDS_BOOTSTRAP_CONFIG");
  throw new XdsError(
    "FAILED_PRECONDITION",
    "the bootstrap is missing: GRPC_XDS_BOOTSTRAP (a path) and GRPC_XDS_BOOTSTRAP_CONFIG (JSON) are not set; set one, or give one",
  );
}

function textOf(path: string, source: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? "the file does not exist" : `it cannot be read (${code})`;
    throw new XdsError("NOT_FOUND", `${source}: ${problem}; give the path of a bootstrap in JSON`, {
      cause,
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${source}: the bootstrap is not UTF-8; save it as UTF-8`,
      { cause },
    );
  }
}

/**
 * Parses the bootstrap of gRPC, from text or JSON (C-GRPC-1). Unknown fields and server features
 * are ignored.
 *
 * Throws an XdsError, INVALID_ARGUMENT, with `source` (default: `bootstrap`), the path in the JSON,
 * the problem and the way to fix it.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/grpc_xds_bootstrap_format.md
 */
export function parseBootstrap(
  json: string | object,
  source = "bootstrap",
  { transports = [] }: Pick<BootstrapSources, "transports"> = {},
): Bootstrap {
  const known = new Set(transports);
  const whole =
    typeof json === "string"
      ? parseJson(json, source)
      : checkedDepth({ value: json as JsonValue, place: { source, path: "" } });
  const servers = parseServers(whole, known);
  if (servers.length === 0)
    throw wrongAt(
      whole.place,
      'has no xds_servers; give [{"server_uri": "host:port", "channel_creds": [{"type": "insecure"}]}]',
    );
  const [client, server] = [
    stringIn(whole, "client_default_listener_resource_name_template"),
    stringIn(whole, "server_listener_resource_name_template"),
  ];
  return {
    servers,
    node: parseNode(whole),
    authorities: parseAuthorities(whole, known),
    certificateProviders: providersOf(whole),
    ...(client !== undefined && { clientListenerTemplate: client }),
    ...(server !== undefined && { serverListenerTemplate: server }),
  };
}

function providersOf(bootstrap: Placed<JsonObject>): Bootstrap["certificateProviders"] {
  const providers = objectIn(bootstrap, "certificate_providers");
  return new Map(
    providers === undefined
      ? []
      : entries(providers).map(([name, entry]) => {
          const provider = asObject(entry);
          const plugin = required(
            stringIn(provider, "plugin_name"),
            provider,
            "plugin_name",
            'one like "file_watcher"',
          );
          return [name, { plugin, config: objectIn(provider, "config")?.value ?? {} }];
        }),
  );
}

/** Reads `authorities` of a bootstrap. A template of another authority is an error (N-91). */
function parseAuthorities(
  bootstrap: Placed<JsonObject>,
  transports: ReadonlySet<string>,
): Bootstrap["authorities"] {
  const authorities = objectIn(bootstrap, "authorities");
  return new Map(
    authorities === undefined
      ? []
      : entries(authorities).map(([name, entry]) => [
          name,
          authorityOf(name, asObject(entry), transports),
        ]),
  );
}

type Authority = Bootstrap["authorities"] extends ReadonlyMap<string, infer T> ? T : never;

function authorityOf(
  name: string,
  authority: Placed<JsonObject>,
  transports: ReadonlySet<string>,
): Authority {
  const template = stringIn(authority, "client_listener_resource_name_template");
  if (template !== undefined && !isTemplateOf(template, name)) {
    throw wrongAt(
      authority.place,
      `has a client_listener_resource_name_template of another authority; its own begin like ${defaultListenerTemplate(name)}`,
    );
  }
  return {
    servers: parseServers(authority, transports),
    fallbackOnReachabilityOnly: booleanIn(authority, "fallback_on_reachability_only"),
    ...(template !== undefined && { clientListenerTemplate: template }),
  };
}

/** Reads `node` of a bootstrap, or returns an empty node if it is absent. */
function parseNode(bootstrap: Placed<JsonObject>): BootstrapNode {
  const node = objectIn(bootstrap, "node");
  if (node === undefined) return { id: "", cluster: "" };
  const locality = objectIn(node, "locality");
  const metadata = objectIn(node, "metadata");
  return {
    id: stringIn(node, "id") ?? "",
    cluster: stringIn(node, "cluster") ?? "",
    ...(locality !== undefined && { locality: localityOf(locality) }),
    ...(metadata !== undefined && { metadata: metadata.value }),
  };
}

function localityOf(locality: Placed<JsonObject>): NonNullable<BootstrapNode["locality"]> {
  return {
    region: stringIn(locality, "region") ?? "",
    zone: stringIn(locality, "zone") ?? "",
    subZone: stringIn(locality, "sub_zone") ?? "",
  };
}

/** Reads `xds_servers` of a bootstrap or of an authority. Empty if it is absent. */
function parseServers(
  parent: Placed<JsonObject>,
  transports: ReadonlySet<string>,
): readonly BootstrapServer[] {
  return itemsIn(parent, "xds_servers").map((item) => {
    const server = asObject(item);
    const uri = stringIn(server, "server_uri");
    return {
      uri: required(
        uri === "" ? undefined : uri,
        server,
        "server_uri",
        'a string like "host:port"',
      ),
      credentials: parseCredentials(server, transports),
      features: featuresOf(server),
    };
  });
}

/** The features that are strings. Others are ignored, since a later version of gRPC may add features of other JSON types. */
function featuresOf(server: Placed<JsonObject>): ReadonlySet<string> {
  return new Set(
    itemsIn(server, "server_features")
      .map(({ value }) => value)
      .filter((value) => typeof value === "string"),
  );
}

const maxCharacters = 4 * 1024 * 1024;

/**
 * Returns the object in a text. Throws an XdsError with the position of a syntax error; it shows no
 * part of the text, since metadata may be secret.
 */
function parseJson(text: string, source: string): Placed<JsonObject> {
  const place: Place = { source, path: "" };
  if (text.length > maxCharacters)
    throw wrongAt(place, `has ${text.length} characters; at most ${maxCharacters} are read`);
  return checkedDepth({ value: parse(text.replace(/^\uFEFF/, ""), place), place });
}

/** Checks the depth of parsed JSON, and returns it as an object. */
function checkedDepth(json: Placed<JsonValue>): Placed<JsonObject> {
  if (isDeeperThan(json.value, maxMetadataDepth))
    throw wrongAt(
      json.place,
      `nests deeper than ${maxMetadataDepth} levels; no bootstrap needs more`,
    );
  return asObject(json);
}

function parse(text: string, place: Place): JsonValue {
  if (text.trim() === "") throw wrongAt(place, "is empty; give a JSON object with xds_servers");
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    // V8 does not always report the position; its other messages contain a part of the text.
    const where = /line \d+ column \d+/.exec(error instanceof Error ? error.message : "")?.[0];
    throw wrongAt(
      place,
      `is not JSON${where === undefined ? "" : ` at ${where}`}; comments, and commas before a bracket, are not allowed in it`,
    );
  }
}
