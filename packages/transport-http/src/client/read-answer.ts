import { XdsError } from "@xdstp/core";

import type { FetchLike } from "./fetch-like.ts";
import { withoutTransportQuery } from "./transport-query.ts";

/** The state of the resource of a URL, by one answer. */
export type UrlAnswer =
  | {
      readonly kind: "found";
      /** The version; empty: the server says none. */
      readonly version: string;
      readonly body: Uint8Array;
      readonly mediaType: string;
      /** Milliseconds for which a client keeps the resource. Absent: it has no TTL. */
      readonly ttlMs: number | undefined;
      /** True: the resource must not be stored (`do_not_cache`). */
      readonly noStore: boolean;
    }
  | {
      readonly kind: "redirect";
      /** The version of the redirect itself. */
      readonly version: string;
      /** The absolute URL of the target. */
      readonly location: string;
      /** True: the URL need not be requested again (308). */
      readonly isPermanent: boolean;
    }
  | { readonly kind: "missing"; readonly error: XdsError };

/** An answer of a server or a cache. */
export type Read =
  | UrlAnswer
  | { readonly kind: "unchanged" }
  /** A redirect that the platform does not show. */
  | { readonly kind: "hidden-redirect" }
  | { readonly kind: "failure"; readonly error: XdsError; readonly retryMs: number };

/** The headers of an answer that decide about the next request. */
export interface Freshness {
  /** For the next long poll. Absent: the server has no long polls. */
  readonly position: string | undefined;
  readonly etag: string | undefined;
  /** Milliseconds since the origin has sent the answer; greater than 0 if a cache has stored it. */
  readonly ageMs: number;
  /** Milliseconds for which the answer may be used. Absent: the server does not say it. */
  readonly maxAgeMs: number | undefined;
}

/** An answer, as `fetch` returns it. */
export type Response = Awaited<ReturnType<FetchLike>>;

/** Reads the headers that tell when the next request is due. */
export function readFreshness({ headers }: Response): Freshness {
  const [, maxAge] = /(?:^|[,\s])max-age=(\d{1,9})/i.exec(headers.get("cache-control") ?? "") ?? [];
  return {
    position: headers.get("xds-position") ?? undefined,
    etag: headers.get("etag") ?? undefined,
    ageMs: secondsIn(headers.get("age")) ?? 0,
    maxAgeMs: maxAge === undefined ? undefined : Number(maxAge) * 1_000,
  };
}

/**
 * Reads an answer (S-HTTP-9): 404 and 410 say that the resource does not exist, other errors say
 * nothing of it.
 * @param answerBytes - the maximum size of a body in bytes
 */
export async function readAnswer(
  url: string,
  response: Response,
  answerBytes: number,
): Promise<Read> {
  if (response.type === "opaqueredirect") return { kind: "hidden-redirect" };
  const { status, headers } = response;
  const body = await readAtMost(response.body, answerBytes);
  switch (status) {
    case 200:
      return {
        kind: "found",
        version: versionIn(response),
        body,
        mediaType: (headers.get("content-type") ?? "").split(";", 1)[0]?.trim() ?? "",
        ttlMs: secondsIn(headers.get("xds-ttl")),
        noStore: /(?:^|[,\s])no-store(?:$|[,\s])/i.test(headers.get("cache-control") ?? ""),
      };
    case 204:
    case 304:
      return { kind: "unchanged" };
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return readRedirect(url, response);
    case 404:
    case 410:
      return { kind: "missing", error: new XdsError("NOT_FOUND", textOf(url, status, body)) };
    default:
      return {
        kind: "failure",
        error: new XdsError(codes[status] ?? "UNAVAILABLE", textOf(url, status, body)),
        retryMs: secondsIn(headers.get("retry-after")) ?? 0,
      };
  }
}

const codes: Readonly<
  Record<
    number,
    | "INVALID_ARGUMENT"
    | "UNAUTHENTICATED"
    | "PERMISSION_DENIED"
    | "UNIMPLEMENTED"
    | "RESOURCE_EXHAUSTED"
  >
> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  406: "UNIMPLEMENTED",
  429: "RESOURCE_EXHAUSTED",
};

function readRedirect(url: string, response: Response): Read {
  return readLocation(url, {
    location: response.headers.get("location"),
    version: versionIn(response),
    isPermanent: response.status === 308,
  });
}

/** Reads where a redirect leads. A location that must not be followed is a failure (B-HTTP-8). */
export function readLocation(
  url: string,
  {
    location,
    version,
    isPermanent,
  }: {
    readonly location: string | null;
    readonly version: string;
    readonly isPermanent: boolean;
  },
): Extract<Read, { readonly kind: "redirect" | "failure" }> {
  const target =
    location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const problem =
    target === undefined
      ? `its location is ${JSON.stringify(location)}, which is not a URL`
      : targetFault(new URL(url), target);
  if (target === undefined || problem !== undefined)
    return {
      kind: "failure",
      error: new XdsError(
        "FAILED_PRECONDITION",
        `GET ${url}: the redirect is rejected: ${problem}`,
        {
          rule: "B-HTTP-8",
        },
      ),
      retryMs: 0,
    };
  target.hash = "";
  return { kind: "redirect", version, location: withoutTransportQuery(target.href), isPermanent };
}

/** A redirect never lowers transport security (C-REDIR-8). */
function targetFault(from: URL, to: URL): string | undefined {
  if (to.protocol !== "https:" && to.protocol !== "http:") return `${to.href} is not a URL of HTTP`;
  return from.protocol === "https:" && to.protocol === "http:"
    ? `${to.href} has no TLS, but the request had`
    : undefined;
}

function textOf(url: string, status: number, body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 500));
  return `GET ${url}: status ${status}${text === "" ? "" : `: ${text}`}`;
}

function versionIn({ headers }: Response): string {
  const header = headers.get("xds-version");
  if (header === null) return headers.get("etag") ?? "";
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d+(?:\.\d+)?$/.test(header) ? Number(header) * 1_000 : undefined;
}

async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  atMost: number,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let size = 0;
  // Not all browsers can iterate a stream.
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > atMost) {
      // The connection may break at the same moment; the error below says more.
      reader.cancel().catch(() => undefined);
      throw new XdsError(
        "RESOURCE_EXHAUSTED",
        `the answer is larger than ${atMost} bytes; the limit is answerBytes`,
      );
    }
    parts.push(read.value);
  }
  const whole = new Uint8Array(size);
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}
