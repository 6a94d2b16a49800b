/** What an operator should know of a snapshot; each `message` is one line that names the file, what happened and the way out. */
export type SnapshotEvent =
  /** Opened, with what could be read. */
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
  /** Resources in it cannot be read. They are pending. */
  | {
      readonly kind: "snapshot-lost";
      readonly file: string;
      readonly resources: number;
      readonly message: string;
    }
  /** Stored secrets cannot be read: there is no key, or another one. They are pending. */
  | { readonly kind: "snapshot-locked"; readonly resources: number; readonly message: string }
  /** Nothing can be written. The relay goes on, and tries again in `retryMs` milliseconds. */
  | { readonly kind: "snapshot-trouble"; readonly message: string; readonly retryMs: number }
  /** That is over. */
  | { readonly kind: "snapshot-well"; readonly dir: string }
  /** What nobody asks for has gone, since there was more than `maxBytes`; bytes of collections are counted too. */
  | { readonly kind: "snapshot-evicted"; readonly resources: number; readonly bytes: number };
