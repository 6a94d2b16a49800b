import {
  forwardSink,
  whenDecided,
  XdsError,
  type Committed,
  type Interest,
  type ResourceSink,
  type Removal,
  type Scope,
  type SnapshotScope,
  type Transaction,
  type TypedInterest,
} from "@xdstp/core";

import { believed, type AnsweredTypes } from "./believed.ts";
import { noteTransaction, type Noting, makeRoom } from "./note-transaction.ts";
import type { SnapshotRecord } from "./record.ts";
import { coveredBy, restore } from "./restore.ts";
import type { Served } from "./snapshot.ts";
import type { IsSubscribed, SnapshotStore } from "./snapshot-store.ts";
import { SubscribedInterests, type SubscribedInterest } from "./subscribed.ts";

/** Tracks which interests are subscribed, which of them upstream has answered, and which are served from the snapshot. */
export class SnapshotKeeper {
  readonly store: SnapshotStore;
  readonly space: string;
  readonly inWildcard: (name: string) => boolean;
  readonly subscribed: SubscribedInterests = new SubscribedInterests();
  /** Authorities that upstream has answered for. */
  readonly #answeredAuthorities = new Set<string | null>();
  readonly #outages = new Outages();
  readonly #sinks: ResourceSink[] = [];
  readonly #subscribers: IsSubscribed;
  readonly #serving = (): Iterable<Served> => this.subscribed;
  readonly #noting: Omit<Noting, "sink">;
  #own: ResourceSink | undefined;
  /** Number of interests that are served from the snapshot. */
  #restored = 0;
  /** Number of restores that continue in a later turn. */
  #turns = 0;

  constructor(store: SnapshotStore, { inWildcard, space = "" }: SnapshotScope) {
    this.store = store;
    this.space = space;
    this.inWildcard = inWildcard;
    this.#noting = {
      store,
      space,
      inWildcard,
      subscribed: this.subscribed,
      isHeld: ({ typeUrl, name }) =>
        this.#sinks.some(
          (sink) => sink.held(typeUrl, { name })[Symbol.iterator]().next().done !== true,
        ),
      remove: (gone) => {
        this.#remove(gone);
      },
      noteAnswer: (subscribed) => {
        this.#noteAnswer(subscribed);
      },
    };
    this.#subscribers = (one) =>
      one.space === space &&
      ("interest" in one
        ? this.subscribed.find(one.typeUrl, one.interest) !== undefined
        : this.subscribed.covers(one, inWildcard));
  }

  begin(sink: ResourceSink): void {
    this.#own = sink.part?.() ?? sink;
    this.store.subscribers.add(this.#subscribers);
    this.store.servings.add(this.#serving);
    this.#restore(this.subscribed);
  }

  end(): void {
    this.store.subscribers.delete(this.#subscribers);
    this.store.servings.delete(this.#serving);
    this.#own = undefined;
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    for (const interest of dropped) this.#drop(this.subscribed.find(typeUrl, interest));
    this.#restore(added.map((interest) => this.subscribed.add(typeUrl, interest)));
  }

  /** The sink for upstream. */
  over(given: ResourceSink): ResourceSink {
    return forwardSink(given, (sink) => {
      this.#sinks.push(sink);
      const answeredTypes: AnsweredTypes = new Set();
      return {
        commit: (transaction) => this.#commit(sink, answeredTypes, transaction),
        unavailable: (scope, error) => {
          this.#unavailable(sink, scope, error);
        },
      };
    });
  }

  #commit(sink: ResourceSink, answeredTypes: AnsweredTypes, given: Transaction): Committed {
    const noting: Noting = { ...this.#noting, sink };
    const { pass, doubtful } = believed(noting, answeredTypes, given);
    if (this.#restored + this.#turns > 0) makeRoom(noting, pass);
    return whenDecided(sink.commit(pass), (committed) => {
      noteTransaction(noting, pass, committed, doubtful);
      if (doubtful.size > 0) this.#silent(doubtful);
      return committed;
    });
  }

  #remove(gone: readonly SnapshotRecord[]): void {
    const remove = gone
      .filter(({ restored }) => restored)
      .map(({ typeUrl, name, constraints }) => ({
        typeUrl,
        name,
        ...(constraints !== undefined && { constraints }),
      }));
    if (remove.length > 0) void this.#own?.commit({ remove });
    for (const record of gone) this.store.remove(record);
  }

  #noteAnswer(subscribed: SubscribedInterest): void {
    subscribed.answered = true;
    this.#answeredAuthorities.add(subscribed.authority);
    this.#unmark(subscribed);
  }

  #drop(subscribed: SubscribedInterest | undefined): void {
    if (subscribed === undefined) return;
    this.subscribed.delete(subscribed.typeUrl, subscribed.interest, subscribed.key);
    this.#unmark(subscribed);
    for (const record of coveredBy(this, subscribed)) {
      if (!this.subscribed.covers(record, this.inWildcard))
        Object.assign(record, { answered: false, restored: false });
    }
  }

  #unmark(subscribed: SubscribedInterest): void {
    if (subscribed.restoredAt === undefined) return;
    subscribed.restoredAt = undefined;
    this.#restored--;
    this.#own?.unavailable(
      { typeUrl: subscribed.typeUrl, interest: subscribed.interest },
      undefined,
    );
  }

  /** Restores the interests that upstream has not answered and cannot answer now. */
  #restore(candidates: Iterable<SubscribedInterest>): void {
    if (this.#own === undefined) return;
    const away = [...candidates].filter(
      (subscribed) =>
        !subscribed.answered &&
        (subscribed.restoredAt === undefined || subscribed.isPartial) &&
        this.#isAway(subscribed),
    );
    if (away.length === 0) return;
    restore(
      {
        store: this.store,
        space: this.space,
        own: this.#own,
        inWildcard: this.inWildcard,
        isOut: (subscribed) => this.#isOut(subscribed),
        isOpen: (subscribed) =>
          !subscribed.answered &&
          this.subscribed.find(subscribed.typeUrl, subscribed.interest) === subscribed,
        isCovered: (record) => this.subscribed.covers(record, this.inWildcard),
        noteTurn: (waits) => {
          this.#turns += waits ? 1 : -1;
        },
        noteServed: () => {
          this.#restored++;
        },
        isOver: () => this.#own === undefined,
      },
      away,
    );
  }

  #isAway(subscribed: SubscribedInterest): boolean {
    return !this.#answeredAuthorities.has(subscribed.authority) || this.#isOut(subscribed);
  }

  #isOut(subscribed: SubscribedInterest): boolean {
    return subscribed.failing !== undefined || this.#outages.covers(subscribed);
  }

  /**
   * Serves the known members of collections that upstream has not answered in time, since its
   * silence does not count (B-RELAY-10).
   */
  #silent(doubtful: ReadonlySet<Removal | TypedInterest>): void {
    const silent = [...doubtful]
      .flatMap((one) =>
        "interest" in one ? (this.subscribed.find(one.typeUrl, one.interest) ?? []) : [],
      )
      .filter(({ isPartial }) => isPartial);
    for (const subscribed of silent)
      subscribed.failing ??= new XdsError("UNAVAILABLE", "upstream has not answered in time", {
        typeUrl: subscribed.typeUrl,
        resource: subscribed.interest.name,
      });
    if (silent.length > 0) this.#restore(silent);
  }

  #unavailable(sink: ResourceSink, scope: Scope, error: XdsError | undefined): void {
    const { typeUrl, interest } = scope;
    if (typeUrl === undefined || interest === undefined) {
      this.#outages.set(sink, scope, error);
      if (error !== undefined) this.#restore(this.subscribed);
      sink.unavailable(scope, error && this.#withAge(error));
      return;
    }
    const subscribed = this.subscribed.find(typeUrl, interest);
    if (subscribed !== undefined) {
      subscribed.failing = error;
      if (error !== undefined) this.#restore([subscribed]);
    }
    sink.unavailable(scope, error);
  }

  /** Adds the age of the snapshot to the error of a wider outage, since readers see this error. */
  #withAge(error: XdsError): XdsError {
    if (this.#restored === 0) return error;
    const newest = [...this.subscribed].reduce(
      (latest, { restoredAt = 0 }) => Math.max(latest, restoredAt),
      0,
    );
    return new XdsError(
      error.code,
      `${error.text}; what has not come since the start is from the snapshot of ${new Date(newest).toISOString()}`,
      error.context,
    );
  }
}

/** The unavailable scopes, each with the source that has reported it. */
class Outages {
  #all: readonly (readonly [source: object, scope: Scope])[] = [];

  /** Adds an outage, or removes it with every narrower one of the same source. */
  set(source: object, scope: Scope, error: XdsError | undefined): void {
    const left = this.#all.filter(([other, part]) => other !== source || !isWithin(part, scope));
    this.#all = error === undefined ? left : [...left, [source, scope]];
  }

  covers({ typeUrl, authority }: SubscribedInterest): boolean {
    return this.#all.some(([, scope]) => isWithin({ typeUrl, authority }, scope));
  }
}

/**
 * Returns true if a scope is within another one. An absent field of `whole` matches every value.
 */
function isWithin(part: Scope, whole: Scope): boolean {
  return (
    (whole.typeUrl === undefined || whole.typeUrl === part.typeUrl) &&
    (whole.authority === undefined || whole.authority === part.authority)
  );
}
