import { createChannels, createSources, encodeNode, sourcesOfBootstrap, type BootstrapNode, type FederationSource, type ServerOptions, type SourceConfig } from "@xdstp/federation";
import { XdsError } from "@xdstp/core";
import type { EnvoyBootstrap, EnvoyConfigSource } from "@xdstp/federation/envoy";
import { cluster, listener } from "@xdstp/resource-types";
import type { AskFlags } from "./ask-flags.ts";
import { askedBootstrap, nodeOf } from "./asked-bootstrap.ts";
import { CliError } from "./cli-error.ts";
import { envoyBootstrapText } from "./envoy-bootstrap-text.ts";

/** Who is configured to be asked; nobody is. */
export interface ConfiguredSources {
  /** The file, variable or option that says so. */
  readonly from: string;
  readonly sources: readonly FederationSource[];
  readonly node: BootstrapNode;
  /** `node_context_params` of Envoy. */
  readonly nodeContextParams: readonly string[];
  /** The ConfigSource that stands beside references to a type. */
  readonly beside: (typeUrl: string | undefined) => FederationSource | undefined;
}

/** Reads a bootstrap of gRPC or Envoy, or what was typed. Throws a CliError that says what is wrong in it. */
export async function configuredSources(flags: AskFlags, env: Readonly<Record<string, string | undefined>>): Promise<ConfiguredSources> {
  const text = flags.bootstrap === undefined ? undefined : envoyBootstrapText(flags.bootstrap);
  if (flags.bootstrap !== undefined && text !== undefined) return envoySources(text, flags.bootstrap, flags);
  const bootstrap = await askedBootstrap(flags, env);
  const sources = sourcesOfBootstrap(bootstrap, optionsOf(bootstrap.node, flags));
  const given = { node: bootstrap.node, nodeContextParams: [], beside: () => undefined };
  if (flags.server !== undefined) return { ...given, from: "--server", sources: sources.map((source) => ({ ...source, place: "--server" })) };
  return { ...given, from: flags.bootstrap ?? nameOf(env), sources };
}

function nameOf({ GRPC_XDS_BOOTSTRAP: path = "" }: Readonly<Record<string, string | undefined>>): string {
  return path === "" ? "GRPC_XDS_BOOTSTRAP_CONFIG" : path;
}

/** Nothing connects before a source is opened. */
function optionsOf(node: BootstrapNode, { variant }: AskFlags): ServerOptions {
  return { node: encodeNode(node), channels: createChannels(), variant };
}

async function envoySources(text: string, file: string, flags: AskFlags): Promise<ConfiguredSources> {
  const { readEnvoyBootstrap } = await import("@xdstp/federation/envoy");
  const bootstrap = readBy(() => readEnvoyBootstrap(text, file));
  const { nodeContextParams, configSources: { listeners, clusters } } = bootstrap;
  const node = nodeOf(bootstrap.node, flags);
  const options = optionsOf(node, flags);
  const besides = new Map([[listener.typeUrl, besideOf("lds_config", listeners, bootstrap)], [cluster.typeUrl, besideOf("cds_config", clusters, bootstrap)]]);
  return {
    from: file, node, nodeContextParams,
    sources: createSources(bootstrap.sources, options),
    beside(typeUrl = "") {
      const source = besides.get(typeUrl);
      return source === undefined ? undefined : createSources([source], options)[0];
    },
  };
}

function besideOf(field: string, source: EnvoyConfigSource | undefined, { ads }: EnvoyBootstrap): SourceConfig | undefined {
  const servers = source?.kind === "servers" ? source.servers : ads?.servers;
  if (source === undefined || servers === undefined) return undefined;
  return { servers, place: `dynamic_resources.${field}`, ...(source.authorities.length > 0 && { authorities: source.authorities }) };
}

function readBy<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof XdsError ? new CliError(1, error.text, { cause: error }) : error;
  }
}
