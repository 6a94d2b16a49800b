import {
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import {
  ConnectError,
  Code,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type ConnectRouter,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import {
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { StatusCode, XdsError } from "@xdstp/core";
import type { GrpcContext } from "./grpc-context.ts";
import { parseGrpcTimeout } from "../wire/request-headers.ts";
import type { CallPeer, MethodCall, MethodRouter } from "./method-router.ts";
import { rejectWithHttp } from "./end-request.ts";
import { longestTimerMs } from "../wire/deadlines.ts";

/** The methods that Connect serves. */
export interface ConnectRoutes {
  /**
   * Returns whether the client of a method sends one message or many. `undefined`: the path is not
   * a method.
   */
  find(path: string): "one-message" | "many-messages" | undefined;
  /** Serves a request whose path was found. */
  serve(request: ConnectRequest): void;
}

/** A request as an HTTP/2 server receives it. */
export interface ConnectRequest {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly flags: number;
  readonly rawHeaders: readonly string[];
  readonly peer: CallPeer;
  /** Called when the response begins. */
  onResponse(): void;
  /** Called if there can be no response. */
  onFault(): void;
}

/**
 * Creates the routes of one server. No compression is sent or read: Connect would compress every
 * message again for each client.
 *
 * This is connect-node's own adapter, except for two things: failures are events instead of lines
 * on the console, and its objects are created only for these requests, not for each raw stream.
 */
export function createConnectRoutes(
  routes: ((router: MethodRouter) => void) | undefined,
  context: GrpcContext,
  shutdown: AbortSignal,
): ConnectRoutes {
  const router = createConnectRouter({
    acceptCompression: [],
    readMaxBytes: context.limits.maxMessageBytes,
    shutdownSignal: shutdown,
    interceptors: [hideFaults(context)],
  });
  routes?.(narrowed(router));
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  const pending = new WeakMap<ServerHttp2Stream, ConnectRequest>();
  // Creates Node's request and response objects; it never listens.
  const objects = createServer((request, response) => {
    const of = pending.get(request.stream);
    const handler = handlers.get(pathOf(request.url));
    if (of !== undefined && handler !== undefined) answer(handler, request, response, of, context);
  });
  return {
    find(path) {
      const kind = handlers.get(pathOf(path))?.method.methodKind;
      if (kind === undefined) return undefined;
      return kind === "unary" || kind === "server_streaming" ? "one-message" : "many-messages";
    },
    serve(request) {
      pending.set(request.stream, request);
      objects.emit(
        "stream",
        request.stream,
        clampTimeouts(request.headers),
        request.flags,
        request.rawHeaders,
      );
    },
  };
}

/**
 * Returns a {@link MethodRouter} over the router of Connect. The types of Connect need the
 * libraries of a browser, so they are not exported.
 */
function narrowed(given: ConnectRouter): MethodRouter {
  const router = given as unknown as LooseRouter;
  return {
    rpc(method, handle) {
      router.rpc(method, withPeer(handle as AnyHandler));
    },
    service(service, handlers) {
      router.service(
        service,
        Object.fromEntries(
          Object.entries(handlers).map(([name, handle]) => [name, withPeer(handle as AnyHandler)]),
        ),
      );
    },
  };
}

type AnyHandler = (request: unknown, call: MethodCall) => unknown;
type ConnectHandler = (request: unknown, context: HandlerContext) => unknown;

/**
 * The router of Connect without its types for each kind of method; {@link MethodRouter} has these
 * types already.
 */
interface LooseRouter {
  rpc(method: DescMethod, handle: ConnectHandler): void;
  service(service: DescService, handlers: Readonly<Record<string, ConnectHandler>>): void;
}

const peerKey = createContextKey<CallPeer>({ address: "" }, { description: "who calls" });

/** Passes only these parts of Connect's context to a handler. */
function withPeer(handle: AnyHandler): ConnectHandler {
  return (request, { signal, requestHeader, values }) =>
    handle(request, { signal, requestHeader, peer: values.get(peerKey) });
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

function answer(
  handler: UniversalHandler,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  of: ConnectRequest,
  context: GrpcContext,
): void {
  const universal = read(request, response, of);
  if (universal === undefined) {
    rejectWithHttp(of.stream, 400);
    return;
  }
  const respond = async (): Promise<void> => {
    const result = await handler(universal);
    of.onResponse();
    await universalResponseToNodeResponse(result, response);
  };
  respond().catch((error: unknown) => {
    // A client that disconnects is not a fault.
    if (of.stream.destroyed || of.stream.closed || ConnectError.from(error).code === Code.Aborted)
      return;
    context.fault(handler.requestPath, error);
    of.onFault();
  });
}

/** Returns `undefined` if authority and path are not a valid URL. */
function read(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  { peer }: Pick<ConnectRequest, "peer">,
): UniversalServerRequest | undefined {
  try {
    return universalRequestFromNodeRequest(
      request,
      response,
      undefined,
      createContextValues().set(peerKey, peer),
    );
  } catch {
    return undefined;
  }
}

/**
 * An exception that is neither an XdsError nor a ConnectError is a bug: it is reported as an event,
 * and the client receives a fixed text.
 */
function hideFaults(context: GrpcContext): Interceptor {
  const hide = (path: string, error: unknown): ConnectError => {
    if (error instanceof ConnectError) return error;
    if (error instanceof XdsError) return new ConnectError(error.text, codeOf(error));
    context.fault(path, error);
    return new ConnectError("internal error", Code.Internal);
  };
  return (next) => async (request) => {
    const path = new URL(request.url).pathname;
    try {
      const response = await next(request);
      return response.stream
        ? { ...response, message: guarded(response.message, (error) => hide(path, error)) }
        : response;
    } catch (error) {
      throw hide(path, error);
    }
  };
}

/** gRPC and Connect use the same numbers for codes, except for OK, which is not an error. */
const codes: ReadonlyMap<number, Code> = new Map(
  Object.values(Code).flatMap((code) => (typeof code === "number" ? [[code, code] as const] : [])),
);

function codeOf({ code }: XdsError): Code {
  return codes.get(StatusCode[code]) ?? Code.Unknown;
}

async function* guarded<T>(
  messages: AsyncIterable<T>,
  hide: (error: unknown) => ConnectError,
): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw hide(error);
  }
}

/**
 * Limits a timeout to the maximum of a timer, 24 days. A longer one would fire at once, and Connect
 * does not check it.
 */
function clampTimeouts(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const grpc = headers["grpc-timeout"];
  if (typeof grpc === "string" && (parseGrpcTimeout(grpc) ?? 0) > longestTimerMs)
    headers["grpc-timeout"] = `${Math.floor(longestTimerMs / 1000)}S`;
  const connect = headers["connect-timeout-ms"];
  if (typeof connect === "string" && /^\d{1,10}$/.test(connect) && Number(connect) > longestTimerMs)
    headers["connect-timeout-ms"] = String(longestTimerMs);
  return headers;
}
