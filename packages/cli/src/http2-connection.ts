import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from "node:http2";

/** Makes requests over one HTTP/2 connection, in the form that a transport of Connect takes. */
export interface Http2Connection {
  readonly authority: string;
  request(method: string, path: string, headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream>;
  notifyResponseByteRead(stream: ClientHttp2Stream): void;
  close(): void;
}

/** Connects with the first request, and again after the connection was lost. Failures reach the requests, also after `close`: they never end the process. */
export function createHttp2Connection(
  authority: string,
  options: SecureClientSessionOptions,
): Http2Connection {
  let session: ClientHttp2Session | undefined;
  const opened = async (): Promise<ClientHttp2Session> => {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    const next = connect(authority, options);
    session = next;
    await new Promise<void>((resolve, reject) => {
      next.once("connect", () => {
        resolve();
      });
      next.on("error", reject);
      next.once("close", () => {
        reject(new Error("the connection was closed"));
      });
    });
    return next;
  };
  return {
    authority,
    request: async (method, path, headers) =>
      (await opened()).request({ ...headers, ":method": method, ":path": path }),
    notifyResponseByteRead: () => undefined,
    close: () => {
      session?.destroy();
    },
  };
}
