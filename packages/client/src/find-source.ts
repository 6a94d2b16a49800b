import type { SourceConfig } from "@xdstp/bootstrap";
import {
  createFederationServer,
  type FederationSource,
  type ResolveAuthority,
  type ServerOptions,
} from "@xdstp/federation";

/** Finds the servers of an authority that the bootstrap does not have: in the form of the configuration, such as `createDnsResolver()` of `@xdstp/bootstrap` finds, or ready-made ones. undefined, or an XdsError NOT_FOUND or INVALID_ARGUMENT: there are none; any other error may pass. */
export type FindSource = (
  authority: string,
) =>
  | SourceConfig
  | FederationSource
  | undefined
  | Promise<SourceConfig | FederationSource | undefined>;

/** The same for a federation: servers in the form of the configuration are used as those of the bootstrap are. */
export function resolveBy(find: FindSource, options: ServerOptions): ResolveAuthority {
  return async (authority) => {
    const found = await find(authority);
    return (
      found && {
        ...found,
        servers: found.servers.map((server) =>
          "open" in server ? server : createFederationServer(server, options),
        ),
      }
    );
  };
}
