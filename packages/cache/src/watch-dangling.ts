import { XdsError, type Entry, type Reference, type ResourceSource, type ResourceType, type Topic } from "@xdstp/core";
import { authorityOf, isGlob } from "@xdstp/uri";

import { readName } from "./read-name.ts";

/** A resource refers to a name that is not there. */
export interface DanglingReference {
  readonly typeUrl: string;
  readonly name: string;
  /** The first resource that refers to it. */
  readonly by: { readonly typeUrl: string; readonly name: string };
  /** How many other resources refer to it too. */
  readonly others: number;
}

/** Told once when a reference begins to dangle, and once when it no longer does: the name is there, or nothing refers to it. */
export type DanglingEvent = ({ readonly kind: "dangling" } & DanglingReference) | { readonly kind: "resolved"; readonly typeUrl: string; readonly name: string; readonly isServed: boolean };

/** A watch of the references within a source. */
export interface DanglingWatch {
  /** What dangles now, as of the last transaction. */
  list(): readonly DanglingReference[];
  close(): void;
}

/**
 * Watches what refers to what is not there, for types with `references`; costs what changes, and looks once per turn of the event loop at all that a transaction has changed.
 *
 * Left out: references with a ConfigSource of their own, globs, xdstp names of other authorities than that of the source or of the referring resource, names with context parameters,
 * and types of which the source does not know all names. What clients find only when they run (VHDS, on-demand discovery) is not a reference.
 */
export function watchDangling(source: Pick<ResourceSource, "topic" | "authorities">, types: readonly ResourceType[], onEvent: (event: DanglingEvent) => void = () => undefined): DanglingWatch {
  const watch = new Watch(source, types, onEvent);
  return { list: () => watch.list(), close: () => { watch.close(); } };
}

interface Target {
  readonly typeUrl: string;
  readonly name: string;
  /** Who refers to it, by type and name. */
  readonly by: Map<string, { readonly typeUrl: string; readonly name: string }>;
  dangles: boolean;
}

interface Followed {
  readonly type: ResourceType;
  readonly topic: Topic;
  /** Revision up to which it was read. */
  read: number;
}

class Watch {
  readonly #source: Pick<ResourceSource, "topic" | "authorities">;
  readonly #onEvent: (event: DanglingEvent) => void;
  readonly #followed: ReadonlyMap<string, Followed>;
  readonly #targets = new Map<string, Target>();
  /** What each resource refers to, by type and name. */
  readonly #references = new Map<string, readonly string[]>();
  readonly #watcher = { wake: (): void => { this.#wakeLater(); } };
  #isWoken = false;
  #closed = false;

  constructor(source: Pick<ResourceSource, "topic" | "authorities">, types: readonly ResourceType[], onEvent: (event: DanglingEvent) => void) {
    this.#source = source;
    this.#onEvent = onEvent;
    this.#followed = new Map(types.map((type) => [type.typeUrl, { type, topic: source.topic(type.typeUrl, { name: "*" }), read: 0 }]));
    for (const { topic } of this.#followed.values()) topic.watch(this.#watcher);
    this.#look();
  }

  list(): readonly DanglingReference[] {
    this.#look();
    return [...this.#targets.values()].filter(({ dangles }) => dangles).map(dangling);
  }

  close(): void {
    this.#closed = true;
    for (const { topic } of this.#followed.values()) topic.unwatch(this.#watcher);
  }

  #wakeLater(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    queueMicrotask(() => {
      this.#isWoken = false;
      if (!this.#closed) this.#look();
    });
  }

  #look(): void {
    const touched = new Set<string>();
    for (const followed of this.#followed.values()) {
      const { topic } = followed;
      const entries = topic.changes(followed.read) ?? [...topic.members(), ...topic.removed()];
      followed.read = topic.head;
      for (const entry of entries) this.#take(followed, entry, touched);
    }
    for (const key of touched) this.#judge(key);
  }

  /** A changed resource is a target, and may refer to others than before. */
  #take({ type }: Followed, { name, resource }: Entry, touched: Set<string>): void {
    const own = keyOf(type.typeUrl, name);
    touched.add(own);
    if (type.references === undefined) return;
    const next = resource === undefined ? [] : type.references(resource.payload.value).filter((reference) => this.#counts(reference, name));
    const before = this.#references.get(own) ?? [];
    const keys = [...new Set(next.map((reference) => keyOf(reference.typeUrl, reference.name)))];
    const now = new Set(keys);
    for (const key of before) {
      if (now.has(key)) continue;
      this.#targets.get(key)?.by.delete(own);
      touched.add(key);
    }
    for (const reference of next) this.#refer(reference, own, { typeUrl: type.typeUrl, name }, touched);
    if (keys.length > 0) this.#references.set(own, keys);
    else this.#references.delete(own);
  }

  #refer({ typeUrl, name }: Reference, own: string, by: { readonly typeUrl: string; readonly name: string }, touched: Set<string>): void {
    const key = keyOf(typeUrl, name);
    const target = this.#targets.get(key) ?? { typeUrl, name, by: new Map<string, typeof by>(), dangles: false };
    this.#targets.set(key, target);
    target.by.set(own, by);
    touched.add(key);
  }

  #counts({ typeUrl, name, source }: Reference, from: string): boolean {
    if (source !== undefined || isGlob(name) || !this.#followed.has(typeUrl)) return false;
    if (!name.startsWith("xdstp:")) return true;
    const authority = authorityOf(name);
    return authority !== undefined && !name.includes("?") && (authority === authorityOf(from) || this.#source.authorities?.includes(authority) === true);
  }

  #judge(key: string): void {
    const target = this.#targets.get(key);
    const topic = target === undefined ? undefined : this.#followed.get(target.typeUrl)?.topic;
    if (target === undefined || topic?.settled !== true) return;
    const { typeUrl, name, by } = target;
    const isServed = topic.get(name)?.resource !== undefined;
    const dangles = by.size > 0 && !isServed;
    if (by.size === 0) this.#targets.delete(key);
    if (dangles === target.dangles) return;
    target.dangles = dangles;
    this.#onEvent(dangles ? { kind: "dangling", ...dangling(target) } : { kind: "resolved", typeUrl, name, isServed });
  }
}

function dangling({ typeUrl, name, by }: Target): DanglingReference {
  const [first] = by.values();
  if (first === undefined) throw new XdsError("INTERNAL", `nothing refers to ${JSON.stringify(name)}`);
  return { typeUrl, name, by: first, others: by.size - 1 };
}

function keyOf(typeUrl: string, name: string): string {
  return `${typeUrl} ${readName(name).key}`;
}
