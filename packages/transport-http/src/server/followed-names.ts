import { randomBytes } from "node:crypto";
import type { XdsError } from "@xdstp/core";
import {
  type Clock,
  createDeadlines,
  type ResourceSource,
  type StoredResource,
  type Topic,
  type Watcher,
} from "@xdstp/core";

import type { HttpView } from "./http-request.ts";

/**
 * The state of a name, as the source knows it.
 *
 * ```
 * unknown ──answer of the source──► found ◄──put──► missing
 *                     └────────────────────────────────▲
 * ```
 */
export type NameState =
  /** Nothing is known yet. `error`: the reason why that cannot change now. */
  | { readonly kind: "unknown"; readonly error: XdsError | undefined }
  | {
      readonly kind: "found";
      readonly resource: StoredResource;
      /** The place of this state in the history of the name: no other state has it, and those of later states have a greater number. */
      readonly position: string;
    }
  | {
      readonly kind: "missing";
      /** True if the name existed a short time ago. */
      readonly wasRemoved: boolean;
      /** The reason, if the source knows one. */
      readonly error: XdsError | undefined;
      readonly position: string;
    };

/** One name of one source, shared by all requests for it. */
export interface FollowedName {
  readonly state: NameState;
  /** The number of requests that wait for a change. */
  readonly waiting: number;
  /**
   * Waits until the state is another than the one that the caller knows, `ms` milliseconds have
   * passed, or the signal aborts. Resolves with the state of that moment.
   */
  wait(isKnown: (state: NameState) => boolean, ms: number, signal: AbortSignal): Promise<NameState>;
  /**
   * Takes over the view of a request, unless an earlier one is kept. It is released when the name is
   * no longer followed, so that the source of a caller stays the same from one poll to the next.
   * Returns false if the request has to release its view itself.
   */
  keep(view: HttpView): boolean;
  /** Ends the use by one request; call it once. */
  release(): void;
}

/** The names that requests have named recently. */
export interface FollowedNames {
  /**
   * Returns a name for one request. `spellings` are the names to look up, in this order: the first
   * that has a resource counts.
   */
  follow(source: ResourceSource, typeUrl: string, spellings: readonly string[]): FollowedName;
  /** Returns true for a position that this table has given. */
  gave(position: string): boolean;
  /** The number of requests that wait, over all names. */
  readonly waiting: number;
  /** Returns the names that are followed now. */
  list(): readonly {
    readonly typeUrl: string;
    readonly name: string;
    readonly followed: FollowedName;
  }[];
  /** Ends all waits, and follows nothing any more. */
  close(): void;
}

/** Returns the version of a state, as `after=` has it; empty for a name that does not exist. */
export function versionOf(state: NameState): string {
  return state.kind === "found" ? state.resource.version : "";
}

/**
 * Creates the table of followed names. A name stays followed for `keepMs` after its last request,
 * so that a source which is filled on demand does not have to fetch it for each of them.
 */
export function createFollowedNames(clock: Clock, keepMs: number): FollowedNames {
  const bySource = new Map<ResourceSource, Map<string, Followed>>();
  // Each process counts the states that it reads, and so does each replica.
  const epoch = randomBytes(6).toString("base64url");
  const counter = { waiting: 0, states: 0 };
  const drop = (followed: Followed): void => {
    followed.end();
    const names = bySource.get(followed.source);
    names?.delete(followed.key);
    if (names?.size === 0) bySource.delete(followed.source);
  };
  const unused = createDeadlines<Followed>(clock, keepMs, drop);
  const onUnused = (followed: Followed): void => {
    unused.remove(followed);
    if (followed.state.kind === "found" && !followed.isRevoked) unused.add(followed);
    // Names that do not exist could be requested without an end.
    else drop(followed);
  };
  return {
    follow(source, typeUrl, spellings) {
      const names = bySource.get(source) ?? new Map<string, Followed>();
      const key = JSON.stringify([typeUrl, ...spellings]);
      const known = names.get(key);
      const followed =
        known ?? new Followed({ source, typeUrl, spellings, key, epoch, clock, counter, onUnused });
      names.set(key, followed);
      bySource.set(source, names);
      unused.remove(followed);
      followed.use();
      return followed;
    },
    gave: (position) => position.startsWith(`${epoch}.`),
    get waiting() {
      return counter.waiting;
    },
    list: () =>
      [...bySource.values()].flatMap((names) =>
        Array.from(names.values(), (followed) => ({
          typeUrl: followed.typeUrl,
          name: followed.name,
          followed,
        })),
      ),
    close() {
      for (const names of [...bySource.values()])
        for (const followed of [...names.values()]) {
          unused.remove(followed);
          drop(followed);
        }
    },
  };
}

interface FollowedInit {
  readonly source: ResourceSource;
  readonly typeUrl: string;
  readonly spellings: readonly string[];
  readonly key: string;
  readonly epoch: string;
  readonly clock: Clock;
  /** `waiting`: the requests that wait. `states`: the states that were read so far, of all names. */
  readonly counter: { waiting: number; states: number };
  /** Called when no request uses the name any more. */
  readonly onUnused: (followed: Followed) => void;
}

interface Waiter {
  readonly isKnown: (state: NameState) => boolean;
  readonly release: () => void;
}

/** The number of waits that one turn of the event loop ends, so that other work is not held up. */
const SLICE = 250;

class Followed implements FollowedName, Watcher {
  readonly source: ResourceSource;
  readonly typeUrl: string;
  readonly key: string;
  readonly #init: FollowedInit;
  readonly #topics: readonly Topic[];
  readonly #waiters = new Set<Waiter>();
  #known: NameState | undefined;
  /** The state that was read last. */
  #last: NameState | undefined;
  #isReleasing = false;
  #users = 0;
  #view: HttpView | undefined;
  #isEnded = false;

  constructor(init: FollowedInit) {
    this.#init = init;
    this.source = init.source;
    this.typeUrl = init.typeUrl;
    this.key = init.key;
    this.#topics = init.spellings.map((name) => init.source.topic(init.typeUrl, { name }));
    for (const topic of this.#topics) topic.watch(this);
  }

  get name(): string {
    return this.#init.spellings[0] ?? "";
  }

  get state(): NameState {
    return (this.#known ??= this.#read());
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** True if the caller whose view is kept may no longer see anything. */
  get isRevoked(): boolean {
    return this.#view?.revoked?.aborted === true;
  }

  keep(view: HttpView): boolean {
    if (this.#view !== undefined || this.#isEnded) return false;
    this.#view = view;
    view.revoked?.addEventListener("abort", this.#onRevoked);
    return true;
  }

  readonly #onRevoked = (): void => {
    if (this.#users === 0) this.#init.onUnused(this);
  };

  async wait(
    isKnown: (state: NameState) => boolean,
    ms: number,
    signal: AbortSignal,
  ): Promise<NameState> {
    if (!isKnown(this.state) || signal.aborted || this.#isEnded) return this.state;
    await new Promise<void>((resolve) => {
      const { clock, counter } = this.#init;
      const release = (): void => {
        if (!this.#waiters.delete(waiter)) return;
        counter.waiting--;
        timer.cancel();
        signal.removeEventListener("abort", release);
        resolve();
      };
      const waiter: Waiter = { isKnown, release };
      const timer = clock.after(ms, release);
      signal.addEventListener("abort", release);
      this.#waiters.add(waiter);
      counter.waiting++;
    });
    return this.state;
  }

  wake(): void {
    this.#known = undefined;
    if (this.#isReleasing || this.#waiters.size === 0) return;
    this.#isReleasing = true;
    queueMicrotask(() => {
      void this.#release();
    });
  }

  use(): void {
    this.#users++;
  }

  release(): void {
    if (--this.#users === 0 && !this.#isEnded) this.#init.onUnused(this);
  }

  end(): void {
    this.#isEnded = true;
    for (const topic of this.#topics) topic.unwatch(this);
    for (const { release } of [...this.#waiters]) release();
    this.#view?.revoked?.removeEventListener("abort", this.#onRevoked);
    this.#view?.release?.();
  }

  async #release(): Promise<void> {
    let state = this.state;
    let count = 0;
    for (const waiter of [...this.#waiters]) {
      if (!waiter.isKnown(state)) waiter.release();
      if (++count % SLICE > 0) continue;
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      state = this.state;
    }
    this.#isReleasing = false;
    // The state may have changed for those that this turn has passed.
    if (state !== this.state) this.wake();
  }

  #read(): NameState {
    const last = this.#last;
    for (const topic of this.#topics) {
      const [entry] = topic.members();
      const { resource } = entry ?? {};
      if (resource !== undefined) {
        const isSame = last?.kind === "found" && last.resource === resource;
        return (this.#last = isSame
          ? last
          : { kind: "found", resource, position: this.#nextPosition() });
      }
      if (!topic.settled) return { kind: "unknown", error: topic.stale };
    }
    return (this.#last = {
      kind: "missing",
      wasRemoved: this.#topics.some((topic) => topic.removed().length > 0),
      error: this.#topics.map((topic) => topic.members()[0]?.error).find(isPresent),
      position: last?.kind === "missing" ? last.position : this.#nextPosition(),
    });
  }

  #nextPosition(): string {
    const { epoch, counter } = this.#init;
    return `${epoch}.${(++counter.states).toString(36)}`;
  }
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}
