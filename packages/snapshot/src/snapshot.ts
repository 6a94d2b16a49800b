import type { Clock, ResourceSnapshot } from "@xdstp/core";

/** Options of {@link openSnapshot}. Only `dir` is required. */
export interface SnapshotOptions {
  /**
   * A directory for this snapshot alone, with mode 0700. Created if it does not exist. Only one
   * process at a time can use it.
   */
  readonly dir: string;
  /**
   * The maximum number of bytes of all rows. Beyond it, resources without subscribers are deleted,
   * the oldest first, but not in the first 10 minutes after the start. Subscribed resources are
   * always kept. The file does not shrink; its free pages are used again. Default: 536,870,912 (512
   * MiB).
   */
  readonly maxBytes?: number;
  /**
   * A key of 32 bytes. With it, resources of `secretTypes` are stored encrypted (AES-256-GCM).
   * Without it, they are not stored, and are pending after a restart. Default: none.
   */
  readonly secretKey?: Uint8Array;
  /**
   * Type URLs whose resources, and lists of these, are stored encrypted or not at all. Default:
   * Envoy's `Secret`.
   */
  readonly secretTypes?: readonly string[];
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Receives events for operators. It must not throw. */
  readonly onEvent?: (event: SnapshotEvent) => void;
}

/**
 * The resources of servers on disk. A client delivers them, and a relay serves them, after a
 * restart until the servers answer (B-RELAY-9). Pass it as the option `snapshot` of one
 * `createClient` or `createRelay`, which closes it.
 */
export interface Snapshot extends ResourceSnapshot, AsyncDisposable {
  /** Counts all records, so it takes milliseconds for 100,000 of them. */
  status(): {
    /** The directory. */
    readonly dir: string;
    /** The number of stored resources. */
    readonly resources: number;
    /**
     * The number of names that exist and are not stored: secrets without their key, and resources
     * with `do_not_cache` (B-RELAY-11).
     */
    readonly withheld: number;
    /** Bytes of the database with its write-ahead log. */
    readonly fileBytes: number;
    /** The number of changes that are not on disk yet. */
    readonly waiting: number;
    /** The time of the last write, in milliseconds since the epoch. Absent: there was none. */
    readonly writtenAt?: number;
    /**
     * The reason why nothing can be written now; it is tried again. Absent: there is no problem.
     */
    readonly trouble?: string;
  };
  /** Resolves when all changes so far are on disk, or could not be written; an event has the reason. */
  flush(): Promise<void>;
  /** Returns the interests that are served from the snapshot now. */
  served(): readonly Served[];
}

/** An interest that is served from a snapshot. */
export interface Served {
  /** `null`: the name is opaque. */
  readonly authority: string | null;
  /**
   * When upstream sent it, in milliseconds since the epoch. `undefined`: it is no longer served
   * from the snapshot.
   */
  readonly restoredAt: number | undefined;
}

/**
 * An event for operators of a snapshot. Each `message` is one line with the file, what happened,
 * and how to fix it.
 */
export type SnapshotEvent =
  /** The snapshot is open. */
  | {
      readonly kind: "snapshot-opened";
      readonly dir: string;
      readonly resources: number;
      readonly ms: number;
    }
  /**
   * A file was renamed to `aside`, since it is damaged, is not a snapshot, or has an older format.
   * `undefined`: it could not be renamed. The readable rows of a damaged file are used.
   */
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
  /**
   * Stored secrets cannot be read: the key is missing, or differs. They are pending until upstream
   * sends them.
   */
  | { readonly kind: "snapshot-locked"; readonly resources: number; readonly message: string }
  /**
   * The snapshot cannot be written. All else continues, and it is written again after `retryMs`
   * milliseconds.
   */
  | { readonly kind: "snapshot-trouble"; readonly message: string; readonly retryMs: number }
  /** The snapshot can be written again, and nothing is lost. */
  | { readonly kind: "snapshot-well"; readonly dir: string }
  /**
   * Resources without subscribers were deleted, since the rows had more than `maxBytes`. `bytes`
   * includes collections.
   */
  | { readonly kind: "snapshot-evicted"; readonly resources: number; readonly bytes: number };
