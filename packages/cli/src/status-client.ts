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

/** TLS towards a server: PEM. */
export interface ClientTls {
  /** Authorities of the server's certificate. Absent: those of the machine. */
  readonly ca?: Buffer;
  /** Shown to a server that asks for a certificate; both or none. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** What a {@link StatusClient} needs. */
export interface StatusClientOptions {
  readonly server: Endpoint;
  /** Absent: no TLS. */
  readonly tls?: ClientTls | undefined;
  readonly clock: Clock;
  /** Milliseconds for one answer. */
  readonly timeoutMs: number;
  /** A row for each type is enough, where the server can do that. */
  readonly byType: boolean;
  /** Only clients whose id begins so; absent: all. */
  readonly node?: string | undefined;
  /** Why a client has a resource or does not have it, where the server can explain that. Absent: that is not requested. */
  readonly explain?: { readonly node: string; readonly typeUrl: string; readonly name: string };
  /** Limits of the answers that are accepted from the server. Absent: {@link defaultStatusLimits}. */
  readonly limits?: Partial<StatusLimits>;
}

/** Limits on the client status that a server sends. */
export interface StatusLimits {
  /** Bytes of one answer. */
  readonly maxMessageBytes: number;
}

/** The answer may be larger than what our own server sends at most. */
export const defaultStatusLimits: StatusLimits = { maxMessageBytes: 80 << 20 };

/** A request for client status. */
export type StatusRequest = Omit<MessageInitShape<typeof ClientStatusRequestSchema>, "$typeName">;

/** Asks a server for client status (CSDS), over one connection. */
export interface StatusClient {
  /** The state now: what the request says, or without one the state of clients without the resources. Rejects with a CliError of one line. */
  ask(request?: StatusRequest): Promise<ClientStatusResponse>;
  close(): void;
}

/** Connects with the first request. Servers that offer only the stream are asked by it. */
export function openStatusClient(options: StatusClientOptions): StatusClient {
  const { server, tls, clock, timeoutMs, limits } = options;
  const { maxMessageBytes } = { ...defaultStatusLimits, ...limits };
  // The origin: without the port that goes without saying, and in lower case.
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

/** Why there was no answer, and the way out. */
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
  // An answer of the server itself, not a failure of the connection: that has a cause.
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

/** INADEQUATE_SECURITY, as Node says it: a server that wants a certificate closes the connection so. */
const closedForSecurity = /Session closed with error code 12\b/;

function messagesOf(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${messagesOf(error.cause)}` : "";
}

/** The innermost code of the system or of TLS. */
function causeCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return causeCode(error.cause) ?? (typeof code === "string" ? code : undefined);
}

/** Makes requests over one HTTP/2 connection, in the form that a transport of Connect takes. */
interface Http2Connection {
  readonly authority: string;
  request(method: string, path: string, headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream>;
  notifyResponseByteRead(stream: ClientHttp2Stream): void;
  close(): void;
}

/** Connects with the first request, and again after the connection was lost. Failures reach the requests, also after `close`: they never end the process. */
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
