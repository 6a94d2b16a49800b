import { crc32 } from "node:zlib";

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
