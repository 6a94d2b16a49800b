import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from "node:http2";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Clock } from "@xdstp/core";
import {
  ClientStatusDiscoveryService,
  type ClientStatusRequestSchema,
  type ClientStatusResponse,
} from "@xdstp/protos/status";
import { CliError } from "./cli-error.ts";
import { EXPLAIN } from "./told-explanation.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { SERVER_FACTS } from "./server-facts.ts";
import { REJECTIONS } from "./rejected-versions.ts";

/** The TLS of a client, PEM. */
export interface ClientTls {
  /** The authorities that verify the server's certificate. Absent: those of the machine. */
  readonly ca?: Buffer;
  /** The certificate that is shown to a server that requests one; only together with `key`. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** The options of {@link openStatusClient}. */
export interface StatusClientOptions {
  readonly server: Endpoint;
  /** Absent: no TLS. */
  readonly tls?: ClientTls | undefined;
  readonly clock: Clock;
  /** Milliseconds to wait for one answer. */
  readonly timeoutMs: number;
  /** true: a server that supports it sends one row for each type, without the resources. */
  readonly byType: boolean;
  /** The beginning of the ids of the requested clients. Absent: all clients. */
  readonly node?: string | undefined;
  /** The question why a client has a resource or does not have it, for servers that can explain this. Absent: client status is requested. */
  readonly explain?: { readonly node: string; readonly typeUrl: string; readonly name: string };
  /** Limits on the answers of the server. Absent: {@link defaultStatusLimits}. */
  readonly limits?: Partial<StatusLimits>;
}

/** Limits on the client status that a server sends. */
export interface StatusLimits {
  /** The number of bytes of one answer. */
  readonly maxMessageBytes: number;
}

/** The default limit of an answer. It is larger than the largest answer of `createServer`. */
export const defaultStatusLimits: StatusLimits = { maxMessageBytes: 80 << 20 };

/** A request for client status. */
export type StatusRequest = Omit<MessageInitShape<typeof ClientStatusRequestSchema>, "$typeName">;

/** A client of client status (CSDS) over one connection. */
export interface StatusClient {
  /** Requests client status. Without `request`, the request is made from the options. Rejects with a CliError of one line. */
  ask(request?: StatusRequest): Promise<ClientStatusResponse>;
  close(): void;
}

/** Creates a client, which connects with its first request. If the server does not offer the unary method, the streaming method is used. */
export function openStatusClient(options: StatusClientOptions): StatusClient {
  const { server, tls, clock, timeoutMs, limits } = options;
  const { maxMessageBytes } = { ...defaultStatusLimits, ...limits };
  // `origin` is in lower case and has no default port.
  const baseUrl = new URL(`${tls === undefined ? "http" : "https"}://${formatEndpoint(server)}`)
    .origin;
  const sessionManager = createHttp2Connection(baseUrl, { ...tls });
  const client = createClient(
    ClientStatusDiscoveryService,
    createGrpcTransport({ baseUrl, sessionManager, readMaxBytes: maxMessageBytes }),
  );
  const stateOfClients = requestOf(options);
  type Way = (request: StatusRequest, signal: AbortSignal) => Promise<ClientStatusResponse>;
  const fetched: Way = async (request, signal) => client.fetchClientStatus(request, { signal });
  const streamed: Way = async (request, signal) => {
    for await (const response of client.streamClientStatus(once(request), { signal }))
      return response;
    throw new ConnectError("the server has ended the stream without an answer", Code.Internal);
  };
  let way = fetched;
  return {
    close: () => {
      sessionManager.close();
    },
    async ask(request = stateOfClients) {
      const late = new AbortController();
      const timer = clock.after(timeoutMs, () => {
        late.abort();
      });
      try {
        return await way(request, late.signal).catch(async (error: unknown) => {
          if (way === streamed || ConnectError.from(error).code !== Code.Unimplemented) throw error;
          way = streamed;
          return streamed(request, late.signal);
        });
      } catch (error) {
        throw new CliError(
          1,
          `${formatEndpoint(server)} ${late.signal.aborted ? `has not answered within ${timeoutMs / 1_000} s` : whyNot(error, tls !== undefined)}`,
          { cause: error },
        );
      } finally {
        timer.cancel();
      }
    },
  };
}

function requestOf({ byType, node, explain }: StatusClientOptions): StatusRequest {
  const caller = { userAgentName: "xdstp" };
  if (explain !== undefined) {
    const { node: id, typeUrl, name } = explain;
    return {
      excludeResourceContents: true,
      node: {
        ...caller,
        clientFeatures: [SERVER_FACTS, EXPLAIN],
        metadata: { [EXPLAIN]: { node: id, type_url: typeUrl, name } },
      },
      nodeMatchers: [{ nodeId: { matchPattern: { case: "exact", value: id } } }],
    };
  }
  return {
    excludeResourceContents: true,
    node: {
      ...caller,
      clientFeatures: [
        SERVER_FACTS,
        ...(byType ? ["xdstp.status.by-type"] : []),
        ...(node === undefined ? [REJECTIONS] : []),
      ],
    },
    nodeMatchers:
      node === undefined ? [] : [{ nodeId: { matchPattern: { case: "prefix", value: node } } }],
  };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield await Promise.resolve(value);
}

/** Explains why there was no answer, and what to do. */
function whyNot(error: unknown, withTls: boolean): string {
  const { code, rawMessage } = ConnectError.from(error);
  const cause = causeCode(error);
  if (cause === "ECONNREFUSED") return "does not accept connections; is a server running there?";
  if (cause === "EAI_AGAIN")
    return "cannot be looked up: DNS does not answer (EAI_AGAIN); check the name servers of this machine";
  if (cause === "ENOTFOUND") return "is not known: the host does not exist";
  if (
    withTls &&
    ((cause ?? "").includes("CERTIFICATE_REQUIRED") || closedForSecurity.test(messagesOf(error)))
  )
    return "wants a client certificate that it trusts: give one with --tls-cert and --tls-key";
  if (cause !== undefined && /CERT|TLS|SSL|SELF_SIGNED|ISSUER|SIGNATURE/.test(cause))
    return `cannot be trusted or does not trust this client (${cause}); see --tls-ca, --tls-cert and --tls-key`;
  if (code === Code.Unimplemented)
    return "does not serve client status: envoy.service.status.v3.ClientStatusDiscoveryService is not offered there";
  if (code === Code.Unauthenticated || code === Code.PermissionDenied)
    return `does not tell this client: ${rawMessage}`;
  if (code === Code.ResourceExhausted)
    return `has too much to tell: ${rawMessage}${rawMessage.includes("readMaxBytes") ? "; larger answers are accepted with --channel-limit maxMessageBytes=NUMBER" : ""}`;
  // An error without a cause is an answer of the server itself. A failure of the connection has a cause.
  if (code === Code.Unavailable && ConnectError.from(error).cause === undefined)
    return `is not ready to answer: ${rawMessage}`;
  const undecodable = /^parse binary: (.*)$/s.exec(rawMessage)?.[1];
  if (undecodable !== undefined)
    return `has sent client status that cannot be decoded: ${undecodable}; a message in it is damaged, or nests too deeply`;
  if (ConnectError.from(error).metadata.has("grpc-status"))
    return `has answered with an error: ${rawMessage} [${Code[code]}]`;
  // A server that requires TLS ends the connection without an answer that can be read.
  const hint =
    withTls || ConnectError.from(error).cause === undefined
      ? ""
      : "; if it requires TLS, see --tls";
  return `does not answer as a gRPC server does: ${rawMessage}${hint}`;
}

/** The text of Node for the HTTP/2 error INADEQUATE_SECURITY, with which a server that requires a certificate closes the connection. */
const closedForSecurity = /Session closed with error code 12\b/;

function messagesOf(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${messagesOf(error.cause)}` : "";
}

/** Returns the innermost error code of the system or of TLS. */
function causeCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return causeCode(error.cause) ?? (typeof code === "string" ? code : undefined);
}

/** Makes requests over one HTTP/2 connection, with the interface that a transport of Connect needs. */
interface Http2Connection {
  readonly authority: string;
  request(method: string, path: string, headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream>;
  notifyResponseByteRead(stream: ClientHttp2Stream): void;
  close(): void;
}

/** Creates a connection. It connects with the first request, and again after it was lost. Errors reject the requests, also after `close`, and never end the process. */
function createHttp2Connection(
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
