import { createSources, readBootstrap, sourcesOfBootstrap, type Bootstrap, type BootstrapNode, type BootstrapSources, type FederationSource, type ServerOptions, type SourceConfig } from "@xdstp/federation";
import type { EnvoyBootstrap } from "@xdstp/federation/envoy";

/** Whom to ask, and who asks: as `readEnvoyBootstrap` of `@xdstp/federation/envoy` reads it, or as a program configures it by itself. */
export interface SourcesBootstrap extends Pick<EnvoyBootstrap, "node" | "sources">, Partial<Pick<EnvoyBootstrap, "ads" | "nodeContextParams">> {}

/** A bootstrap of gRPC, parsed or where it is; or sources. */
export type ClientBootstrap = Bootstrap | BootstrapSources | SourcesBootstrap;

/** What every bootstrap says. */
export interface BootstrapFacts {
  readonly node: BootstrapNode;
  /** Fields of the node that become context parameters (C-CTX-3). */
  readonly nodeContextParams: readonly string[];
  /** The one ADS source. Absent: opaque names are asked where the sources say. */
  readonly ads?: SourceConfig;
  /** Who is asked for what, in order (C-AUTH-1). */
  sources(options: ServerOptions): readonly FederationSource[];
}

/** What a client takes out of its bootstrap. Throws an XdsError where there is none, or a broken one. */
export function bootstrapFacts(given: ClientBootstrap | undefined): BootstrapFacts {
  if (given !== undefined && "sources" in given) {
    const { node, sources, ads, nodeContextParams = [] } = given;
    return { node, nodeContextParams, ...(ads !== undefined && { ads }), sources: (options) => createSources(sources, options) };
  }
  const bootstrap = given !== undefined && "servers" in given ? given : readBootstrap(given);
  return { node: bootstrap.node, nodeContextParams: [], sources: (options) => sourcesOfBootstrap(bootstrap, options) };
}
