import {
  type Constraints,
  type Interest,
  matchesConstraints,
  overlapOf,
  XdsError,
} from "@xdstp/core";

import type { CacheState } from "../cache-state.ts";
import type { NameRecord, Step } from "../name-record.ts";
import type { ReadName } from "../read-name.ts";
import { StateEntry } from "../state-entry.ts";

type Parameters = Interest["parameters"];

/** The constraints of a resource without constraints, which is for every client. */
export const EVERYONE: Constraints = { kind: "and", of: [] };

/**
 * The variants of one name, the one without constraints included (TP2).
 *
 * Each has a record of its own, and so entries of its own: the removal of a variant is an entry, as
 * the removal of a name is. The variant that a reader is shown depends on its parameters alone
 * (B-DYN-3).
 * A cache rejects variants that do not exclude each other (S-DYN-4), so normally at most one
 * matches. If several may match, the set is contested: every change concerns all variants, and a
 * reader that matches several is shown none (S-DYN-8).
 */
export class VariantSet {
  /**
   * True if some of the existing variants do not exclude each other, or that cannot be determined.
   */
  contested = false;
  readonly #typeUrl: string;
  readonly #plain: () => NameRecord | undefined;
  readonly #records = new Map<string, NameRecord>();
  /** The entry with an error for readers that match several variants. */
  #clash: StateEntry | undefined;

  /** @param plain - Returns the record of the name itself */
  constructor(typeUrl: string, plain: () => NameRecord | undefined) {
    this.#typeUrl = typeUrl;
    this.#plain = plain;
  }

  get size(): number {
    return this.#records.size;
  }

  get(text: string): NameRecord | undefined {
    return this.#records.get(text);
  }

  add(text: string, record: NameRecord): void {
    this.#records.set(text, record);
  }

  delete(text: string): boolean {
    return this.#records.delete(text);
  }

  /** Returns the records of the variants with constraints. */
  values(): Iterable<NameRecord> {
    return this.#records.values();
  }

  /** Returns the entry for readers with these parameters. undefined: no variant matches them. */
  shown(parameters: Parameters): StateEntry | undefined {
    return choose(this.#alive(), this.#clash, parameters);
  }

  /** Returns the removals of variants that matched these parameters. */
  removed(parameters: Parameters): readonly StateEntry[] {
    return this.#rows().flatMap(({ variant, entry }) =>
      entry !== undefined &&
      !entry.dead &&
      entry.tombstone &&
      isFor(variant?.constraints, parameters)
        ? [entry]
        : [],
    );
  }

  /** Returns the entry of a record in a collection with these parameters. */
  entryOf(record: NameRecord, parameters: Parameters): StateEntry | undefined {
    const { entry, variant } = record;
    if (entry?.resource === undefined)
      return isFor(variant?.constraints, parameters) ? entry : undefined;
    const shown = this.shown(parameters);
    if (shown === undefined || shown.resource !== undefined)
      return shown === entry ? entry : undefined;
    return this.#alive().find((one) => isFor(one.constraints, parameters))?.record === record
      ? shown
      : undefined;
  }

  /**
   * Notes the new entry of a record. Returns a function that gives the changes in a collection for
   * its parameters.
   */
  changed(
    record: NameRecord,
    old: StateEntry | undefined,
    state: CacheState,
  ): (parameters: Parameters) => readonly Step[] {
    const before = this.#alive().filter((one) => one.record !== record);
    if (old?.resource !== undefined)
      before.push({ record, entry: old, constraints: record.variant?.constraints ?? EVERYONE });
    const clash = this.#clash;
    this.#settle(record, old, state);
    const after = this.#alive();
    return (parameters) =>
      stepsOf(
        record,
        old,
        choose(before, clash, parameters),
        choose(after, this.#clash, parameters),
        parameters,
      );
  }

  /**
   * Updates `contested`. While a set is contested each change concerns all variants: a reader that
   * was shown one may be shown none now, or another.
   */
  #settle(record: NameRecord, old: StateEntry | undefined, state: CacheState): void {
    const was = this.contested;
    this.contested = this.#isContested(record, old);
    if (!was && !this.contested) return;
    const { revision, label } = state;
    for (const one of this.#alive()) {
      if (one.record === record) continue;
      one.entry.supersede();
      one.record.entry = one.entry.with({ revision, label });
    }
    this.#clash?.supersede();
    this.#clash =
      this.contested && record.entry !== undefined
        ? new StateEntry({
            revision,
            label,
            name: record.entry.name,
            error: this.#error(record.entry.name),
            tombstone: true,
          })
        : undefined;
  }

  #isContested(record: NameRecord, old: StateEntry | undefined): boolean {
    const alive = this.#alive();
    const own = alive.find((one) => one.record === record);
    if (own !== undefined)
      return (
        this.contested ||
        (old?.resource === undefined &&
          alive.some(
            (one) => one !== own && overlapOf(one.constraints, own.constraints) !== "none",
          ))
      );
    return (
      this.contested &&
      alive.some((one, index) =>
        alive
          .slice(index + 1)
          .some((other) => overlapOf(one.constraints, other.constraints) !== "none"),
      )
    );
  }

  #error(name: string): XdsError {
    const texts = this.#alive().map(
      ({ record: { variant } }) => variant?.text ?? "one without constraints",
    );
    const message = `several variants match these parameters, so none is served: they are ${texts.join("; ")}; let them exclude each other`;
    return new XdsError("FAILED_PRECONDITION", message, {
      typeUrl: this.#typeUrl,
      resource: name,
      rule: "S-DYN-8",
    });
  }

  #rows(): readonly NameRecord[] {
    const plain = this.#plain();
    return plain === undefined ? [...this.#records.values()] : [plain, ...this.#records.values()];
  }

  #alive(): Alive[] {
    return this.#rows().flatMap((record) =>
      record.entry?.resource === undefined
        ? []
        : { record, entry: record.entry, constraints: record.variant?.constraints ?? EVERYONE },
    );
  }
}

/** A variant that exists. */
interface Alive {
  readonly record: NameRecord;
  readonly entry: StateEntry;
  readonly constraints: Constraints;
}

function isFor(constraints: Constraints | undefined, parameters: Parameters): boolean {
  return constraints === undefined || matchesConstraints(constraints, parameters);
}

function choose(
  alive: readonly Alive[],
  clash: StateEntry | undefined,
  parameters: Parameters,
): StateEntry | undefined {
  const first = alive.findIndex(({ constraints }) => matchesConstraints(constraints, parameters));
  if (clash === undefined || first < 0) return alive[first]?.entry;
  return alive
    .slice(first + 1)
    .some(({ constraints }) => matchesConstraints(constraints, parameters))
    ? clash
    : alive[first]?.entry;
}

/**
 * Returns the changes for these parameters: first the removal, then the variant that replaces it,
 * so that both are one update (S-DYN-5).
 */
function stepsOf(
  { entry, variant }: NameRecord,
  old: StateEntry | undefined,
  from: StateEntry | undefined,
  to: StateEntry | undefined,
  parameters: Parameters,
): readonly Step[] {
  const went =
    entry !== undefined && entry.resource === undefined && isFor(variant?.constraints, parameters)
      ? entry
      : undefined;
  const left = went !== undefined && from === old ? undefined : from;
  const steps: Step[] = went === undefined ? [] : [[from === old ? old : undefined, went]];
  if (to !== undefined && to !== left)
    steps.push([left ?? (to === entry && old?.resource === undefined ? old : undefined), to]);
  return steps;
}

/**
 * The names of a type that have variants. Nearly all types have none, and then one field is
 * undefined.
 */
export class VariantIndex {
  readonly #typeUrl: string;
  readonly #records: ReadonlyMap<string, NameRecord>;
  #sets: Map<string, VariantSet> | undefined;

  /** @param records - The records without constraints, by name */
  constructor(typeUrl: string, records: ReadonlyMap<string, NameRecord>) {
    this.#typeUrl = typeUrl;
    this.#records = records;
  }

  get isEmpty(): boolean {
    return this.#sets === undefined;
  }

  /** Returns the variants of a name. undefined: it has none. */
  of(key: string): VariantSet | undefined {
    return this.#sets?.get(key);
  }

  /** Yields all records with constraints. */
  *values(): Generator<NameRecord> {
    for (const set of this.#sets?.values() ?? []) yield* set.values();
  }

  /** Returns the record of exactly this name and variant. */
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
