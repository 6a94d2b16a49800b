/** An HTTP request, as a proxy reads it. */
export interface RouteRequest {
  /** Default: `GET`. */
  readonly method?: string;
  /** The host, with its port where the client sends one: `shop.example`, `shop.example:8080`. */
  readonly authority: string;
  /** The path with its query: `/items?page=2`. Empty for a CONNECT without a path. */
  readonly path: string;
  /** Default: `http`. */
  readonly scheme?: "http" | "https";
  /** Headers by name, in upper or lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** What the client did about a certificate. Default: `none` over `http`, and unknown over `https`. */
  readonly clientCertificate?: "none" | "presented" | "validated";
}

/** A request in the form that matchers read. */
export interface ReadRequest {
  readonly method: string;
  readonly authority: string;
  readonly scheme: "http" | "https";
  readonly path: string;
  /** The path without its query. */
  readonly barePath: string;
  /** The values of each header by its name in lower case, pseudo headers included. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** The first value of each parameter of the query, not decoded. */
  readonly query: ReadonlyMap<string, string>;
  readonly cookies: ReadonlyMap<string, string>;
  readonly clientCertificate: "none" | "presented" | "validated" | "unknown";
}

/** Reads a request once for all matchers. */
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

/** Returns the first value of a header: what routes read names of clusters and hosts from. */
export function firstValue({ headers }: ReadRequest, name: string): string | undefined {
  return headers.get(name.toLowerCase())?.[0];
}

/** Returns a path without its query and fragment. */
export function withoutQuery(path: string): string {
  return /^[^?#]*/.exec(path)?.[0] ?? path;
}

/** Envoy takes no notice of a cookie without "=", and takes the quotes off a value. */
function cookiesIn(headers: readonly string[]): ReadonlyMap<string, string> {
  const parts = headers.flatMap((cookies) => cookies.split(";"));
  const values = firstValues(parts.filter((cookie) => cookie.includes("=")));
  return new Map(
    Array.from(values, ([name, value]) => [name, /^"(.*)"$/s.exec(value)?.[1] ?? value] as const),
  );
}

/** The values of `name=value`, the first of each name. */
function firstValues(parts: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const part of parts) {
    const [, name = "", value = ""] = /^\s*([^=]*)=?(.*)$/s.exec(part) ?? [];
    if (name !== "" && !values.has(name)) values.set(name, value);
  }
  return values;
}
