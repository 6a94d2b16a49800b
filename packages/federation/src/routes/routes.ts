import { XdsError } from "@xdstp/core";

import type { FederationServer, FederationSource } from "../federation-source.ts";
import { AuthorityFinder, FILES, type FinderHost } from "./authority-finder.ts";
import type { Route } from "./route.ts";

/** The parts of a federation that routes use. */
export interface RoutesHost {
  open(servers: readonly FederationServer[], reachabilityOnly: boolean): Route;
  /** The search for authorities that are not configured. Absent: there is no search. */
  readonly finding: Omit<FinderHost, "found" | "failed"> | undefined;
}

/** The routes of all names (C-AUTH-1). */
export class Routes {
  readonly #host: RoutesHost;
  readonly #sources: readonly FederationSource[];
  /**
   * Routes of authorities that are configured or were found. Nothing is stored for other
   * authorities, since servers can invent any number of them.
   */
  readonly #known = new Map<string, Route>();
  readonly #configured: ReadonlySet<string>;
  readonly #byServers = new Map<string, Route>();
  readonly #finder: AuthorityFinder | undefined;
  #opaque: Route | undefined;
  #default: Route | undefined;

  constructor(host: RoutesHost, sources: readonly FederationSource[]) {
    this.#host = host;
    this.#sources = sources;
    this.#configured = new Set(sources.flatMap(({ authorities = [] }) => authorities));
    this.#finder =
      host.finding &&
      new AuthorityFinder({
        ...host.finding,
        found: (authority, source) => {
          this.#found(authority, source);
        },
        failed: (authority, cause) => unknownAuthority(sources, authority, cause),
      });
  }

  [Symbol.iterator](): Iterator<Route> {
    return this.#byServers.values();
  }

  /**
   * Returns the route of an authority, or of opaque names for `null`. Returns an error if no server
   * is known (C-AUTH-5), and `undefined` if this is not known yet.
   */
  of(authority: string | null): Route | XdsError | undefined {
    const known = this.known(authority);
    if (known !== undefined || authority === null || authority === FILES)
      return known ?? unknownAuthority(this.#sources, authority);
    return this.#finder === undefined
      ? unknownAuthority(this.#sources, authority)
      : this.#finder.find(authority);
  }

  /** Returns the same, but only if it is configured or was found; does not begin a search. */
  known(authority: string | null): Route | undefined {
    if (authority === null) return (this.#opaque ??= this.#open(sourcesFor(this.#sources, null)));
    const known = this.#known.get(authority);
    if (known !== undefined) return known;
    // Names of files are never requested from a server (C-NFILE-7).
    if (authority === FILES && !this.#configured.has(FILES)) return undefined;
    if (!this.#configured.has(authority))
      return (this.#default ??= this.#open(sourcesFor(this.#sources, authority)));
    const route = this.#open(sourcesFor(this.#sources, authority));
    if (route !== undefined) this.#known.set(authority, route);
    return route;
  }

  /** Stops all searches. */
  end(): void {
    this.#finder?.end();
  }

  #found(authority: string, source: FederationSource): void {
    const route = this.#known.has(authority) ? undefined : this.#open([source]);
    if (route !== undefined) this.#known.set(authority, route);
  }

  #open(sources: readonly FederationSource[]): Route | undefined {
    if (sources.length === 0) return undefined;
    const id = routeId(sources);
    const route = this.#byServers.get(id) ?? this.#host.open(serversOf(sources), isHasty(sources));
    this.#byServers.set(id, route);
    return route;
  }
}

/** Returns the error for an authority without servers (C-AUTH-5), for opaque names (`null`), or for names of files. */
export function unknownAuthority(
  sources: readonly FederationSource[],
  authority: string | null,
  cause?: XdsError,
): XdsError {
  if (authority === FILES)
    return new XdsError(
      "PERMISSION_DENIED",
      "names of files are not read; add a source with a directory for them",
      { rule: "C-NFILE-7" },
    );
  const known = sources
    .flatMap(({ authorities = [] }) => authorities)
    .map((one) => JSON.stringify(one));
  const there =
    known.length === 0 ? "no authority is configured" : `known: ${[...new Set(known)].join(", ")}`;
  const what =
    authority === null
      ? "no source is configured for opaque names"
      : `no server is configured for the authority ${JSON.stringify(authority)}; ${there}`;
  const context = { rule: "C-AUTH-5" };
  if (cause === undefined)
    return new XdsError("INVALID_ARGUMENT", `${what}; add a source for it`, context);
  // Any other error may be temporary, and a later search may succeed.
  const isKnown = cause.code === "NOT_FOUND" || cause.code === "INVALID_ARGUMENT";
  return new XdsError(
    isKnown ? "INVALID_ARGUMENT" : "UNAVAILABLE",
    `${what}; the search for a server failed: ${cause.text}`,
    context,
  );
}

/**
 * Returns an id of sources. Sources with the same servers and the same way of fallback are one
 * route.
 */
export function routeId(sources: readonly FederationSource[]): string {
  return JSON.stringify([isHasty(sources), ...serversOf(sources).map((server) => server.id)]);
}

/** Returns the servers in order of preference, each once. */
export function serversOf(sources: readonly FederationSource[]): readonly FederationServer[] {
  return [
    ...new Map(
      sources.flatMap(({ servers }) => servers.map((server) => [server.id, server] as const)),
    ).values(),
  ];
}

/** Returns true if the next server is used as soon as one is unreachable (C-GRPC-7). */
export function isHasty(sources: readonly FederationSource[]): boolean {
  return sources.some(({ reachabilityOnly }) => reachabilityOnly === true);
}

/**
 * Returns the sources of an authority: the one next to the reference, if it applies; else those
 * that list the authority, in order, or (for `null`) those for opaque names only; else the default
 * (C-AUTH-1, C-AUTH-3).
 */
export function sourcesFor(
  sources: readonly FederationSource[],
  authority: string | null,
  ownSource?: FederationSource,
): readonly FederationSource[] {
  if (
    ownSource !== undefined &&
    (authority === null || ownSource.authorities?.includes(authority) === true)
  )
    return [ownSource];
  const listed =
    authority === null
      ? []
      : sources.filter(({ authorities }) => authorities?.includes(authority) === true);
  if (listed.length > 0) return listed;
  const own = authority === null ? sources.filter(({ opaque }) => opaque === true) : [];
  return own.length > 0 ? own : defaultOf(sources);
}

/** Returns the sources for all names that no other source is for. */
export function defaultOf(sources: readonly FederationSource[]): readonly FederationSource[] {
  return sources.filter(({ authorities, opaque }) => authorities === undefined && opaque !== true);
}
