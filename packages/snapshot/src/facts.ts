import { XdsError, type StatusName } from "@xdstp/core";

import { type RecordFacts, type Row, type RowKind, type SnapshotRecord, sumOf } from "./record.ts";
import type { StoredCollection } from "./type-index.ts";

/** The JSON in the column `facts`: all fields except the body. */
interface Facts {
  readonly type: string;
  readonly name: string;
  /** The tenant. Absent: shared by all clients. */
  readonly space?: string | undefined;
  /** In base64. */
  readonly constraints?: string | undefined;
  readonly version?: string | undefined;
  /** The version that is served, if it differs from `version`. */
  readonly served?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  /** Milliseconds since the epoch. */
  readonly storedAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  /** CRC-32 and length of the resource. */
  readonly checksum?: number | undefined;
  readonly size?: number | undefined;
  /** The id of the key that it is encrypted with. */
  readonly key?: string | undefined;
  /** The dynamic parameters of a collection. */
  readonly parameters?: readonly (readonly [string, string])[] | undefined;
  /** The reason why a collection is empty. `said`: the text of upstream. */
  readonly error?:
    | { readonly code: StatusName; readonly text: string; readonly said?: string | undefined }
    | undefined;
}

/** A row without its body. */
export type BareRow = Omit<Row, "body">;

/**
 * Returns the row of a record. @param keyId - The key that the body is encrypted with; then the row
 * has nothing that is derived from the secret
 */
export function rowOfRecord(record: SnapshotRecord, keyId: string | undefined): BareRow {
  const { space, typeUrl, name, constraints, version, served, aliases, storedAt, expiresAt } =
    record;
  const isSealed = keyId !== undefined;
  const kind = record.state === "withheld" ? "withheld" : isSealed ? "sealed" : "resource";
  return rowOf(record.row, kind, {
    type: typeUrl,
    name,
    space: space === "" ? undefined : space,
    constraints: constraints && Buffer.from(constraints).toString("base64"),
    version: version === "" ? undefined : version,
    served: isSealed || served === version ? undefined : served,
    aliases: aliases.length === 0 ? undefined : aliases,
    storedAt,
    expiresAt,
    checksum: kind === "resource" ? record.checksum : undefined,
    size: kind === "resource" ? record.size : undefined,
    key: kind === "sealed" ? keyId : undefined,
  });
}

/** Returns the row of a collection that is known completely. */
export function rowOfCollection(collection: StoredCollection): BareRow {
  const { row, space, typeUrl, interest, at, error } = collection;
  return rowOf(row, "collection", {
    type: typeUrl,
    name: interest.name,
    space: space === "" ? undefined : space,
    storedAt: at,
    parameters: interest.parameters && [...interest.parameters],
    error: error && { code: error.code, text: error.text, said: error.context.said },
  });
}

/** Returns the row with another expiry time. */
export function withExpiry(row: Row, expiresAt: number | undefined): Row {
  const facts = JSON.parse(row.facts) as Facts;
  return { ...rowOf(row.id, row.kind, { ...facts, expiresAt }), body: row.body };
}

function rowOf(id: number, kind: RowKind, given: Facts): BareRow {
  const facts = JSON.stringify(given);
  return { id, kind, facts, sum: sumOf({ kind, facts }) };
}

/** The content of a row, for the index. */
export type ReadRow =
  | { readonly kind: "collection"; readonly collection: Omit<StoredCollection, "length"> }
  | {
      readonly kind: Exclude<RowKind, "collection">;
      readonly record: RecordFacts;
      readonly keyId: string | undefined;
    };

/** Decodes a row. Returns `undefined` if the checksum does not match. */
export function readRow(row: BareRow): ReadRow | undefined {
  const { id, kind } = row;
  if (typeof row.facts !== "string" || sumOf(row) !== row.sum) return undefined;
  const facts = JSON.parse(row.facts) as Facts;
  const { type: typeUrl, name, space = "", version = "", storedAt = 0 } = facts;
  if (kind === "collection") {
    const { parameters, error } = facts;
    const interest = { name, ...(parameters && { parameters: new Map(parameters) }) };
    const known = { space, typeUrl, interest, at: storedAt, row: id };
    if (error === undefined) return { kind, collection: known };
    const { code, text, said } = error;
    const context = { typeUrl, resource: name, ...(said !== undefined && { said }) };
    return { kind, collection: { ...known, error: new XdsError(code, text, context) } };
  }
  const { constraints, served = version, aliases = [], expiresAt, checksum = 0, size = 0 } = facts;
  return {
    kind,
    keyId: facts.key,
    record: {
      space,
      typeUrl,
      name,
      constraints: constraints === undefined ? undefined : Buffer.from(constraints, "base64"),
      aliases,
      version,
      served,
      storedAt,
      expiresAt,
      checksum,
      size,
      row: id,
    },
  };
}
