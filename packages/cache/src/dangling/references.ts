import {
  nextTurn,
  type Reference,
  type ResourceType,
  type StoredResource,
  XdsError,
} from "@xdstp/core";
import { authorityOf, isGlob } from "@xdstp/uri";

import { typedNameKey } from "../read-name.ts";

/** A resource that was put, changed or removed. */
export interface ChangedResource {
  readonly type: ResourceType;
  readonly name: string;
  /** Absent: the resource was removed. */
  readonly resource?: StoredResource;
}

/** The options of {@link References}. */
export interface ReferencesOptions {
  /** The types whose references are followed. References to other types are ignored. */
  readonly types: readonly ResourceType[];
  /** Returns true if all names of a type are known. */
  readonly isSettled: (typeUrl: string) => boolean;
  /** Returns true if a name has a resource. Called only for types that are settled. */
  readonly isServed: (typeUrl: string, name: string) => boolean;
  /**
   * The authorities for which the source answers, besides that of the referring resource.
   * undefined: none.
   */
  readonly authorities: readonly string[] | undefined;
  /** The `key` of each event. Absent: events have none. */
  readonly key?: string;
  readonly onEvent: (event: DanglingEvent) => void;
}

/** The resources whose references are followed: those of a source, or of one node key. */
export interface ReferencesBody {
  /** Returns the current state of each resource that has changed after the last call. The first call returns all resources. */
  readonly changed: () => Iterable<ChangedResource>;
  /** Called after each check with the keys of the targets that were checked. */
  readonly onChecked?: (touched: ReadonlySet<string>) => void;
}

interface Target {
  readonly typeUrl: string;
  readonly name: string;
  /** The resources that refer to it, by type and name. */
  readonly by: Map<string, DanglingReference["by"]>;
  dangles: boolean;
}

/**
 * Follows the references of a set of resources. Changes are checked once per turn of the event
 * loop, in the turn after the change.
 */
export class References {
  readonly #options: ReferencesOptions;
  readonly #body: ReferencesBody;
  readonly #types: ReadonlySet<string>;
  readonly #targets = new Map<string, Target>();
  /** The targets of each resource, by type and name. */
  readonly #references = new Map<string, readonly string[]>();
  /** The keys of targets whose type is not settled, by type. */
  readonly #unsettled = new Map<string, Set<string>>();
  /** Events that are not reported yet. */
  readonly #found: DanglingEvent[] = [];
  #isWoken = false;
  #closed = false;

  constructor(options: ReferencesOptions, body: ReferencesBody) {
    this.#options = options;
    this.#body = body;
    this.#types = new Set(options.types.map(({ typeUrl }) => typeUrl));
  }

  /** True if no resource has a reference. */
  get isEmpty(): boolean {
    return this.#references.size === 0;
  }

  /** Returns the names of a type that have references or are referred to. A name may occur more than once. */
  *names(typeUrl: string): Iterable<string> {
    for (const target of this.#targets.values()) {
      if (target.typeUrl === typeUrl) yield target.name;
      for (const by of target.by.values()) if (by.typeUrl === typeUrl) yield by.name;
    }
  }

  /**
   * Schedules a check. It has a turn of its own: a commit of 20,000 resources already takes 100 ms,
   * and the check of their references half as long.
   */
  wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    nextTurn(() => {
      this.#isWoken = false;
      this.check();
    });
  }

  list(): readonly DanglingReference[] {
    this.check();
    return [...this.#targets.values()]
      .filter(({ dangles }) => dangles)
      .map((target) => this.#dangling(target));
  }

  /** Reads the resources that have changed since the last check, and reports the differences. */
  check(): void {
    if (this.#closed) return;
    const touched = new Set<string>();
    for (const changed of this.#body.changed()) this.#take(changed, touched);
    for (const key of touched) this.#judge(key);
    this.#judgeSettled();
    this.#body.onChecked?.(touched);
    this.#report();
  }

  /** Checks these targets again: they may exist now, or may have been removed. */
  review(touched: ReadonlySet<string>): void {
    const few = touched.size <= this.#targets.size ? touched : this.#targets.keys();
    for (const key of few) if (touched.has(key)) this.#judge(key);
    this.#judgeSettled();
    this.#report();
  }

  close(): void {
    this.#closed = true;
  }

  /**
   * Reports the events. Called after all targets were checked, since a listener may call `list`,
   * change the cache, or throw.
   */
  #report(): void {
    for (let event = this.#found.shift(); event !== undefined; event = this.#found.shift())
      this.#options.onEvent(event);
  }

  /** Notes a changed resource: it is a target itself, and its references may have changed. */
  #take({ type, name, resource }: ChangedResource, touched: Set<string>): void {
    const own = typedNameKey(type.typeUrl, name);
    touched.add(own);
    if (type.references === undefined) return;
    const next =
      resource === undefined
        ? []
        : type
            .references(resource.payload.value)
            .filter((reference) => this.#isWithin(reference, name));
    const before = this.#references.get(own) ?? [];
    const keys = [
      ...new Set(next.map((reference) => typedNameKey(reference.typeUrl, reference.name))),
    ];
    const now = new Set(keys);
    for (const key of before) {
      if (now.has(key)) continue;
      this.#targets.get(key)?.by.delete(own);
      touched.add(key);
    }
    for (const reference of next)
      this.#refer(reference, own, { typeUrl: type.typeUrl, name }, touched);
    if (keys.length > 0) this.#references.set(own, keys);
    else this.#references.delete(own);
  }

  #refer(
    { typeUrl, name }: Reference,
    own: string,
    by: DanglingReference["by"],
    touched: Set<string>,
  ): void {
    const key = typedNameKey(typeUrl, name);
    const target = this.#targets.get(key) ?? {
      typeUrl,
      name,
      by: new Map<string, typeof by>(),
      dangles: false,
    };
    this.#targets.set(key, target);
    target.by.set(own, by);
    touched.add(key);
  }

  /** Returns true if the source itself has to answer for the name. */
  #isWithin({ typeUrl, name, source }: Reference, from: string): boolean {
    if (source !== undefined || isGlob(name) || !this.#types.has(typeUrl)) return false;
    if (!name.startsWith("xdstp:")) return true;
    const authority = authorityOf(name);
    return (
      authority !== undefined &&
      !name.includes("?") &&
      (authority === authorityOf(from) || this.#options.authorities?.includes(authority) === true)
    );
  }

  #judgeSettled(): void {
    for (const [typeUrl, keys] of this.#unsettled) {
      if (!this.#options.isSettled(typeUrl)) continue;
      this.#unsettled.delete(typeUrl);
      for (const key of keys) this.#judge(key);
    }
  }

  #judge(key: string): void {
    const target = this.#targets.get(key);
    if (target === undefined) return;
    const { typeUrl, name, by } = target;
    if (!this.#options.isSettled(typeUrl)) {
      this.#unsettled.set(typeUrl, (this.#unsettled.get(typeUrl) ?? new Set<string>()).add(key));
      return;
    }
    const isServed = this.#options.isServed(typeUrl, name);
    const dangles = by.size > 0 && !isServed;
    if (by.size === 0) this.#targets.delete(key);
    if (dangles === target.dangles) return;
    target.dangles = dangles;
    this.#found.push(
      dangles
        ? { kind: "dangling", ...this.#dangling(target) }
        : { kind: "resolved", typeUrl, name, isServed, ...this.#keyed() },
    );
  }

  #dangling({ typeUrl, name, by }: Target): DanglingReference {
    const [first] = by.values();
    if (first === undefined)
      throw new XdsError("INTERNAL", `nothing refers to ${JSON.stringify(name)}`);
    return { typeUrl, name, by: first, others: by.size - 1, ...this.#keyed() };
  }

  #keyed(): { readonly key?: string } {
    const { key } = this.#options;
    return key === undefined ? {} : { key };
  }
}

/** A reference to a name that does not exist. */
export interface DanglingReference {
  /** The type URL of the missing name. */
  readonly typeUrl: string;
  /** The name that is missing. */
  readonly name: string;
  /** The first resource that refers to it. */
  readonly by: { readonly typeUrl: string; readonly name: string };
  /** The number of other resources that refer to it too. */
  readonly others: number;
  /** The node key whose content refers to it. Absent: the shared content, or a source without node keys. */
  readonly key?: string;
}

/**
 * An event of a watch. A reference is reported once when it begins to dangle, and once when it no
 * longer does: the name exists, or nothing refers to it. The listener must not throw.
 */
export type DanglingEvent =
  | ({ readonly kind: "dangling" } & DanglingReference)
  | {
      readonly kind: "resolved";
      readonly typeUrl: string;
      readonly name: string;
      readonly isServed: boolean;
      readonly key?: string;
    };

/** A watch of the references within a source. */
export interface DanglingWatch {
  /**
   * Returns the references that dangle after the last transaction; after `close`, those that
   * dangled at that time.
   */
  list(): readonly DanglingReference[];
  /** Ends the watch. Nothing is reported after that. */
  close(): void;
}
