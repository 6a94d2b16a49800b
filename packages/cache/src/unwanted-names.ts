import type { Clock, Timer } from "@xdstp/core";

import { nameKey } from "@xdstp/uri";

import type { InterestChange, InterestLedger } from "./interest-ledger.ts";
import type { NameRecord } from "./name-record.ts";
import type { ReadName } from "./read-name.ts";
import type { TypeStore } from "./type-store.ts";

/** The part of the cache that dropping names uses. */
export interface UnwantedHost {
  readonly clock: Clock;
  readonly lingerMs: number;
  readonly ledger: InterestLedger;
  type(typeUrl: string): TypeStore;
}

/**
 * Drops names that feeds on demand gave and that have no subscribers any more (B-RELAY-10). A name
 * that never had a subscriber is kept for the linger time.
 */
export class UnwantedNames {
  readonly #host: UnwantedHost;
  readonly #records = new Map<NameRecord, TypeStore>();
  #timer: Timer | undefined;
  #ended = false;

  constructor(host: UnwantedHost) {
    this.#host = host;
  }

  /** Notes a name that a feed on demand has put. */
  note(type: TypeStore, name: ReadName): void {
    const { clock, lingerMs, ledger } = this.#host;
    if (
      this.#ended ||
      ledger.wants(type.typeUrl, name.key) ||
      (name.parent !== undefined && ledger.wants(type.typeUrl, name.parent))
    )
      return;
    const record = type.find(name);
    if (record === undefined || this.#isWanted(type, record)) return;
    this.#records.set(record, type);
    if (lingerMs === 0) ledger.schedule();
    else
      this.#timer ??= clock.after(lingerMs, () => {
        this.#sweep();
      });
  }

  /**
   * Drops the names of interests that have ended. The cost depends on the number of names that they
   * cover.
   */
  onChange(changes: readonly InterestChange[]): void {
    for (const { typeUrl, dropped, unheard } of changes) {
      for (const { key } of [...dropped, ...unheard]) this.#drop(this.#host.type(typeUrl), key);
    }
    if (this.#host.lingerMs === 0) this.#sweep();
  }

  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
  }

  #drop(type: TypeStore, key: string): void {
    if (this.#host.ledger.wants(type.typeUrl, key)) return;
    for (const record of type.related(key)) this.#forget(type, record);
    const group = type.knownGroup(key);
    if (group === undefined) return;
    group.settled = false;
    group.error = undefined;
    type.prune(group);
  }

  #sweep(): void {
    this.#timer = undefined;
    const records = [...this.#records];
    this.#records.clear();
    for (const [record, type] of records) this.#forget(type, record);
  }

  #forget(type: TypeStore, record: NameRecord): void {
    if (record.owner?.onDemand === true && !this.#isWanted(type, record)) type.forget(record);
  }

  #isWanted({ typeUrl }: TypeStore, { key, group, inWildcard, entry }: NameRecord): boolean {
    const wants = (interest: string): boolean => this.#host.ledger.wants(typeUrl, interest);
    return (
      wants(key) ||
      (group !== undefined && wants(group.key)) ||
      (inWildcard && wants("*")) ||
      (entry?.resource?.aliases ?? []).some((alias) => wants(nameKey(alias)))
    );
  }
}
