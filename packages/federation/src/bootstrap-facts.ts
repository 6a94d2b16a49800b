import {
  type AnyBootstrap,
  type BootstrapNode,
  type SourceConfig,
  readBootstrap,
} from "@xdstp/bootstrap";

import { createSources } from "./create-sources.ts";
import type { FederationSource } from "./federation-source.ts";
import type { ServerOptions } from "./open-server.ts";
import { sourcesOfBootstrap } from "./sources-of-bootstrap.ts";

/** What every bootstrap says. */
export interface BootstrapFacts {
  /** The node of this client. */
  readonly node: BootstrapNode;
  /** Fields of the node that become context parameters (C-CTX-3). */
  readonly nodeContextParams: readonly string[];
  /** The one ADS source. Absent: opaque names are asked where the sources say. */
  readonly ads?: SourceConfig;
  /** The sources in order (C-AUTH-1). */
  sources(options: ServerOptions): readonly FederationSource[];
}

/** What programs take out of a bootstrap, whoever wrote it; without one, out of that of the environment (C-GRPC-1). Throws an XdsError where there is none, or a broken one. */
export function bootstrapFacts(given: AnyBootstrap | undefined): BootstrapFacts {
  if (given !== undefined && "sources" in given) {
    const { node, sources, ads, nodeContextParams = [] } = given;
    return {
      node,
      nodeContextParams,
      ...(ads !== undefined && { ads }),
      sources: (options) => createSources(sources, options),
    };
  }
  const bootstrap = given !== undefined && "servers" in given ? given : readBootstrap(given);
  return {
    node: bootstrap.node,
    nodeContextParams: [],
    sources: (options) => sourcesOfBootstrap(bootstrap, options),
  };
}
