import {
  createChannels,
  encodeNode,
  type BootstrapNode,
  type SourceConfig,
} from "@xdstp/bootstrap";
import type { EnvoyBootstrap, EnvoyConfigSource } from "@xdstp/bootstrap/envoy";
import type { ClientBootstrap } from "@xdstp/client";
import {
  createSources,
  explain,
  type FederationServer,
  type FederationSource,
  type ServerOptions,
} from "@xdstp/federation";
import { cluster, listener } from "@xdstp/resource-types";
import { memberTypeOf, parseLocator, printLocator } from "@xdstp/uri";
import { asCliError, type Spoken } from "./cli-error.ts";
import type { AskFlags } from "./ask-flags.ts";
import { askedBootstrap, envoyBootstrapText, nodeOf } from "./asked-bootstrap.ts";

/** The configured sources. Nothing is requested here. */
export interface ConfiguredSources {
  /** The file, variable or option that says so. */
  readonly from: string;
  /** For a client that asks them. */
  readonly bootstrap: ClientBootstrap;
  readonly sources: readonly FederationSource[];
  readonly node: BootstrapNode;
  /** `node_context_params` of Envoy. */
  readonly nodeContextParams: readonly string[];
  /** The ConfigSource that stands next to references to a type, also where it is a list of them. */
  readonly ownSource: (typeUrl: string | undefined) => BesideSource | undefined;
  /** How a server is spoken to, by its id where that is known: two servers may have one URI and differ in the variant. */
  readonly spoken: (server: string, id?: string) => Spoken;
}

/** A ConfigSource next to references: as it is configured, and as it is asked. */
export interface BesideSource {
  readonly config: SourceConfig;
  readonly source: FederationSource;
}

/** Reads a bootstrap of gRPC or Envoy, or what was typed. Throws a CliError that says what is wrong in it. */
export async function configuredSources(
  flags: AskFlags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ConfiguredSources> {
  const text = flags.bootstrap === undefined ? undefined : envoyBootstrapText(flags.bootstrap);
  if (flags.bootstrap !== undefined && text !== undefined)
    return envoySources(text, flags.bootstrap, flags);
  const bootstrap = await askedBootstrap(flags, env);
  if (bootstrap.servers.length === 0)
    return {
      from: "--dns",
      bootstrap: { node: bootstrap.node, sources: [] },
      node: bootstrap.node,
      nodeContextParams: [],
      sources: [],
      ownSource: () => undefined,
      spoken: () => ({ variant: flags.variant }),
    };
  const sources = createSources(bootstrap, optionsOf(bootstrap.node, flags));
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

/** The servers of a name of a type, in order; with a locator, those of its authority. */
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

/** How the sources of a command are asked. Nothing connects before one is opened. */
export function optionsOf(node: BootstrapNode, { variant }: AskFlags): ServerOptions {
  return { node: encodeNode(node), channels: createChannels(), variant };
}

async function envoySources(
  text: string,
  file: string,
  flags: AskFlags,
): Promise<ConfiguredSources> {
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
    createSources(all, options)
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
