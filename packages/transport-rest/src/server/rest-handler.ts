import type { Registry } from "@bufbuild/protobuf";
import {
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  type PeerIdentity,
  type Status,
  StatusCode,
  statusNameOf,
  systemClock,
  XdsError,
} from "@xdstp/core";
import type { DiscoveryRequest } from "@xdstp/protos/discovery";
import { SERVICES, type ServiceRow } from "@xdstp/protos/services";

import { createPollSessions, type PollLimits } from "./poll-sessions.ts";
import { type BodyForm, formInAccept, formOf, readPoll } from "./read-poll.ts";
import { createAnswerWriter } from "./write-answer.ts";

/** The limits of {@link createRestHandler}. */
export interface RestLimits extends PollLimits {
  /**
   * Milliseconds that a poll waits for something new if it does not ask for more. Default 100: the
   * time that a server needs for an answer under load.
   */
  readonly leastWaitMs: number;
  /** The maximum number of milliseconds that a poll may ask for. Default 30,000. */
  readonly mostWaitMs: number;
  /** The maximum size of a body in bytes. Default 4 MiB. */
  readonly bodyBytes: number;
}

/** Options of {@link createRestHandler}. */
export interface RestHandlerOptions {
  /**
   * Opens a SotW stream: `accept` of an `XdsServer`. Its limits, policies and status then hold for
   * polls as for all other clients.
   */
  readonly accept: (
    path: string,
    peer: string,
    out: ByteStream,
    identity?: PeerIdentity,
  ) => ByteStreamHandler | Status;
  /** The types of the resources, for answers in JSON. Default: none, so that answers are binary only. */
  readonly registry?: Registry;
  /** Services of your own with a `restPath`, in addition to those of Envoy's API. Default: none. */
  readonly services?: readonly ServiceRow[];
  /** Limits that replace the defaults. */
  readonly limits?: Partial<RestLimits>;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** A request, as an HTTP server has received it. */
export interface RestRequest {
  /** The method of HTTP, in upper case. */
  readonly method: string;
  /** The path, without a query. */
  readonly path: string;
  /** Returns a header by its name in lower case. */
  header(name: string): string | undefined;
  /** Reads the body. Resolves with `undefined` if it has more than this many bytes. */
  body(atMost: number): Promise<Uint8Array | undefined>;
  /** The address of the client, `host:port`. */
  readonly peer: string;
  /** The identity of the client, as its connection has verified it. */
  readonly identity?: PeerIdentity;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** An answer for an HTTP server. */
export interface RestAnswer {
  /** The status code of HTTP. */
  readonly status: number;
  /** Headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; `undefined`: none. */
  readonly body: Uint8Array | undefined;
  /** Call it when the answer was handed to the connection without an error. */
  readonly delivered: () => void;
}

/** Serves the polls of all clients. */
export interface RestHandler {
  /** Returns true if a path is one of those that are served: `/v3/discovery:clusters`. */
  serves(path: string): boolean;
  /** Answers a request. Never rejects. */
  handle(request: RestRequest): Promise<RestAnswer>;
  /** The number of clients and types that are remembered. */
  readonly sessions: number;
  /** Ends all sessions. */
  close(): void;
}

const defaults: RestLimits = {
  idleMs: 300_000,
  sessions: 50_000,
  sessionsPerClient: 16,
  againMs: 10_000,
  leastWaitMs: 100,
  mostWaitMs: 30_000,
  bodyBytes: 4 * 1024 * 1024,
};

const httpCodes: Partial<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
};

/**
 * Creates the server's end of REST-JSON polling (section 24 of the rules): `POST` to the path of a
 * type, with a `DiscoveryRequest` as the body. The answer is 200 with a `DiscoveryResponse`, or 304
 * if there is nothing new. A client that sends `prefer: wait=SECONDS` is answered as soon as there
 * is something new.
 *
 * It has no I/O of its own; {@link createRestListener} connects it to an HTTP server of Node.
 */
export function createRestHandler(options: RestHandlerOptions): RestHandler {
  const { accept, registry, services = [], clock = systemClock } = options;
  const limits = { ...defaults, ...options.limits };
  const methods = methodsByPath([...services, ...SERVICES]);
  const sessions = createPollSessions(clock, limits);
  const write = createAnswerWriter(registry);

  const answer = async (request: RestRequest): Promise<RestAnswer> => {
    const method = methods.get(request.path);
    if (method === undefined)
      return failure(404, "UNIMPLEMENTED", `${request.path} is not a path of this server`);
    if (request.method !== "POST")
      return { ...failure(405, "UNIMPLEMENTED", "send a POST"), headers: { allow: "POST" } };
    const form = formOf(request.header("content-type"));
    if (form === undefined)
      return failure(415, "INVALID_ARGUMENT", "send application/json or application/x-protobuf");
    const body = await request.body(limits.bodyBytes);
    if (body === undefined) return failure(413, "RESOURCE_EXHAUSTED", tooLarge(limits));
    const poll = readPoll(body, form);
    checkType(poll, method.typeUrl, request.path);
    const { peer, identity, signal } = request;
    const given = await sessions.poll({
      key: JSON.stringify([method.typeUrl, identity ?? "", ...nameOf(poll, peer)]),
      request: { ...poll, typeUrl: method.typeUrl },
      waitMs: waitOf(request.header("prefer"), limits),
      signal,
      open: (out) => accept(method.stream, peer, out, identity),
    });
    if (given.kind === "unchanged") return { status: 304, headers: {}, body: undefined, delivered };
    if (given.kind === "rejected") return ofStatus(given.status);
    const wanted = formInAccept(request.header("accept"), form);
    return {
      status: 200,
      headers: { "content-type": mediaTypes[wanted] },
      body: write(given.bytes, wanted),
      delivered: () => {
        given.delivered();
      },
    };
  };
  return {
    serves: (path) => methods.has(path),
    handle: async (request) => {
      try {
        return await answer(request);
      } catch (error) {
        return ofError(error);
      }
    },
    get sessions() {
      return sessions.size;
    },
    close: () => {
      sessions.close();
    },
  };
}

function tooLarge({ bodyBytes }: RestLimits): string {
  return `the body is larger than ${String(bodyBytes)} bytes; the limit of the server is bodyBytes`;
}

const mediaTypes: Readonly<Record<BodyForm, string>> = {
  json: "application/json",
  binary: "application/x-protobuf",
};

interface RestMethod {
  readonly typeUrl: string;
  /** The path of the SotW stream of the type. */
  readonly stream: string;
}

function methodsByPath(services: readonly ServiceRow[]): ReadonlyMap<string, RestMethod> {
  const methods = new Map<string, RestMethod>();
  for (const { restPath, typeUrl, service, sotw } of services)
    if (restPath !== undefined && typeUrl !== undefined && sotw !== undefined)
      if (!methods.has(restPath)) methods.set(restPath, { typeUrl, stream: `/${service}/${sotw}` });
  return methods;
}

/**
 * The name of a client: its node id, which it claims, and its host; without a node id, its address.
 * Replicas often have the same node id, and must not answer for each other.
 */
function nameOf({ node }: DiscoveryRequest, peer: string): readonly string[] {
  return node === undefined || node.id === "" ? [peer] : [node.id, peer.replace(/:\d+$/, "")];
}

/** The type follows from the path, so a request need not name it (S-REST-2). */
function checkType({ typeUrl }: DiscoveryRequest, served: string, path: string): void {
  if (typeUrl === "" || typeUrl === served) return;
  throw new XdsError(
    "INVALID_ARGUMENT",
    `type_url is ${JSON.stringify(typeUrl)}, but ${path} serves ${served}`,
    { typeUrl, rule: "S-REST-2" },
  );
}

/** Reads `prefer: wait=SECONDS` (RFC 7240). */
function waitOf(prefer: string | undefined, { leastWaitMs, mostWaitMs }: RestLimits): number {
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(prefer ?? "") ?? [];
  if (seconds === undefined) return leastWaitMs;
  return Math.min(Math.max(Number(seconds) * 1_000, leastWaitMs), mostWaitMs);
}

function ofError(error: unknown): RestAnswer {
  if (!(error instanceof XdsError)) return failure(500, "INTERNAL", "internal error");
  return failure(httpCodes[error.code] ?? 500, error.code, error.text);
}

function ofStatus({ code, message }: Status): RestAnswer {
  const name = code === StatusCode.OK ? "UNAVAILABLE" : (statusNameOf(code) ?? "UNKNOWN");
  return failure(httpCodes[name] ?? 500, name, message);
}

function failure(status: number, code: string, message: string): RestAnswer {
  return {
    status,
    headers: {
      "content-type": "application/json",
      ...((status === 503 || status === 429) && { "retry-after": "1" }),
    },
    body: new TextEncoder().encode(JSON.stringify({ code, message })),
    delivered,
  };
}

function delivered(): void {
  // Nothing waits for it.
}
