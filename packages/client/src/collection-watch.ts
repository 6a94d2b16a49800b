import { walkFields, XdsError, type Entry, type Resource, type Topic, type Watcher } from "@xdstp/core";

import type { Decoder } from "./decoder.ts";
import type { Hub } from "./hub.ts";
import { createLatest, type Latest } from "./latest.ts";
import { createMember, type Member } from "./member.ts";
import type { Watch, WatchOptions } from "./watch.ts";
import { watchedType, type TypeSource, type ValueOf, type WatchedType } from "./watched-type.ts";

/** What has changed in a collection since the change before. */
export interface CollectionChange<T> {
  /** Members that were not there. */
  readonly added: readonly Member<T>[];
  /** Members that were there in another state. */
  readonly updated: readonly Member<T>[];
  /** Names of members that are gone. */
  readonly removed: readonly string[];
  /** All members are known, as far as the protocol can say so (C-GLOB-9). */
  readonly complete: boolean;
  /** Why it may be old, or why nothing can be had. */
  readonly error?: XdsError;
}

/** A watch on a glob or on all resources of a type. */
export interface CollectionWatch<T> extends Watch<CollectionChange<T>> {
  /** The members as of the change that was read last, by name. */
  readonly members: ReadonlyMap<string, Member<T>>;
}

/** Options of a watch on a collection. */
export interface CollectionOptions<T> extends WatchOptions<T> {
  /**
   * `on-arrival`: every member is decoded and validated when it comes; a bad one is refused. `on-demand`: only what is read is decoded, so that ten of a hundred thousand cost ten;
   * when it comes it is only looked at whether it is a message at all, and `validate` is not called. Default: `on-arrival`.
   */
  readonly decode?: "on-arrival" | "on-demand";
}

/** Watches all members of a glob, or of a type (`*`). */
export function watchCollection<S extends TypeSource<unknown>>(hub: Hub, source: S, name: string, options: CollectionOptions<ValueOf<S>>): CollectionWatch<ValueOf<S>> {
  return new Collection<ValueOf<S>>(hub, source as TypeSource<ValueOf<S>>, name, options);
}

class Collection<T> implements CollectionWatch<T>, Watcher {
  readonly name: string;
  readonly members = new Map<string, Member<T>>();
  readonly #hub: Hub;
  readonly #decoder: Decoder<T>;
  readonly #topic: Topic;
  readonly #latest: Latest<CollectionChange<T>>;
  readonly #uncheck: () => void;
  #revision = -1;
  #complete = false;
  #error: XdsError | undefined;
  #taken: (() => void) | undefined;
  #closed = false;

  constructor(hub: Hub, source: TypeSource<T>, name: string, { validate, signal, decode = "on-arrival", ...nameOptions }: CollectionOptions<T>) {
    const type = watchedType(source);
    const interest = hub.interestOf(type.typeUrl, name, nameOptions);
    this.name = interest.name;
    this.#hub = hub;
    this.#decoder = hub.decoder<T>(source, type as WatchedType<T>);
    this.#latest = createLatest<CollectionChange<T>>(() => { this.#onTaken(); }, () => { this.close(); });
    this.#uncheck = hub.cache.check(type.typeUrl, interest, decode === "on-demand" ? isMessage : (resource, checked) => this.#decoder.check(resource, checked, validate));
    this.#topic = hub.cache.topic(type.typeUrl, interest);
    this.#topic.watch(this);
    hub.open.add(this);
    signal?.addEventListener("abort", () => { this.#abort(signal.reason); }, { once: true });
    if (signal?.aborted === true) this.#abort(signal.reason);
    else this.wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<CollectionChange<T>, undefined> {
    return this.#latest;
  }

  wake(): void {
    const { settled, stale, head } = this.#topic;
    if (!settled && stale === undefined && head <= 0) return;
    if (this.#latest.started) this.#taken ??= this.#hub.taking.begin();
    this.#latest.mark(() => this.#change());
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#topic.unwatch(this);
    this.#uncheck();
    this.#hub.open.delete(this);
    this.#onTaken();
    this.#latest.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  #abort(reason: unknown): void {
    this.#latest.fail(reason);
    this.close();
  }

  #onTaken(): void {
    this.#taken?.();
    this.#taken = undefined;
  }

  /** undefined: nothing a reader would notice. */
  #change(): CollectionChange<T> | undefined {
    const { settled, stale } = this.#topic;
    const change = { added: [] as Member<T>[], updated: [] as Member<T>[], removed: [] as string[] };
    for (const entry of this.#news(change.removed)) this.#take(entry, change);
    const isSame = settled === this.#complete && stale === this.#error;
    this.#complete = settled;
    this.#error = stale;
    if (isSame && change.added.length + change.updated.length + change.removed.length === 0) return undefined;
    return { ...change, complete: settled, ...(stale === undefined ? {} : { error: this.#hub.tell(stale) }) };
  }

  /** What is newer than what was read last. Where that history is gone, what is there now takes its place. */
  #news(removed: string[]): readonly Entry[] {
    const { head } = this.#topic;
    const changes = this.#revision < 0 ? undefined : this.#topic.changes(this.#revision);
    this.#revision = head;
    if (changes !== undefined) return changes;
    const there = this.#topic.members();
    const names = new Set(there.flatMap(({ name, resource }) => (resource === undefined ? [] : [name])));
    for (const name of this.members.keys()) if (!names.has(name)) removed.push(name);
    for (const name of removed) this.members.delete(name);
    return there;
  }

  #take({ name, resource }: Entry, { added, updated, removed }: { readonly added: Member<T>[]; readonly updated: Member<T>[]; readonly removed: string[] }): void {
    const known = this.members.get(name);
    if (resource === undefined) {
      if (this.members.delete(name)) removed.push(name);
      return;
    }
    if (known?.version === resource.version) return;
    const member = createMember(this.#decoder, resource);
    this.members.set(name, member);
    (known === undefined ? added : updated).push(member);
  }
}

/** That it is a message at all can be said without decoding it. */
function isMessage({ payload: { typeUrl, value } }: Resource, name: string): XdsError | undefined {
  return walkFields(value, () => undefined).outcome === "complete" ? undefined : new XdsError("INVALID_ARGUMENT", "its payload is no message", { typeUrl, resource: name });
}
