import type { Clock } from "@xdstp/core";

import type { SnapshotEvent } from "./snapshot-event.ts";

/** Options of {@link openSnapshot}. Only `dir` has to be given. */
export interface SnapshotOptions {
  /** A directory of its own, of mode 0700; made where there is none. One process at a time has it. */
  readonly dir: string;
  /** Bytes on disk beyond which what nobody asks for goes, the oldest first, from 10 minutes after the start on. What is asked for is always kept; the file may be twice as large until it is compacted. Default: 536,870,912 (512 MiB). */
  readonly maxBytes?: number;
  /** 32 bytes. With it resources of `secretTypes` are stored too, encrypted (AES-256-GCM); without it they are not, and are pending after a restart. Default: none. */
  readonly secretKey?: Uint8Array;
  /** Type URLs of what is stored encrypted or not at all, lists of them too. Default: Envoy's `Secret`. */
  readonly secretTypes?: readonly string[];
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Told what an operator should know. It must not throw. */
  readonly onEvent?: (event: SnapshotEvent) => void;
}

/** What upstreams have said, on disk: what a relay serves after a restart before they answer (B-RELAY-9). For the option `snapshot` of `createRelay`, one relay each. */
export interface Snapshot extends AsyncDisposable {
  /** At the cost of a look at each resource. */
  status(): SnapshotStatus;
  /** Resolves when all that was said so far is on disk, or could not be written; the event says why. */
  flush(): Promise<void>;
  /** Writes what waits and lets go of the directory. Called by `Relay.close`. */
  close(): Promise<void>;
}

/** What is in a snapshot. Times are milliseconds since the epoch. */
export interface SnapshotStatus {
  /** Where it is. */
  readonly dir: string;
  /** Resources that are stored. */
  readonly resources: number;
  /** Names that are known and not stored: secrets without their key, and `do_not_cache` (B-RELAY-11). */
  readonly withheld: number;
  /** Length of the file. */
  readonly fileBytes: number;
  /** Changes that are not on disk yet. */
  readonly waiting: number;
  /** When something was written last. Absent: never. */
  readonly writtenAt?: number;
  /** Why nothing can be written now, or the file not made smaller; it is tried again. Absent: it can. */
  readonly trouble?: string;
}
