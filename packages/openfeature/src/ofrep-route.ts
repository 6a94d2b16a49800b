import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Clock, systemClock, XdsError } from "@xdstp/core";
import type { CallPeer, HttpListener, HttpRequest } from "@xdstp/grpc/server";

import { evaluateAll, evaluateFlag } from "./evaluate-flags.ts";
import type { FlagDocument } from "./flag-document.ts";
import type { FlagSource, OpenFlags } from "./flag-source.ts";
import type { FlagLimits } from "./flag-limits.ts";
import type { FlagCounters } from "./flags-status.ts";
import type { FlagsOptions } from "./flags-options.ts";
import { notSettled } from "./flag-sync.ts";
import { changeEvents, writeEvents } from "./ofrep-events.ts";
import { createRequestWindow, type RequestWindow } from "./request-window.ts";
import { OfrepError, readContext } from "./ofrep-request.ts";

const bulkPath = "/ofrep/v1/evaluate/flags";
const eventPath = "/ofrep/v1/events";

interface Exchange {
  readonly request: HttpRequest;
  readonly response: ServerResponse;
  readonly peer: CallPeer;
  readonly path: string;
  /** Aborts when the response is over. */
  readonly signal: AbortSignal;
}

interface Context {
  readonly source: FlagSource;
  readonly limits: FlagLimits;
  readonly clock: Clock;
  readonly window: RequestWindow;
  readonly counters: FlagCounters;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Serves OFREP, the HTTP protocol of OpenFeature: the server evaluates, and pages and programs of
 * any language get values. Use it in the option `http` of `createServer` of `@xdstp/server`.
 *
 * `POST /ofrep/v1/evaluate/flags/KEY` evaluates one flag, `POST /ofrep/v1/evaluate/flags` all, with
 * `etag` and 304. Answers name an event stream, `GET /ofrep/v1/events`, whose events ask the client
 * to evaluate again.
 */
export function createOfrepRoute(
  source: FlagSource,
  counters: FlagCounters,
  { allowOrigin = "*", clock = systemClock }: Pick<FlagsOptions, "allowOrigin" | "clock"> = {},
): HttpListener {
  const { limits } = source;
  const context: Context = {
    source,
    limits,
    clock,
    window: createRequestWindow(clock, limits.requestsPerSecond),
    counters,
  };
  const cors: Readonly<Record<string, string>> =
    allowOrigin === false
      ? {}
      : {
          "access-control-allow-origin": allowOrigin,
          "access-control-expose-headers": "etag, retry-after",
        };
  return (request, anyResponse, peer) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (!path.startsWith("/ofrep/")) return false;
    const response = anyResponse as ServerResponse;
    const ended = new AbortController();
    response.on("close", () => {
      ended.abort();
    });
    // A client that disconnects is not a fault; `close` follows.
    response.on("error", () => undefined);
    const exchange = { request, response, peer, path, signal: ended.signal };
    void respond(context, exchange, cors).catch(() => {
      response.destroy();
    });
    return true;
  };
}

async function respond(
  context: Context,
  exchange: Exchange,
  cors: Readonly<Record<string, string>>,
): Promise<void> {
  const { request, response, path } = exchange;
  let answer: Answer;
  try {
    if (request.method === "OPTIONS") answer = { status: 204, headers: preflight };
    else if (path === eventPath && request.method === "GET") {
      await sendEvents(context, exchange, cors);
      return;
    } else answer = await evaluate(context, exchange);
  } catch (error) {
    answer = failureOf(error);
  }
  count(context.counters, answer.status);
  if (response.destroyed) return;
  // Unread parts of a body would block the connection.
  request.resume();
  const body = answer.body === undefined ? undefined : JSON.stringify(answer.body);
  const { connection, ...headers } = answer.headers ?? {};
  response.writeHead(answer.status, {
    ...cors,
    ...headers,
    ...(connection !== undefined && request.httpVersionMajor === 1 && { connection }),
    ...(body !== undefined && {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    }),
  });
  response.end(body);
}

function count({ answered }: FlagCounters, status: number): void {
  answered.set(status, (answered.get(status) ?? 0) + 1);
}

const preflight = {
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "authorization, content-type, if-none-match, x-api-key",
  "access-control-max-age": "86400",
};

async function evaluate(context: Context, exchange: Exchange): Promise<Answer> {
  const { request, peer, path, signal } = exchange;
  const key = keyOf(path);
  if (request.method !== "POST")
    throw new OfrepError(405, "GENERAL", "send a POST", { allow: "POST, OPTIONS" });
  const waitMs = context.window.take(peer.address);
  if (waitMs > 0)
    throw new OfrepError(
      429,
      "GENERAL",
      `more than ${context.limits.requestsPerSecond} requests per second`,
      { "retry-after": String(Math.ceil(waitMs / 1_000)) },
    );
  const evaluationContext = await readContext(request, context.limits, context.clock);
  const opened = await context.source.open(peer, { path, signal });
  try {
    const document = await settled(context, opened);
    if (key !== undefined) {
      const flag = evaluateFlag(document, key, evaluationContext);
      if (flag === undefined)
        return {
          status: 404,
          body: { key, errorCode: "FLAG_NOT_FOUND", errorDetails: `no flag has the key "${key}"` },
        };
      return { status: "errorCode" in flag ? 400 : 200, body: flag };
    }
    const flags = evaluateAll(document, evaluationContext);
    const etag = `"${createHash("sha256").update(JSON.stringify(flags)).digest("base64url")}"`;
    const headers = { etag, "cache-control": "no-cache" };
    if (matches(request.headers["if-none-match"], etag)) return { status: 304, headers };
    const eventStreams = [{ type: "sse", endpoint: { requestUri: eventPath } }];
    return { status: 200, headers, body: { flags, eventStreams } };
  } finally {
    opened.release();
  }
}

/** Returns the key in the path; undefined for all flags. Throws an OfrepError for another path. */
function keyOf(path: string): string | undefined {
  if (path === bulkPath) return undefined;
  const key = path.slice(bulkPath.length + 1);
  if (!path.startsWith(`${bulkPath}/`) || key === "" || key.includes("/"))
    throw new OfrepError(404, "GENERAL", `POST to ${bulkPath} or ${bulkPath}/KEY`);
  try {
    return decodeURIComponent(key);
  } catch {
    throw new OfrepError(400, "PARSE_ERROR", "the key in the path has an invalid escape");
  }
}

async function sendEvents(
  context: Context,
  { request, response, peer, path, signal }: Exchange,
  cors: Readonly<Record<string, string>>,
): Promise<void> {
  const { limits, clock, counters } = context;
  if (counters.eventStreams >= limits.eventStreams)
    throw new OfrepError(429, "GENERAL", `${limits.eventStreams} event streams are open already`, {
      "retry-after": "60",
    });
  counters.eventStreams++;
  try {
    const opened = await context.source.open(peer, { path, signal });
    try {
      await settled(context, opened);
      count(counters, 200);
      response.writeHead(200, {
        ...cors,
        "content-type": "text/event-stream",
        "cache-control": "no-store",
      });
      const lastId = request.headers["last-event-id"];
      const events = changeEvents(opened, {
        lastId: typeof lastId === "string" ? lastId : undefined,
        commentMs: limits.commentMs,
      });
      await writeEvents(response, events, { writeMs: limits.writeMs, clock });
    } finally {
      opened.release();
    }
  } finally {
    counters.eventStreams--;
  }
}

async function settled(
  { source }: Context,
  { flags, signal, revoked }: OpenFlags,
): Promise<FlagDocument> {
  const document = await flags.next(undefined, source.limits.settleMs, signal);
  if (revoked?.aborted === true) throw new OfrepError(403, "GENERAL", "access was revoked");
  if (document === undefined) throw notSettled(flags.problem);
  return document;
}

function matches(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((tag) => {
    const text = tag.trim();
    return text === "*" || text === etag || text === `W/${etag}`;
  });
}

const statusOfCode: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
};

function failureOf(error: unknown): Answer {
  if (error instanceof OfrepError) {
    const { status, errorCode, message, headers } = error;
    return { status, headers, body: { errorCode, errorDetails: message } };
  }
  // The text of another exception may have details of the program.
  const { code, text } =
    error instanceof XdsError ? error : { code: "INTERNAL", text: "the server failed" };
  const status = statusOfCode[code] ?? 503;
  return {
    status,
    ...((status === 429 || status === 503) && { headers: { "retry-after": "5" } }),
    body: { errorCode: "GENERAL", errorDetails: text },
  };
}
