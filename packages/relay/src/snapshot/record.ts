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
  /** The tenant; empty: shared by all clients. */
  readonly space: string;
  readonly typeUrl: string;
  /** The name as it was subscribed. */
  readonly name: string;
  /** Equal for equal names (N-40). */
  readonly key: string;
  /** Which variant (TP2), as it was encoded. */
  readonly constraints: Uint8Array | undefined;
  readonly variant: Variant | undefined;
  readonly aliases: readonly string[];
  /** `withheld`: it exists and is not stored. `locked`: it is sealed with a key that is not available. */
  readonly state: "stored" | "withheld" | "locked";
  /** The version of upstream. */
  readonly version: string;
  /** The version as it is served. */
  readonly served: string;
  /** CRC-32 and length of the resource. */
  readonly checksum: number;
  readonly size: number;
  storedAt: number;
  expiresAt: number | undefined;
  /** Id of its row; 0: it does not have one yet. A new state of a name has the row of the one before. */
  row: number;
  /** Bytes that it takes on disk. */
  length: number;
  /** The resource while it is not written yet. */
  resource: StoredResource | undefined;
  /** Upstream has sent it, or removed it, since it was subscribed. */
  answered: boolean;
  /** The cache has it from the snapshot. */
  restored: boolean;
}

/** Constraints, decoded, and as a text that is equal for equal constraints. */
interface Variant {
  readonly constraints: Constraints;
  readonly text: string;
}

/** undefined: there are no constraints. */
export function readVariant(constraints: Uint8Array | undefined): Variant | undefined {
  if (constraints === undefined || constraints.length === 0) return undefined;
  const read = readConstraints(constraints);
  return read.fault === undefined
    ? { constraints: read.constraints, text: textOfConstraints(read.constraints) }
    : { constraints: { kind: "or", of: [] }, text: "" };
}

/** Whether both variants match some client. A resource without constraints matches every client. */
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

/** Fields of a record; the others get defaults. */
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

/** What sealed bytes belong to: they cannot be put under another name. */
export function sealedFor({ space, typeUrl, name }: SnapshotRecord): string {
  return JSON.stringify([space, typeUrl, name]);
}

/** `resource`: as upstream sent it. `sealed`: the same, encrypted. `withheld`: it exists and may not be stored. `collection`: all of it was known. */
export type RowKind = "resource" | "sealed" | "withheld" | "collection";

/** One row of the database. */
export interface Row {
  readonly id: number;
  readonly kind: RowKind;
  /** JSON of what is known without the body. */
  readonly facts: string;
  /** CRC-32 of kind and facts: SQLite notices a torn write, and not a bit that a disk has changed. */
  readonly sum: number;
  readonly body: Uint8Array | null;
}

/** One change of the database. `facts` changes only these. */
export type RowChange =
  | { readonly change: "put"; readonly row: Row }
  | { readonly change: "facts"; readonly row: Omit<Row, "body"> }
  | { readonly change: "delete"; readonly id: number };

/** The checksum that belongs to a row. */
export function sumOf({ kind, facts }: Pick<Row, "kind" | "facts">): number {
  return crc32(`${kind} ${facts}`);
}
