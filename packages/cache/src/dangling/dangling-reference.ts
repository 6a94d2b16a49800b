/** A resource refers to a name that is not there. */
export interface DanglingReference {
  /** The type URL of what is missing. */
  readonly typeUrl: string;
  /** The name that is missing. */
  readonly name: string;
  /** The first resource that refers to it. */
  readonly by: { readonly typeUrl: string; readonly name: string };
  /** How many other resources refer to it too. */
  readonly others: number;
  /** The node key whose content refers to it. Absent: the shared content, or a source without node keys. */
  readonly key?: string;
}

/** Reported once when a reference begins to dangle, and once when it no longer does: the name is there, or nothing refers to it. The listener must not throw. */
export type DanglingEvent =
  | ({ readonly kind: "dangling" } & DanglingReference)
  | {
      readonly kind: "resolved";
      readonly typeUrl: string;
      readonly name: string;
      readonly isServed: boolean;
      readonly key?: string;
    };

/** A watch of the references within a source. */
export interface DanglingWatch {
  /** Returns the references that dangle after the last transaction. After `close`: those that dangled at that time. */
  list(): readonly DanglingReference[];
  /** Ends the watch; nothing is reported from then on. */
  close(): void;
}
