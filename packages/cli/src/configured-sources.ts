import {
  createChannels,
  encodeNode,
  type Channels,
  type Transport,
  type BootstrapNode,
  type SourceConfig,
} from "@xdstp/bootstrap";
import type { EnvoyBootstrap, EnvoyConfigSource } from "@xdstp/bootstrap/envoy";
import type { ClientBootstrap } from "@xdstp/client";
import type { Clock } from "@xdstp/core";
import {
  createSources,
  explain,
  type FederationServer,
  type FederationSource,
  type ServerOptions,
} from "@xdstp/federation";
import { cluster, listener } from "@xdstp/resource-types";
import type { FileEvent } from "@xdstp/transport-file/client";
import { memberTypeOf, parseLocator, printLocator } from "@xdstp/uri";
import type { CliIo } from "./cli-io.ts";
import { loadRegistry } from "./load-registry.ts";
import { loadTransports } from "./load-transports.ts";
import { asCliError, type Spoken } from "./cli-error.ts";
import type { AskFlags } from "./ask-flags.ts";
import { askedBootstrap, envoyBootstrapText, nodeOf } from "./asked-bootstrap.ts";

/** The configured sources. Reading them connects to no server. */
export interface ConfiguredSources {
  /** The file, variable or option that configures them. */
  readonly from: string;
  /** The bootstrap for `createClient`. */
  readonly bootstrap: ClientBootstrap;
  /** All sources in order: those of `more`, then those of the bootstrap. */
  readonly sources: readonly FederationSource[];
  /** The sources that are not in the bootstrap: the directory of `--files`. */
  readonly more: readonly FederationSource[];
  /** Creates the channels to all servers: over gRPC, over transports, and to the files of a bootstrap. `onFile` receives the events of these files. */
  readonly openChannels: (clock: Clock, onFile: (event: FileEvent) => void) => Promise<Channels>;
  readonly node: BootstrapNode;
  /** `node_context_params` of the Envoy bootstrap. Empty for other configurations. */
  readonly nodeContextParams: readonly string[];
  /** Returns the ConfigSource of `lds_config` or `cds_config` for listeners or clusters, and for lists of them. `undefined`: the type does not have one. */
  readonly ownSource: (typeUrl: string | undefined) => BesideSource | undefined;
  /** Returns the variant of a server. Pass its id if it is known, since two servers may have the same URI and different variants. */
  readonly spoken: (server: string, id?: string) => Spoken;
}

/** A ConfigSource of `lds_config` or `cds_config`: its configuration, and the source that is made of it. */
export interface BesideSource {
  readonly config: SourceConfig;
  readonly source: FederationSource;
}

/** Reads a bootstrap of gRPC or Envoy, or the options of the command. Throws a CliError that says what is invalid. */
export async function configuredSources(
  flags: AskFlags,
  { env, cwd }: Pick<CliIo, "env" | "cwd">,
): Promise<ConfiguredSources> {
  const transports = await loadTransports(flags.transports ?? [], cwd);
  const configured = await bootstrapSources(flags, env, Object.keys(transports));
  const more = flags.files === undefined ? [] : [await filesBelow(flags.files)];
  return {
    ...configured,
    more,
    sources: [...more, ...configured.sources],
    openChannels: async (clock, onFile) =>
      createChannels({
        clock,
        limits: flags.limits ?? {},
        transports: {
          ...(hasFiles(configured) && { file: await fileTransport(onFile) }),
          ...transports,
        },
      }),
  };
}

function hasFiles({ sources, ownSource }: BootstrapSources): boolean {
  const ofTypes = [listener, cluster].flatMap(({ typeUrl }) => ownSource(typeUrl)?.source ?? []);
  return [...sources, ...ofTypes].some(({ servers }) =>
    servers.some(({ config }) => config?.file !== undefined),
  );
}

/** Returns the transport for `path_config_source`. Loaded only if a bootstrap has files, since it starts slowly. */
async function fileTransport(onEvent: (event: FileEvent) => void): Promise<Transport> {
  const { createFileTransport } = await import("@xdstp/transport-file/client");
  return createFileTransport({ registry: await loadRegistry([]), onEvent });
}

/** Milliseconds after which a file that does not exist is reported as missing. A person waits for the report. */
const missingFileMs = 1_000;

/** Returns the source of names of files below a directory. */
async function filesBelow(directory: string): Promise<FederationSource> {
  const { createNativeFileSource } = await import("@xdstp/transport-file/client");
  const registry = await loadRegistry([]);
  const source = createNativeFileSource({ directory, registry, fetchMs: missingFileMs });
  return { ...source, place: `--files ${directory}` };
}

/** The sources of a bootstrap, or of the options of the command. */
type BootstrapSources = Omit<ConfiguredSources, "more" | "openChannels">;

async function bootstrapSources(
  flags: AskFlags,
  env: CliIo["env"],
  transports: readonly string[],
): Promise<BootstrapSources> {
  const text = flags.bootstrap === undefined ? undefined : envoyBootstrapText(flags.bootstrap);
  if (flags.bootstrap !== undefined && text !== undefined)
    return envoySources(text, flags.bootstrap, flags);
  const bootstrap = await askedBootstrap(flags, env, transports);
  if (bootstrap.servers.length === 0)
    return {
      from: flags.dns === true ? "--dns" : "--files",
      bootstrap: { node: bootstrap.node, sources: [] },
      node: bootstrap.node,
      nodeContextParams: [],
      sources: [],
      ownSource: () => undefined,
      spoken: () => ({ variant: flags.variant }),
    };
  const sources = readBy(() => createSources(bootstrap, optionsOf(bootstrap.node, flags)));
  const given = {
    bootstrap,
    node: bootstrap.node,
    nodeContextParams: [],
    ownSource: () => undefined,
    spoken: () => ({ variant: flags.variant }),
  };
  const from = flags.server?.from;
  if (from !== undefined)
    return { ...given, from, sources: sources.map((source) => ({ ...source, place: from })) };
  return { ...given, from: flags.bootstrap ?? nameOf(env), sources };
}

/** Returns the servers of a name, in the order in which they are used. For an xdstp name, these are the servers of its authority. */
export function serversAsked(
  { sources, ownSource }: ConfiguredSources,
  name: string,
  typeUrl: string,
): readonly FederationServer[] {
  const parsed = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  const bare =
    parsed?.ok === true && parsed.value.scheme === "xdstp"
      ? printLocator({ ...parsed.value, contextParams: new Map(), directives: [] })
      : name;
  const source = ownSource(typeUrl)?.source;
  return (
    explain(sources, bare, source === undefined ? {} : { ownSource: source })[0]?.servers ?? []
  );
}

function nameOf({
  GRPC_XDS_BOOTSTRAP: path = "",
}: Readonly<Record<string, string | undefined>>): string {
  return path === "" ? "GRPC_XDS_BOOTSTRAP_CONFIG" : path;
}

/** Returns the options for the sources of a command. No connection is opened before a source is. */
export function optionsOf(node: BootstrapNode, { variant }: AskFlags): ServerOptions {
  return { node: encodeNode(node), channels: createChannels(), variant };
}

async function envoySources(
  text: string,
  file: string,
  flags: AskFlags,
): Promise<BootstrapSources> {
  const { readEnvoyBootstrap } = await import("@xdstp/bootstrap/envoy");
  const read = readBy(() => readEnvoyBootstrap(text, file));
  const {
    nodeContextParams,
    configSources: { listeners, clusters },
  } = read;
  const node = nodeOf(read.node, flags);
  const options = optionsOf(node, flags);
  const besides = new Map<string, SourceConfig | undefined>([
    [listener.typeUrl, besideOf("lds_config", listeners, read)],
    [cluster.typeUrl, besideOf("cds_config", clusters, read)],
  ]);
  const servers = [...read.sources, ...besides.values()].flatMap((source) => source?.servers ?? []);
  const variants = new Map(servers.map(({ uri, variant = flags.variant }) => [uri, variant]));
  const all = [...read.sources, ...besides.values()].filter((source) => source !== undefined);
  const byId = new Map(
    readBy(() => createSources(all, options))
      .flatMap((source) => source.servers)
      .map(({ id, config }) => [id, config?.variant]),
  );
  return {
    from: file,
    bootstrap: { ...read, node },
    node,
    nodeContextParams,
    sources: createSources(read.sources, options),
    spoken: (server, id = "") => ({
      variant: byId.get(id) ?? variants.get(server) ?? flags.variant,
      by: file,
    }),
    ownSource(typeUrl = "") {
      const config = besides.get(memberTypeOf(typeUrl) ?? typeUrl);
      const source = config === undefined ? undefined : createSources([config], options)[0];
      return config === undefined || source === undefined ? undefined : { config, source };
    },
  };
}

function besideOf(
  field: string,
  source: EnvoyConfigSource | undefined,
  { ads }: EnvoyBootstrap,
): SourceConfig | undefined {
  const servers = source?.kind === "servers" ? source.servers : ads?.servers;
  if (source === undefined || servers === undefined) return undefined;
  return {
    servers,
    place: `dynamic_resources.${field}`,
    ...(source.authorities.length > 0 && { authorities: source.authorities }),
  };
}

function readBy<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asCliError(error);
  }
}
