import type { SourceConfig } from "@xdstp/bootstrap";
import {
  createFederationServer,
  type FederationSource,
  type ResolveAuthority,
  type ServerOptions,
} from "@xdstp/federation";

/** Finds who answers for an authority that the bootstrap does not have: servers as configuration says them, such as `createDnsResolver()` of `@xdstp/bootstrap` finds, or ready-made ones. undefined, or an XdsError NOT_FOUND or INVALID_ARGUMENT: there is nobody; any other error may pass. */
export type FindSource = (
  authority: string,
) =>
  | SourceConfig
  | FederationSource
  | undefined
  | Promise<SourceConfig | FederationSource | undefined>;

/** The same for a federation: what is said by configuration is asked as the servers of the bootstrap are. */
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
