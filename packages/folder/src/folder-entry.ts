import type { Put } from "@xdstp/core";
import type { FolderVariant } from "./variant-of.ts";

/** A resource and its file. */
export interface FolderEntry {
  /** As problems name it. */
  readonly file: string;
  /** Key of the nodes that it is for. Absent: for all. */
  readonly node?: string;
  readonly typeUrl: string;
  readonly name: string;
  /** Which variant of the name it is (TP2). Absent: it has no constraints. */
  readonly variant?: FolderVariant;
  readonly aliases: readonly string[];
  /** What to put. It is let go as soon as the cache has it. */
  put?: Put | undefined;
}
