import type { NameRecord } from "../name-record.ts";
import type { ReadName } from "../read-name.ts";
import { VariantSet } from "./variant-set.ts";

/** Which names of a type have variants. Nearly always none: then it is one field that is not there. */
export class VariantIndex {
  readonly #typeUrl: string;
  readonly #records: ReadonlyMap<string, NameRecord>;
  #sets: Map<string, VariantSet> | undefined;

  /** @param records - Those without constraints, by name */
  constructor(typeUrl: string, records: ReadonlyMap<string, NameRecord>) {
    this.#typeUrl = typeUrl;
    this.#records = records;
  }

  get isEmpty(): boolean {
    return this.#sets === undefined;
  }

  /** The variants of a name; undefined: it has none. */
  of(key: string): VariantSet | undefined {
    return this.#sets?.get(key);
  }

  /** All records with constraints. */
  *values(): Generator<NameRecord> {
    for (const set of this.#sets?.values() ?? []) yield* set.values();
  }

  /** The record of exactly this name and variant. */
  find({ key, variant }: Pick<ReadName, "key" | "variant">): NameRecord | undefined {
    return variant === undefined ? this.#records.get(key) : this.of(key)?.get(variant.text);
  }

  add(record: NameRecord, text: string): void {
    const sets = (this.#sets ??= new Map<string, VariantSet>());
    const set =
      sets.get(record.key) ?? new VariantSet(this.#typeUrl, () => this.#records.get(record.key));
    sets.set(record.key, set);
    set.add(text, record);
  }

  delete({ key, variant }: NameRecord): boolean {
    const set = this.of(key);
    if (set === undefined || variant === undefined || !set.delete(variant.text)) return false;
    if (set.size === 0) this.#sets?.delete(key);
    if (this.#sets?.size === 0) this.#sets = undefined;
    return true;
  }
}
