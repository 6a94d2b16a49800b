import {
  readConstraints,
  textOfConstraints,
  type Constraints,
  type StoredResource,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

/** What a snapshot has of one name, or of one variant of it. Replaced as a whole when upstream says something else. */
export interface SnapshotRecord {
  /** Whose: of a relay that asks as several nodes. Empty: of all. */
  readonly space: string;
  readonly typeUrl: string;
  /** As it was asked for. */
  readonly name: string;
  /** Equal for equal names (N-40). */
  readonly key: string;
  /** Which variant (TP2), as it was encoded. */
  readonly constraints: Uint8Array | undefined;
  readonly variant: Variant | undefined;
  readonly aliases: readonly string[];
  /** `withheld`: it exists and is not stored. `locked`: its key is not there. */
  readonly state: "stored" | "withheld" | "locked";
  /** As upstream gave it. */
  readonly version: string;
  /** As it is served. */
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
  /** What is still to be written. */
  resource: StoredResource | undefined;
  /** Upstream has said it, or something of it, since it was asked for. */
  said: boolean;
  /** It was given to the cache from here. */
  restored: boolean;
}

/** Constraints, read, and as a text that is equal for equal ones. */
export interface Variant {
  readonly constraints: Constraints;
  readonly text: string;
}

/** undefined: there are none, or none that can be read. */
export function readVariant(constraints: Uint8Array | undefined): Variant | undefined {
  if (constraints === undefined || constraints.length === 0) return undefined;
  const read = readConstraints(constraints);
  return read.fault === undefined
    ? { constraints: read.constraints, text: textOfConstraints(read.constraints) }
    : { constraints: { kind: "or", of: [] }, text: "" };
}

/** Which of the records of its type. That of a plain name is its key. */
export function recordId({ key, variant }: Pick<SnapshotRecord, "key" | "variant">): string {
  return variant === undefined ? key : `${key}\n${variant.text}`;
}

/** What is known of a name when something of it is stored. */
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
    said: false,
    restored: false,
    ...facts,
  };
}

const NONE: readonly never[] = [];

/** What sealed bytes belong to: they cannot be put under another name. */
export function sealedFor({ space, typeUrl, name }: SnapshotRecord): string {
  return JSON.stringify([space, typeUrl, name]);
}
