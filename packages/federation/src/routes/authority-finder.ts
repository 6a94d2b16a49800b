import { type Clock, createBackoff, type Timer, XdsError } from "@xdstp/core";
import { authorityOf } from "@xdstp/uri";

import type { FederationSource } from "../federation-source.ts";
import type { FederationOptions } from "../federation.ts";

/** The parts of a federation that the search for authorities uses. */
export interface FinderHost {
  readonly clock: Clock;
  random(): number;
  readonly resolve: NonNullable<FederationOptions["resolveAuthority"]>;
  /** Milliseconds that `resolve` may take. */
  readonly resolveMs: number;
  /** Returns true if subscribers still wait for the authority. */
  isWanted(authority: string): boolean;
  found(authority: string, source: FederationSource): void;
  /**
   * Called when no source is found: the resolver reports none, or has failed. Returns the error for
   * the subscribers that wait.
   */
  failed(authority: string, cause: XdsError | undefined): XdsError;
  /** Called when the subscribers that wait get another error than before. */
  changed(authority: string): void;
}

interface LookedFor {
  readonly authority: string;
  readonly backoff: ReturnType<typeof createBackoff>;
  /** The reason why no source is found. Absent: not known yet. */
  error?: XdsError;
  /**
   * The number of calls. Only a failure of the newest call counts; a source that is found always
   * counts.
   */
  calls: number;
  deadline: Timer | undefined;
  retry: Timer | undefined;
}

/**
 * Searches the sources of authorities. It repeats the search while a subscriber waits for an
 * authority that was not found, after delays that grow as those of C-RECON-1. For an authority
 * without subscribers it keeps nothing after the next delay.
 */
export class AuthorityFinder {
  readonly #host: FinderHost;
  readonly #looked = new Map<string, LookedFor>();
  #isOver = false;

  constructor(host: FinderHost) {
    this.#host = host;
  }

  /**
   * Begins the search if nothing is known. Returns the reason why no source was found so far, or
   * `undefined` if this is not known yet.
   */
  find(authority: string): XdsError | undefined {
    return (this.#looked.get(authority) ?? this.#begin(authority)).error;
  }

  /** Stops all searches. Later results are ignored. */
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

  /** A late result is used too. */
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

/** Throws if the value is not a source. */
function sourceIn(source: FederationSource | undefined): FederationSource | undefined {
  return source === undefined || source.servers.length === 0 ? undefined : source;
}

function stop({ deadline, retry }: LookedFor): void {
  deadline?.cancel();
  retry?.cancel();
}

/** In place of an authority: names of files. No authority has a slash. */
export const FILES = "file://";

/**
 * Returns a function that reads the authority of a name; {@link FILES} for a name of a file. It is fast if many names in a row have the
 * same authority. It returns `null` for an opaque name, and an authority without servers for a text
 * that is not a name.
 */
export function createAuthorityReader(): (name: string) => string | null {
  let prefix = "\n";
  let last: string | null = null;
  return (name) => {
    if (!name.startsWith("xdstp:")) return name.startsWith("file:///") ? FILES : null;
    if (name.startsWith(prefix)) return last;
    const authority = authorityOf(name);
    if (authority === undefined) return "\n";
    prefix = name.slice(0, name.indexOf("/", 8) + 1);
    return (last = authority);
  };
}
