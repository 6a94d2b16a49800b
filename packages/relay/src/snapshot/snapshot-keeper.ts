import {
  forwardSink,
  whenDecided,
  XdsError,
  type Committed,
  type Interest,
  type ResourceSink,
  type Removal,
  type Scope,
  type Transaction,
  type TypedInterest,
} from "@xdstp/core";

import { believed, type Spoken } from "./believed.ts";
import { noteTransaction, type Noting } from "./note-transaction.ts";
import { Outages } from "./outages.ts";
import type { SnapshotRecord } from "./record.ts";
import { coveredBy, restore } from "./restore.ts";
import type { Served, SnapshotStore, Wants } from "./snapshot-store.ts";
import { makeRoom } from "./make-room.ts";
import { WantedBook, type Wanted } from "./wanted-book.ts";

/** How a snapshot is kept. */
export interface KeepOptions {
  /** Which names `*` covers: as the option `wildcard` of the cache. */
  readonly inWildcard: (name: string) => boolean;
  /** Whose names these are, where one snapshot is for several caches: what one has is not shown to another. Default: empty. */
  readonly space?: string;
}

/** What is asked for, what upstream has said of it, and what is served from the snapshot meanwhile. */
export class SnapshotKeeper {
  readonly store: SnapshotStore;
  readonly space: string;
  readonly inWildcard: (name: string) => boolean;
  readonly wanted: WantedBook = new WantedBook();
  /** Whom upstream answers for, as far as it has been heard. */
  readonly #heard = new Set<string | null>();
  readonly #outages = new Outages();
  readonly #sinks: ResourceSink[] = [];
  readonly #wants: Wants;
  readonly #serving = (): Iterable<Served> => this.wanted;
  readonly #noting: Omit<Noting, "sink">;
  #own: ResourceSink | undefined;
  /** How many interests are served from the snapshot. */
  #restored = 0;
  /** How many restores go on in a later turn. */
  #turns = 0;

  constructor(store: SnapshotStore, { inWildcard, space = "" }: KeepOptions) {
    this.store = store;
    this.space = space;
    this.inWildcard = inWildcard;
    this.#noting = {
      store,
      space,
      inWildcard,
      wanted: this.wanted,
      isHeld: ({ typeUrl, name }) =>
        this.#sinks.some(
          (sink) => sink.held(typeUrl, { name })[Symbol.iterator]().next().done !== true,
        ),
      remove: (gone) => {
        this.#remove(gone);
      },
      say: (wanted) => {
        this.#say(wanted);
      },
    };
    this.#wants = (one) =>
      one.space === space &&
      ("interest" in one
        ? this.wanted.find(one.typeUrl, one.interest) !== undefined
        : this.wanted.covers(one, inWildcard));
  }

  begin(sink: ResourceSink): void {
    this.#own = sink.part?.() ?? sink;
    this.store.wants.add(this.#wants);
    this.store.servings.add(this.#serving);
    this.#restore(this.wanted);
  }

  end(): void {
    this.store.wants.delete(this.#wants);
    this.store.servings.delete(this.#serving);
    this.#own = undefined;
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    for (const interest of dropped) this.#drop(this.wanted.find(typeUrl, interest));
    this.#restore(added.map((interest) => this.wanted.add(typeUrl, interest)));
  }

  /** The sink that upstream is given. */
  over(given: ResourceSink): ResourceSink {
    return forwardSink(given, (sink) => {
      this.#sinks.push(sink);
      const spoken: Spoken = new Set();
      return {
        commit: (transaction) => this.#commit(sink, spoken, transaction),
        unavailable: (scope, error) => {
          this.#unavailable(sink, scope, error);
        },
      };
    });
  }

  #commit(sink: ResourceSink, spoken: Spoken, given: Transaction): Committed {
    const noting: Noting = { ...this.#noting, sink };
    const { pass, doubtful } = believed(noting, spoken, given);
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

  #say(wanted: Wanted): void {
    wanted.said = true;
    this.#heard.add(wanted.authority);
    this.#unmark(wanted);
  }

  #drop(wanted: Wanted | undefined): void {
    if (wanted === undefined) return;
    this.wanted.delete(wanted);
    this.#unmark(wanted);
    for (const record of coveredBy(this, wanted)) {
      if (!this.wanted.covers(record, this.inWildcard))
        Object.assign(record, { said: false, restored: false });
    }
  }

  #unmark(wanted: Wanted): void {
    if (wanted.restoredAt === undefined) return;
    wanted.restoredAt = undefined;
    this.#restored--;
    this.#own?.unavailable({ typeUrl: wanted.typeUrl, interest: wanted.interest }, undefined);
  }

  /** Those that nobody can be asked for now, and of which upstream has said nothing. */
  #restore(candidates: Iterable<Wanted>): void {
    if (this.#own === undefined) return;
    const away = [...candidates].filter(
      (wanted) =>
        !wanted.said &&
        (wanted.restoredAt === undefined || wanted.isPartial) &&
        this.#isAway(wanted),
    );
    if (away.length === 0) return;
    restore(
      {
        store: this.store,
        space: this.space,
        own: this.#own,
        inWildcard: this.inWildcard,
        isOut: (wanted) => this.#isOut(wanted),
        isOpen: (wanted) =>
          !wanted.said && this.wanted.find(wanted.typeUrl, wanted.interest) === wanted,
        isWanted: (record) => this.wanted.covers(record, this.inWildcard),
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

  #isAway(wanted: Wanted): boolean {
    return !this.#heard.has(wanted.authority) || this.#isOut(wanted);
  }

  #isOut(wanted: Wanted): boolean {
    return wanted.failing !== undefined || this.#outages.covers(wanted);
  }

  /** Upstream has not sent anything of these in time, and is not believed (B-RELAY-10): what is known of them is all there is for now. */
  #silent(doubtful: ReadonlySet<Removal | TypedInterest>): void {
    const silent = [...doubtful]
      .flatMap((one) =>
        "interest" in one ? (this.wanted.find(one.typeUrl, one.interest) ?? []) : [],
      )
      .filter(({ isPartial }) => isPartial);
    for (const wanted of silent)
      wanted.failing ??= new XdsError("UNAVAILABLE", "upstream has not answered in time", {
        typeUrl: wanted.typeUrl,
        resource: wanted.interest.name,
      });
    if (silent.length > 0) this.#restore(silent);
  }

  #unavailable(sink: ResourceSink, scope: Scope, error: XdsError | undefined): void {
    const { typeUrl, interest } = scope;
    if (typeUrl === undefined || interest === undefined) {
      this.#outages.set(sink, scope, error);
      if (error !== undefined) this.#restore(this.wanted);
      sink.unavailable(scope, error && this.#withAge(error));
      return;
    }
    const wanted = this.wanted.find(typeUrl, interest);
    if (wanted !== undefined) {
      wanted.failing = error;
      if (error !== undefined) this.#restore([wanted]);
    }
    sink.unavailable(scope, error);
  }

  /** Readers hear of the wider outage, so it tells of the age too. */
  #withAge(error: XdsError): XdsError {
    if (this.#restored === 0) return error;
    const newest = [...this.wanted].reduce(
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
