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

/** The resource without constraints is for everyone. */
export const EVERYONE: Constraints = { kind: "and", of: [] };

/**
 * The variants of one name, the one without constraints included (TP2).
 *
 * Each has a record of its own, and so its own entries: the removal of one is an entry, as the removal of a name is. What a reader is shown depends on its parameters alone (B-DYN-3).
 * A cache rejects variants that do not exclude each other (S-DYN-4), so normally at most one matches. Where several may, the set is contested: it changes as a whole, and who matches several is shown none (S-DYN-8).
 */
export class VariantSet {
  /** Some of those that exist do not exclude each other, or cannot be shown to. */
  contested = false;
  readonly #typeUrl: string;
  readonly #plain: () => NameRecord | undefined;
  readonly #records = new Map<string, NameRecord>();
  /** Shown to those who match several. */
  #clash: StateEntry | undefined;

  /** @param plain - The record of the name itself */
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

  /** Records of the variants with constraints. */
  values(): Iterable<NameRecord> {
    return this.#records.values();
  }

  /** What readers with these parameters are shown; undefined: none is for them. */
  shown(parameters: Parameters): StateEntry | undefined {
    return choose(this.#alive(), this.#clash, parameters);
  }

  /** Removals of what was for readers with these parameters. */
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

  /** The entry of one of the records in a collection with these parameters. */
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

  /** A record has taken a new entry. Returns what the collections note whose readers have these parameters. */
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

  /** While it is contested each change concerns all of them: whoever was shown one may be shown none now, or another. */
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

/** First what went, then what takes its place: one update (S-DYN-5). */
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
