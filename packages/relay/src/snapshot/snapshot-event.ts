/** What an operator should know of a snapshot; each `message` is one line that names the file, what happened and the way out. */
export type SnapshotEvent =
  /** Opened, with what could be read. */
  | {
      readonly kind: "snapshot-opened";
      readonly dir: string;
      readonly resources: number;
      readonly ms: number;
    }
  /** The end of the file was not wholly written, as when the process was killed: it is as it was before. */
  | {
      readonly kind: "snapshot-torn";
      readonly file: string;
      readonly bytes: number;
      readonly message: string;
    }
  /** Bytes of it are not what was written. What can be read is kept; the file as it was is `aside`. */
  | {
      readonly kind: "snapshot-corrupt";
      readonly file: string;
      readonly aside: string;
      readonly offset: number;
      readonly bytes: number;
      readonly message: string;
    }
  /** Stored secrets cannot be read: there is no key, or another one. They are pending. */
  | { readonly kind: "snapshot-locked"; readonly resources: number; readonly message: string }
  /** Nothing can be written, or there is no room to make the file smaller. The relay goes on, and it is tried again in `retryMs`. */
  | { readonly kind: "snapshot-trouble"; readonly message: string; readonly retryMs: number }
  /** That is over. */
  | { readonly kind: "snapshot-well"; readonly dir: string }
  /** What nobody asks for has gone, since there was more than `maxBytes`; bytes of collections are counted too. */
  | { readonly kind: "snapshot-evicted"; readonly resources: number; readonly bytes: number };
