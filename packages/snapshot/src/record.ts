import { crc32 } from "node:zlib";
import {
  type Constraints,
  overlapOf,
  readConstraints,
  type StoredResource,
  textOfConstraints,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

/** The state of one name, or of one variant of it. It is replaced as a whole when upstream sends another state. */
export interface SnapshotRecord {
  /** The tenant. Empty: shared by all clients. */
  readonly space: string;
  readonly typeUrl: string;
  /** The name as it was subscribed. */
  readonly name: string;
  /** Equal for equal names (N-40). */
  readonly key: string;
  /** The encoded constraints of a variant (TP2). */
  readonly constraints: Uint8Array | undefined;
  readonly variant: Variant | undefined;
  readonly aliases: readonly string[];
  /** `withheld`: it exists and is not stored. `locked`: it is sealed with a key that is not available. */
  readonly state: "stored" | "withheld" | "locked";
  /** The version that upstream gave. */
  readonly version: string;
  /** The version that is served. */
  readonly served: string;
  /** CRC-32 and length of the resource. */
  readonly checksum: number;
  readonly size: number;
  storedAt: number;
  expiresAt: number | undefined;
  /**
   * The id of its row. 0: it has none yet. A new state of a name keeps the row of the previous one.
   */
  row: number;
  /** Bytes on disk. */
  length: number;
  /** The resource, until it is written. */
  resource: StoredResource | undefined;
  /** True if upstream has sent or removed it since it was subscribed. */
  answered: boolean;
  /** True if the cache has it from the snapshot. */
  restored: boolean;
}

/** Decoded constraints, and a text that is equal for equal constraints. */
interface Variant {
  readonly constraints: Constraints;
  readonly text: string;
}

/** Returns `undefined` if there are no constraints. */
export function readVariant(constraints: Uint8Array | undefined): Variant | undefined {
  if (constraints === undefined || constraints.length === 0) return undefined;
  const read = readConstraints(constraints);
  return read.fault === undefined
    ? { constraints: read.constraints, text: textOfConstraints(read.constraints) }
    : { constraints: { kind: "or", of: [] }, text: "" };
}

/**
 * Returns true if some client matches both variants. A resource without constraints matches every
 * client.
 */
export function overlap(one: Variant | undefined, other: Variant | undefined): boolean {
  return (
    one === undefined ||
    other === undefined ||
    overlapOf(one.constraints, other.constraints) !== "none"
  );
}

/** Identifies a record within its type: the key of the name, with the constraints of a variant. */
export function recordId({ key, variant }: Pick<SnapshotRecord, "key" | "variant">): string {
  return variant === undefined ? key : `${key}\n${variant.text}`;
}

/** The fields of a record. Those that are not given have defaults. */
export type RecordFacts = Pick<SnapshotRecord, "space" | "typeUrl" | "name"> &
  Partial<SnapshotRecord>;

export function createRecord(facts: RecordFacts): SnapshotRecord {
  return {
    key: nameKey(facts.name),
    constraints: undefined,
    variant: readVariant(facts.constraints),
    aliases: NONE,
    state: "stored",
    version: "",
    served: "",
    checksum: 0,
    size: 0,
    storedAt: 0,
    expiresAt: undefined,
    row: 0,
    length: 0,
    resource: undefined,
    answered: false,
    restored: false,
    ...facts,
  };
}

const NONE: readonly never[] = [];

/**
 * Returns the text that encrypted bytes are bound to, so that they cannot be moved to another name.
 */
export function sealedFor({ space, typeUrl, name }: SnapshotRecord): string {
  return JSON.stringify([space, typeUrl, name]);
}

/**
 * `resource`: as upstream sent it. `sealed`: the same, encrypted. `withheld`: it exists and must
 * not be stored. `collection`: a collection that was known completely.
 */
export type RowKind = "resource" | "sealed" | "withheld" | "collection";

/** One row of the database. */
export interface Row {
  readonly id: number;
  readonly kind: RowKind;
  /** JSON of all fields except the body. */
  readonly facts: string;
  /**
   * CRC-32 of kind and facts: SQLite detects a torn write, but not a bit that the disk has changed.
   */
  readonly sum: number;
  readonly body: Uint8Array | null;
}

/** One change of the database. `facts` changes only the facts of a row. */
export type RowChange =
  | { readonly change: "put"; readonly row: Row }
  | { readonly change: "facts"; readonly row: Omit<Row, "body"> }
  | { readonly change: "delete"; readonly id: number };

/** Returns the checksum of a row. */
export function sumOf({ kind, facts }: Pick<Row, "kind" | "facts">): number {
  return crc32(`${kind} ${facts}`);
}
