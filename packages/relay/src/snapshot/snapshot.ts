import type { Clock } from "@xdstp/core";

/** Options of {@link openSnapshot}. Only `dir` has to be given. */
export interface SnapshotOptions {
  /** A directory for this snapshot alone, of mode 0700; created if it does not exist. One process at a time can use it. */
  readonly dir: string;
  /** Bytes of all rows above which resources without subscribers are deleted, the oldest first, from 10 minutes after the start on. Subscribed resources are always kept. The file does not shrink; its free pages are used again. Default: 536,870,912 (512 MiB). */
  readonly maxBytes?: number;
  /** 32 bytes. With it resources of `secretTypes` are stored encrypted (AES-256-GCM); without it they are not stored, and are pending after a restart. Default: none. */
  readonly secretKey?: Uint8Array;
  /** Type URLs whose resources are stored encrypted or not at all, lists of them too. Default: Envoy's `Secret`. */
  readonly secretTypes?: readonly string[];
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Called with what an operator should know. It must not throw. */
  readonly onEvent?: (event: SnapshotEvent) => void;
}

/** What upstream servers have sent, on disk: a relay serves it after a restart until they answer (B-RELAY-9). Pass it as the option `snapshot` of one `createRelay`. */
export interface Snapshot extends AsyncDisposable {
  /** Counts all records, so it takes milliseconds for 100,000 of them. */
  status(): {
    /** The directory. */
    readonly dir: string;
    /** Resources that are stored. */
    readonly resources: number;
    /** Names that exist and are not stored: secrets without their key, and `do_not_cache` (B-RELAY-11). */
    readonly withheld: number;
    /** Bytes of the database with its write-ahead log. */
    readonly fileBytes: number;
    /** Changes that are not on disk yet. */
    readonly waiting: number;
    /** When something was written last, in milliseconds since the epoch. Absent: never. */
    readonly writtenAt?: number;
    /** Why nothing can be written now; the relay tries again. Absent: it can. */
    readonly trouble?: string;
  };
  /** Resolves when all changes so far are on disk, or could not be written; an event has the reason. */
  flush(): Promise<void>;
  /** Writes the changes that wait and releases the directory. Called by `Relay.close`. */
  close(): Promise<void>;
}

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
