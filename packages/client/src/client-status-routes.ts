import { create } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";
import type { CallPeer, MethodRouter } from "@xdstp/grpc/server";
import {
  ClientStatusDiscoveryService,
  ClientStatusResponseSchema,
  type ClientStatusRequest,
  type ClientStatusResponse,
} from "@xdstp/protos/status";

import type { Client } from "./client.ts";

/**
 * Client status (CSDS) of the clients of this process, side by side by their scopes (C-CSDS-6), for `routes` of a server whose own status is off: `createServer({ source, clientStatus: false, routes: clientStatusRoutes(() => [client]) })`.
 * A caller with `node_matchers` gets INVALID_ARGUMENT, since there is one node (B-CSDS-5). Secrets are blanked.
 */
export function clientStatusRoutes(
  clients: () => Iterable<Pick<Client, "dump">>,
  mayRead: (peer: CallPeer) => boolean | Promise<boolean> = () => true,
): (router: MethodRouter) => void {
  const answer = async (
    { nodeMatchers, excludeResourceContents }: ClientStatusRequest,
    peer: CallPeer,
  ): Promise<ClientStatusResponse> => {
    if (!(await mayRead(peer)))
      throw new XdsError("PERMISSION_DENIED", "this caller may not read the status of the client");
    if (nodeMatchers.length > 0)
      throw new XdsError(
        "INVALID_ARGUMENT",
        "node_matchers are for control planes; a client reports its own status only",
        { rule: "B-CSDS-5" },
      );
    const config = await Promise.all(
      [...clients()].map((client) => client.dump({ contents: !excludeResourceContents })),
    );
    return create(ClientStatusResponseSchema, { config });
  };
  return (router) => {
    router.service(ClientStatusDiscoveryService, {
      fetchClientStatus: (request, { peer }) => answer(request, peer),
      async *streamClientStatus(requests, { peer }) {
        for await (const request of requests) yield await answer(request, peer);
      },
    });
  };
}
