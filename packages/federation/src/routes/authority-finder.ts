import { type Clock, createBackoff, type Timer, XdsError } from "@xdstp/core";
import { authorityOf } from "@xdstp/uri";

import type { FederationSource } from "../federation-source.ts";
import type { FederationOptions } from "../federation.ts";

/** What looking for authorities needs. */
export interface FinderHost {
  readonly clock: Clock;
  random(): number;
  readonly resolve: NonNullable<FederationOptions["resolveAuthority"]>;
  /** Milliseconds in which it has to answer. */
  readonly resolveMs: number;
  /** Subscribers still wait for it. */
  isWanted(authority: string): boolean;
  found(authority: string, source: FederationSource): void;
  /** No source is found, for this reason: the resolver says so, or has failed. Returns the error for those that wait. */
  failed(authority: string, cause: XdsError | undefined): XdsError;
  /** Those that wait get another error than before. */
  changed(authority: string): void;
}

interface LookedFor {
  readonly authority: string;
  readonly backoff: ReturnType<typeof createBackoff>;
  /** Why no source is found. Absent: not known yet. */
  error?: XdsError;
  /** The newest one counts, but for what is found. */
  calls: number;
  deadline: Timer | undefined;
  retry: Timer | undefined;
}

/** Looks for the sources of authorities, and again while a subscriber waits for one that was not found, after growing waits (as those of C-RECON-1). Of those without subscribers it keeps nothing beyond the next wait. */
export class AuthorityFinder {
  readonly #host: FinderHost;
  readonly #looked = new Map<string, LookedFor>();
  #isOver = false;

  constructor(host: FinderHost) {
    this.#host = host;
  }

  /** Begins to look where nothing is known. An error: why none was found up to now; undefined: not known yet. */
  find(authority: string): XdsError | undefined {
    return (this.#looked.get(authority) ?? this.#begin(authority)).error;
  }

  /** What comes from now on is nothing to anybody. */
  end(): void {
    this.#isOver = true;
    for (const looked of this.#looked.values()) stop(looked);
    this.#looked.clear();
  }

  #begin(authority: string): LookedFor {
    const looked: LookedFor = {
      authority,
      backoff: createBackoff({}, () => this.#host.random()),
      calls: 0,
      deadline: undefined,
      retry: undefined,
    };
    this.#looked.set(authority, looked);
    this.#look(looked);
    return looked;
  }

  #look(looked: LookedFor): void {
    const { authority } = looked;
    const { clock, resolve, resolveMs } = this.#host;
    const call = ++looked.calls;
    const fail = (cause?: XdsError): void => {
      if (looked.calls === call) this.#failed(looked, cause);
    };
    looked.deadline = clock.after(resolveMs, () => {
      fail(
        new XdsError(
          "DEADLINE_EXCEEDED",
          `resolveAuthority has not answered in ${resolveMs / 1_000} s`,
        ),
      );
    });
    void Promise.resolve()
      .then(async () => sourceIn(await resolve(authority)))
      .then(
        (source) => {
          if (source === undefined) fail();
          else this.#found(authority, source);
        },
        (error: unknown) => {
          fail(XdsError.from(error));
        },
      );
  }

  /** Also what comes late is taken. */
  #found(authority: string, source: FederationSource): void {
    if (this.#isOver) return;
    const looked = this.#looked.get(authority);
    if (looked !== undefined) stop(looked);
    this.#looked.delete(authority);
    this.#host.found(authority, source);
    this.#host.changed(authority);
  }

  #failed(looked: LookedFor, cause: XdsError | undefined): void {
    if (this.#looked.get(looked.authority) !== looked) return;
    looked.deadline?.cancel();
    looked.retry ??= this.#host.clock.after(looked.backoff.next(), () => {
      this.#again(looked);
    });
    const error = this.#host.failed(looked.authority, cause);
    const isNews = error.text !== looked.error?.text;
    looked.error = error;
    if (isNews) this.#host.changed(looked.authority);
  }

  #again(looked: LookedFor): void {
    looked.retry = undefined;
    if (this.#host.isWanted(looked.authority)) this.#look(looked);
    else this.#looked.delete(looked.authority);
  }
}

/** Throws where it is none at all. */
function sourceIn(source: FederationSource | undefined): FederationSource | undefined {
  return source === undefined || source.servers.length === 0 ? undefined : source;
}

function stop({ deadline, retry }: LookedFor): void {
  deadline?.cancel();
  retry?.cancel();
}

/** Reads the authority of names, of which many in a row have the same; null: an opaque name. A text that is not a name has an authority without servers. */
export function createAuthorityReader(): (name: string) => string | null {
  let prefix = "\n";
  let last: string | null = null;
  return (name) => {
    if (!name.startsWith("xdstp:")) return null;
    if (name.startsWith(prefix)) return last;
    const authority = authorityOf(name);
    if (authority === undefined) return "\n";
    prefix = name.slice(0, name.indexOf("/", 8) + 1);
    return (last = authority);
  };
}
