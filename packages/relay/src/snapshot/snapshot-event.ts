/** What an operator should know of a snapshot; each `message` is one line that names the file, what happened and the way out. */
export type SnapshotEvent =
  /** The snapshot is open. */
  | {
      readonly kind: "snapshot-opened";
      readonly dir: string;
      readonly resources: number;
      readonly ms: number;
    }
  /** A file that is damaged, is not a snapshot, or has an older format was renamed to `aside`; undefined: it could not be renamed. What can be read of a damaged one is used. */
  | {
      readonly kind: "snapshot-set-aside";
      readonly file: string;
      readonly aside: string | undefined;
      readonly message: string;
    }
  /** Resources in the file cannot be read. They are pending until upstream sends them. */
  | {
      readonly kind: "snapshot-lost";
      readonly file: string;
      readonly resources: number;
      readonly message: string;
    }
  /** Stored secrets cannot be read: the key is missing, or is another one. They are pending until upstream sends them. */
  | { readonly kind: "snapshot-locked"; readonly resources: number; readonly message: string }
  /** Nothing can be written. The relay goes on, and tries again in `retryMs` milliseconds. */
  | { readonly kind: "snapshot-trouble"; readonly message: string; readonly retryMs: number }
  /** The snapshot can be written again, and nothing is lost. */
  | { readonly kind: "snapshot-well"; readonly dir: string }
  /** Resources without subscribers were deleted, since there was more than `maxBytes`. `bytes` counts collections too. */
  | { readonly kind: "snapshot-evicted"; readonly resources: number; readonly bytes: number };
