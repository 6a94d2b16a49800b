import { Agent, type IncomingMessage, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { Readable } from "node:stream";

import { type ChannelTls, credentialsOf, type Target } from "@xdstp/grpc/client";
import type { FetchLike } from "@xdstp/transport-rest/client";

/** Requests to one server over HTTP/1.1, with connections that are kept. */
export interface NodeFetch {
  /** Sends a request to the server. Only the path of the URL is used. */
  readonly fetch: FetchLike;
  /**
   * Replaces the certificates. Later requests use new connections; a request that waits keeps its
   * own. Throws an XdsError, INVALID_ARGUMENT, and changes nothing if the certificates are invalid.
   */
  replaceTls(tls: ChannelTls): void;
  /** Closes all connections. */
  close(): void;
}

/**
 * Creates requests to a server with certificates of its own or on a socket in the file system,
 * which the `fetch` of Node cannot reach.
 * Throws an XdsError, INVALID_ARGUMENT, if the certificates are invalid.
 */
export function createNodeFetch(target: Target, tls?: ChannelTls): NodeFetch {
  let agent = agentOf(tls);
  const send = (...[url, init]: Parameters<FetchLike>): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url);
      const { address } = target;
      const call = (agent instanceof TlsAgent ? tlsRequest : request)(
        {
          ...("path" in address ? { socketPath: address.path } : address),
          path: `${pathname}${search}`,
          method: init.method,
          headers: {
            ...init.headers,
            host: target.authority,
            "content-length": init.body.length,
          },
          agent,
          signal: init.signal,
        },
        resolve,
      );
      call.on("error", (error: NodeJS.ErrnoException) => {
        // The server has closed an idle connection at the moment of the request. A poll changes
        // nothing, so it is sent again.
        if (call.reusedSocket && error.code === "ECONNRESET" && !init.signal.aborted)
          resolve(send(url, init));
        else reject(error);
      });
      call.end(init.body);
    });
  return {
    fetch: async (url, init) => {
      const answer = await send(url, init);
      return {
        status: answer.statusCode ?? 0,
        headers: { get: (name) => answer.headers[name]?.toString() ?? null },
        body: Readable.toWeb(answer) as ReadableStream<Uint8Array>,
      };
    },
    replaceTls(next) {
      const before = agent;
      agent = agentOf(next);
      retire(before);
    },
    close: () => {
      agent.destroy();
    },
  };
}

function agentOf(tls: ChannelTls | undefined): Agent {
  if (tls === undefined) return new Agent({ keepAlive: true });
  const { context, servername } = credentialsOf(tls);
  return new TlsAgent({
    keepAlive: true,
    secureContext: context,
    ...(servername !== undefined && { servername }),
  });
}

/** Closes the idle connections now, and each of the others after its request. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
