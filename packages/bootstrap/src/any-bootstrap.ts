import type { Bootstrap, BootstrapNode } from "./grpc/bootstrap.ts";
import type { BootstrapSources } from "./grpc/read-bootstrap.ts";
import type { SourceConfig } from "./server-config.ts";

/** The servers to ask, and the node that asks: as `readEnvoyBootstrap` of `@xdstp/bootstrap/envoy` reads them, or as a program configures them itself. */
export interface SourcesBootstrap {
  /** The node that the bootstrap gives. */
  readonly node: BootstrapNode;
  /** In order (C-AUTH-1). */
  readonly sources: readonly SourceConfig[];
  /** The one ADS source. Default: opaque names are asked where the sources say. */
  readonly ads?: SourceConfig;
  /** Fields of the node that become context parameters (C-CTX-3). Default: none. */
  readonly nodeContextParams?: readonly string[];
}

/** What a client or a relay accepts as its bootstrap: one of gRPC, parsed or where it is; or sources. */
export type AnyBootstrap = Bootstrap | BootstrapSources | SourcesBootstrap;
