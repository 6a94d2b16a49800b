import { XdsError } from "@xdstp/core";
import { defaultListenerTemplate, expandTemplate } from "@xdstp/uri";

import type { Bootstrap } from "./bootstrap.ts";

/**
 * Returns the name of the listener of a data-plane target, as in gRPC (C-GRPC-1, A47): by the
 * template of its authority or, without an authority, by the template of the bootstrap.
 * Throws an XdsError, INVALID_ARGUMENT, for an authority that the bootstrap does not have.
 * @param target - The target that a program dials: the path of `xds://AUTHORITY/TARGET`, without
 * its first slash
 * @param authority - The authority of the target. Absent: it has none
 */
export function clientListenerName(
  { authorities, clientListenerTemplate = "%s" }: Bootstrap,
  target: string,
  authority?: string,
): string {
  if (authority === undefined) return expandTemplate(clientListenerTemplate, target);
  const known = authorities.get(authority);
  if (known === undefined)
    throw new XdsError(
      "INVALID_ARGUMENT",
      `the bootstrap has no authority ${JSON.stringify(authority)}; add it under authorities`,
      { rule: "C-AUTH-5" },
    );
  return expandTemplate(known.clientListenerTemplate ?? defaultListenerTemplate(authority), target);
}

/**
 * Returns the name of the listener of an xDS server, by the address that it listens on (C-GRPC-17,
 * A36). A server whose listener is missing or removed does not serve, and keeps watching, since the
 * listener may be added at any time.
 * Throws an XdsError, FAILED_PRECONDITION, if the bootstrap has no template for it.
 * @param address - As `0.0.0.0:8080` or `[::]:8080`
 */
export function serverListenerName({ serverListenerTemplate }: Bootstrap, address: string): string {
  if (serverListenerTemplate === undefined)
    throw new XdsError(
      "FAILED_PRECONDITION",
      "the bootstrap has no server_listener_resource_name_template, which xDS servers need; add one, such as grpc/server?xds.resource.listening_address=%s",
    );
  return expandTemplate(serverListenerTemplate, address);
}
