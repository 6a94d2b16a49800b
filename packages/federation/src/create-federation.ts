import { XdsError, type ResourceSink } from "@xdstp/core";

import { FederationRun, type Wanted } from "./federation-run.ts";
import { serversOf, sourcesFor, defaultOf, routeId } from "./routes/routes.ts";
import type { Federation, FederationOptions, FederationServerStatus, Trace } from "./federation.ts";
import type { FederationSource } from "./federation-source.ts";
import { createAuthorityReader } from "./routes/authority-finder.ts";

/**
 * Creates a federation; add it to a cache as a feed. It connects to a server with the first
 * subscription. Throws an XdsError if a source has no server.
 */
export function createFederation(options: FederationOptions): Federation {
  return new FederationCore(options);
}

/** The federation behind `createFederation`. Subscriptions before `run` wait. */
class FederationCore implements Federation {
  readonly inWildcard: (name: string) => boolean;
  readonly #options: FederationOptions;
  #early: Wanted[] = [];
  #run: FederationRun | undefined;
  /** True after the end began: later subscriptions are ignored. */
  #isOver = false;

  constructor(options: FederationOptions) {
    this.#options = options;
    this.inWildcard = createWildcard(options.sources);
    const empty = options.sources.find(({ servers }) => servers.length === 0);
    if (empty !== undefined)
      throw new XdsError(
        "INVALID_ARGUMENT",
        `the source of ${JSON.stringify(empty.authorities ?? "everything else")} has no server; give one at least`,
      );
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const over = new Promise<void>((resolve) => {
      signal.addEventListener(
        "abort",
        () => {
          this.#isOver = true;
          resolve();
        },
        { once: true },
      );
    });
    this.#isOver = false;
    const run = (this.#run = new FederationRun(
      { ...this.#options, inWildcard: this.inWildcard },
      sink,
    ));
    for (const wanted of this.#early) run.want(...wanted);
    this.#early = [];
    await over;
    run.end();
  }

  want(...wanted: Wanted): void {
    if (this.#isOver) return;
    if (this.#run === undefined) this.#early.push(wanted);
    else this.#run.want(...wanted);
  }

  status(authority?: string | null): readonly FederationServerStatus[] {
    const { sources } = this.#options;
    const run = this.#run;
    const servers =
      authority === undefined
        ? [...serversOf(sources), ...(run?.servers ?? [])]
        : (run?.serversOf(authority) ?? serversOf(sourcesFor(sources, authority)));
    const all = new Map(servers.map((server) => [server.id, server]));
    return Array.from(all.values(), (server) => {
      const { id, name } = server;
      return run?.statusOf(server) ?? { id, name };
    });
  }

  traces(): readonly Trace[] {
    return this.#run?.traces() ?? [];
  }

  nodeChanged(): void {
    this.#run?.nodeChanged();
  }
}

/**
 * Returns a function that tests whether `*` covers a name. `*` is requested from the servers that
 * are configured for opaque names. It covers opaque names and the names of the authorities of these
 * servers. The result for a name does not change.
 */
function createWildcard(sources: readonly FederationSource[]): (name: string) => boolean {
  const readAuthority = createAuthorityReader();
  const own = idFor(sources, null);
  const listed = new Map(
    sources
      .flatMap(({ authorities = [] }) => authorities)
      .map((authority) => [authority, idFor(sources, authority) === own]),
  );
  const standard = defaultOf(sources);
  const rest = standard.length > 0 && routeId(standard) === own;
  return (name) => {
    const authority = readAuthority(name);
    return authority === null || (listed.get(authority) ?? rest);
  };
}

function idFor(sources: readonly FederationSource[], authority: string | null): string {
  return routeId(sourcesFor(sources, authority));
}
