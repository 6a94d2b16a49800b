import type { XdsError } from "@xdstp/core";
import {
  type Committed,
  type Interest,
  InterestMap,
  isSameError,
  type Put,
  type Removal,
  type ResourceFeed,
  type ResourceSink,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { FollowedName, type FollowedNameStatus } from "./followed-name.ts";
import type { HttpFeedOptions } from "./http-feed-options.ts";

/** A feed over HTTP. */
export interface HttpFeed extends ResourceFeed {
  /** True if the last request for at least one name was answered. */
  readonly responded: boolean;
  /** Returns the state of each subscribed name. */
  status(): readonly FollowedNameStatus[];
  /** Changes the subscriptions of a type. */
  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void;
}

/**
 * Creates a feed that requests each subscribed name by GET, and follows it by long polls. Redirects
 * are followed (B-HTTP-8); the resource keeps the name that is subscribed.
 *
 * A name whose requests fail is reported as unavailable, and its resource stays. 404 and 410 remove
 * it, and so does a TTL that expires. Globs, `*` and names with dynamic parameters are reported as
 * unavailable, with the code UNIMPLEMENTED (B-HTTP-3).
 */
export function createHttpFeed(options: HttpFeedOptions = {}): HttpFeed {
  return new Feed(options);
}

type Want = Parameters<HttpFeed["want"]>;

/**
 * The phase of a feed.
 *
 * ```
 * new ──run──► running ──abort──► ended
 * ```
 */
type Phase =
  /** Subscriptions wait for `run`. */
  | { readonly kind: "new"; readonly early: Want[] }
  | { readonly kind: "running"; readonly sink: ResourceSink }
  | { readonly kind: "ended" };

class Feed implements HttpFeed {
  readonly #options: HttpFeedOptions;
  readonly #names = new InterestMap<FollowedName>();
  /** Names that wait until others have their first answer. */
  readonly #waiting = new Set<FollowedName>();
  readonly #starting = new Set<FollowedName>();
  readonly #longPolls = new Set<FollowedName>();
  /** Names that are requested from time to time. */
  readonly #refreshed = new Set<FollowedName>();
  /** Names with changes for the sink. */
  readonly #changed = new Set<FollowedName>();
  #phase: Phase = { kind: "new", early: [] };
  #flush: "none" | "scheduled" | "taking" = "none";
  #outage: XdsError | undefined;

  constructor(options: HttpFeedOptions) {
    this.#options = options;
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    const early = this.#phase.kind === "new" ? this.#phase.early : [];
    this.#phase = { kind: "running", sink };
    for (const change of early) this.want(...change);
    if (!signal.aborted)
      await new Promise<void>((resolve) => {
        signal.addEventListener(
          "abort",
          () => {
            resolve();
          },
          { once: true },
        );
      });
    this.#phase = { kind: "ended" };
    for (const name of this.#names) name.close();
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    const phase = this.#phase;
    if (phase.kind === "ended") return;
    if (phase.kind === "new") {
      phase.early.push([typeUrl, added, dropped]);
      return;
    }
    for (const interest of dropped) this.#drop(typeUrl, interest);
    for (const interest of added) this.#add(typeUrl, interest);
    this.#start();
  }

  get responded(): boolean {
    for (const { reach } of this.#names) if (reach.kind === "answered") return true;
    return false;
  }

  status(): readonly FollowedNameStatus[] {
    return Array.from(this.#names, (name) => name.status());
  }

  #add(typeUrl: string, interest: Interest): void {
    const key = nameKey(interest.name);
    if (this.#names.get(typeUrl, interest, key) !== undefined) return;
    const name = new FollowedName(typeUrl, interest, this.#options, () => {
      this.#starting.delete(name);
      this.#noteChange(name);
      this.#start();
    });
    this.#names.set(typeUrl, interest, key, name);
    if (name.reach.kind === "waiting") this.#waiting.add(name);
    else this.#noteChange(name);
  }

  #drop(typeUrl: string, interest: Interest): void {
    const key = nameKey(interest.name);
    const name = this.#names.get(typeUrl, interest, key);
    if (name === undefined) return;
    name.close();
    this.#names.delete(typeUrl, interest, key);
    for (const names of [
      this.#waiting,
      this.#starting,
      this.#longPolls,
      this.#refreshed,
      this.#changed,
    ])
      names.delete(name);
  }

  /** Sends the first requests of names, a limited number at a time. */
  #start(): void {
    const { starting = 64, longPolls = 256 } = this.#options;
    for (const name of this.#waiting) {
      if (this.#starting.size >= starting) return;
      this.#waiting.delete(name);
      this.#starting.add(name);
      const isLong = this.#longPolls.size < longPolls;
      (isLong ? this.#longPolls : this.#refreshed).add(name);
      name.start(isLong);
    }
    // Others have ended.
    for (const name of this.#refreshed) {
      if (this.#longPolls.size >= longPolls) return;
      this.#refreshed.delete(name);
      this.#longPolls.add(name);
      name.start(true);
    }
  }

  #noteChange(name: FollowedName): void {
    this.#changed.add(name);
    if (this.#flush !== "none") return;
    this.#flush = "scheduled";
    queueMicrotask(() => {
      this.#commit();
    });
  }

  /** Gives the sink all changes as one transaction. The next one waits until readers have taken it. */
  #commit(): void {
    this.#flush = "none";
    const phase = this.#phase;
    if (phase.kind !== "running") return;
    const { sink } = phase;
    const names = [...this.#changed];
    this.#changed.clear();
    const put: Put[] = [];
    const remove: Removal[] = [];
    const given = new Map<string, FollowedName>();
    for (const name of names) {
      const change = name.takeChange();
      if (change?.kind === "put") {
        put.push({ typeUrl: name.typeUrl, resource: change.resource });
        given.set(keyOf(name.typeUrl, name.interest.name), name);
      }
      if (change?.kind === "remove")
        remove.push({ typeUrl: name.typeUrl, name: name.interest.name, error: change.error });
      if (change?.kind === "unreadable") this.#options.onRejected?.(change.error);
    }
    this.#reportOutage(sink);
    const troubles = names.flatMap((name) => name.takeTrouble() ?? []);
    // A resource that comes at the end of an outage is not shown as stale.
    for (const { scope, error } of troubles)
      if (error === undefined) sink.unavailable(scope, undefined);
    if (put.length > 0 || remove.length > 0) this.#committed(sink.commit({ put, remove }), given);
    for (const { scope, error } of troubles)
      if (error !== undefined) sink.unavailable(scope, error);
  }

  #committed(committed: Committed, names: ReadonlyMap<string, FollowedName>): void {
    const judge = ({ rejected = [] }: Committed): void => {
      for (const { typeUrl, name, error } of rejected) {
        names.get(keyOf(typeUrl, name))?.reject(error);
        this.#options.onRejected?.(error);
      }
    };
    judge(committed);
    void committed.decided?.then(judge);
    const { taken } = committed;
    if (taken === undefined) return;
    this.#flush = "taking";
    const next = (): void => {
      this.#flush = "none";
      if (this.#changed.size > 0) this.#commit();
    };
    void taken.then(next, next);
  }

  /** Reports the server as unreachable while all names that were requested fail (C-GRPC-6). */
  #reportOutage(sink: ResourceSink): void {
    const error = this.#outageNow();
    if (isSameError(this.#outage, error)) return;
    this.#outage = error;
    sink.unavailable({}, error);
    // This also ended the reports about single names.
    for (const name of this.#names) {
      name.forgetTrouble();
      if (error === undefined) this.#noteChange(name);
    }
  }

  #outageNow(): XdsError | undefined {
    let error: XdsError | undefined;
    for (const { reach } of this.#names) {
      if (reach.kind === "answered" || reach.kind === "asking") return undefined;
      if (reach.kind === "failing" && reach.error.code === "UNAVAILABLE") error = reach.error;
    }
    return error;
  }
}

function keyOf(typeUrl: string, name: string): string {
  return `${typeUrl} ${nameKey(name)}`;
}
