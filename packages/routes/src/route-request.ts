/** An HTTP request as a proxy receives it. */
export interface RouteRequest {
  /** The HTTP method. Default: `GET`. */
  readonly method?: string;
  /** The host, with its port if the client sends one: `shop.example` or `shop.example:8080`. */
  readonly authority: string;
  /** The path with its query: `/items?page=2`. Empty for a CONNECT without a path. */
  readonly path: string;
  /** The scheme of the request. Default: `http`. */
  readonly scheme?: "http" | "https";
  /** The headers by name, in upper or lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * The certificate of the client: `presented` means that it was not validated. Default: `none` for
   * `http`, unknown for `https`.
   */
  readonly clientCertificate?: "none" | "presented" | "validated";
}

/** A request in the form that the matchers use. */
export interface ReadRequest {
  readonly method: string;
  readonly authority: string;
  readonly scheme: "http" | "https";
  readonly path: string;
  /** The path without its query. */
  readonly barePath: string;
  /** The values of each header, pseudo headers included, by the header's name in lower case. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** The first value of each query parameter, not decoded. */
  readonly query: ReadonlyMap<string, string>;
  readonly cookies: ReadonlyMap<string, string>;
  readonly clientCertificate: "none" | "presented" | "validated" | "unknown";
}

/** Converts a request once, so that all matchers can use it. */
export function readRequest(request: RouteRequest): ReadRequest {
  const { method = "GET", authority, path, scheme = "http" } = request;
  const headers = new Map<string, readonly string[]>([
    [":method", [method]],
    [":authority", [authority]],
    ["host", [authority]],
    [":scheme", [scheme]],
    ["x-forwarded-proto", [scheme]],
  ]);
  if (path !== "") headers.set(":path", [path]);
  for (const [name, value] of Object.entries(request.headers ?? {}))
    headers.set(name.toLowerCase(), typeof value === "string" ? [value] : value);
  const queryStart = path.indexOf("?");
  return {
    method,
    authority,
    scheme,
    path,
    barePath: withoutQuery(path),
    headers,
    query: firstValues(queryStart < 0 ? [] : path.slice(queryStart + 1).split("&")),
    cookies: cookiesIn(headers.get("cookie") ?? []),
    clientCertificate: request.clientCertificate ?? (scheme === "http" ? "none" : "unknown"),
  };
}

/** Returns the first value of a header. Routes read the names of clusters and hosts from it. */
export function firstValue({ headers }: ReadRequest, name: string): string | undefined {
  return headers.get(name.toLowerCase())?.[0];
}

/** Returns a path without its query and fragment. */
export function withoutQuery(path: string): string {
  return /^[^?#]*/.exec(path)?.[0] ?? path;
}

/**
 * Reads the cookies as Envoy does: it ignores a cookie without "=", and removes the quotation marks
 * around a value.
 */
function cookiesIn(headers: readonly string[]): ReadonlyMap<string, string> {
  const parts = headers.flatMap((cookies) => cookies.split(";"));
  const values = firstValues(parts.filter((cookie) => cookie.includes("=")));
  return new Map(
    Array.from(values, ([name, value]) => [name, /^"(.*)"$/s.exec(value)?.[1] ?? value] as const),
  );
}

/** Returns the first value of each name in a list of `name=value` texts. */
function firstValues(parts: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const part of parts) {
    const [, name = "", value = ""] = /^\s*([^=]*)=?(.*)$/s.exec(part) ?? [];
    if (name !== "" && !values.has(name)) values.set(name, value);
  }
  return values;
}
