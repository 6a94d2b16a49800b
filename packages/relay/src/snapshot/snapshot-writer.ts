import { dirname } from "node:path";

import {
  type Backoff,
  type Clock,
  createBackoff,
  type StoredResource,
  type Timer,
  XdsError,
} from "@xdstp/core";

import { compact } from "./compact.ts";
import type { Change, Journal } from "./journal.ts";
import type { SnapshotRecord } from "./record.ts";
import type { StoredCollection } from "./shelf.ts";
import type { SnapshotEvent } from "./snapshot-event.ts";
import type { SnapshotIndex } from "./snapshot-index.ts";

/** One change that waits: the newest of its name. */
export type Op = { readonly id: string } & (
  | {
      readonly kind: "put" | "withhold" | "remove" | "refresh";
      readonly record: SnapshotRecord;
      readonly collection?: undefined;
    }
  | {
      readonly kind: "collect" | "tear";
      readonly collection: StoredCollection;
      readonly record?: undefined;
    }
);

/** What a writer needs of its store. */
export interface WriterHost {
  readonly journal: Journal;
  readonly index: SnapshotIndex;
  readonly clock: Clock;
  readonly encode: (op: Op) => Change;
  readonly tell: (event: SnapshotEvent) => void;
  /** Called before each writing. Throws where it is not ours to write any more. */
  readonly claim: () => void;
  /** Called before each writing. */
  readonly evict: () => void;
  /** These cannot be read any more. */
  readonly lose: (lost: readonly SnapshotRecord[]) => void;
}

/** What is said in this time is written together; with the writing itself it is less than the second that may be lost. */
const GATHER_MS = 200;

/** Bytes of a file that may be of no use any more before it is compacted, next to as many as are of use. */
const SLACK = 4 << 20;

/** Writes what has changed, off the path of what is served. What cannot be written waits, one change for each name. */
export class SnapshotWriter {
  writtenAt: number | undefined;
  trouble: string | undefined;
  #told: string | undefined;
  readonly #host: WriterHost;
  readonly #backoff: Backoff = createBackoff({ initialMs: 1_000, maxMs: 60_000 }, Math.random);
  #waiting = new Map<string, Op>();
  #timer: Timer | undefined;
  #due = Infinity;
  /** Nothing can be written: what is said waits for the next try. */
  #stuck = false;
  /** Before this it is not compacted again. */
  #compactAt = -Infinity;
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(host: WriterHost) {
    this.#host = host;
    if (host.journal.damaged) this.#schedule(0);
  }

  get path(): string {
    return this.#host.journal.path;
  }

  /** The file that records have their places in. */
  readonly reader: () => number = () => this.#host.journal.reader;

  get fileBytes(): number {
    return this.#host.journal.end;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  add(op: Op): void {
    // Deleted first, so that it stands at the end.
    this.#waiting.delete(op.id);
    this.#waiting.set(op.id, op);
    if (!this.#stuck) this.#schedule(GATHER_MS);
  }

  /** Writes now; of a writing that fails nothing is heard here. */
  async flush(): Promise<void> {
    this.#cancel();
    this.#work = this.#work.then(() => this.#write());
    await this.#work;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#closed = true;
    this.#cancel();
    await this.#host.journal.close();
    this.#host.journal.turn();
  }

  /** The earliest counts. */
  #schedule(ms: number): void {
    const { clock } = this.#host;
    const due = clock.now() + ms;
    if (this.#closed || due >= this.#due) return;
    this.#cancel();
    this.#due = due;
    this.#timer = clock.after(ms, () => {
      void this.flush();
    });
  }

  #cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#due = Infinity;
  }

  async #write(): Promise<void> {
    const {
      claim,
      evict,
      journal: { path },
    } = this.#host;
    try {
      claim();
      evict();
      await this.#append();
    } catch (error) {
      this.#stuck = true;
      this.#cancel();
      this.#schedule(
        this.#fail(
          error,
          (why) =>
            `${path} cannot be written: ${why}; what upstream says since is served and would be lost by a restart; make room for it, or let this process write there`,
        ),
      );
      return;
    }
    if (this.#stuck) this.#well();
    this.#stuck = false;
    // What came while nothing could be written has no time of its own.
    if (this.#waiting.size > 0) this.#schedule(GATHER_MS);
    await this.#compact();
  }

  /** It needs room for a second file: where there is none, changes are written to the first one as ever. */
  async #compact(): Promise<void> {
    const { journal, index, clock, lose } = this.#host;
    const now = clock.now();
    if (!journal.damaged && journal.end <= 2 * index.bytes + SLACK) {
      this.#well();
      return;
    }
    if (now >= this.#compactAt) {
      try {
        await compact({
          journal,
          index,
          now: () => clock.wallTime(),
          append: () => this.#append(),
          lose,
        });
        this.#well();
        return;
      } catch (error) {
        this.#compactAt =
          now +
          this.#fail(
            error,
            (why) =>
              `${journal.path} cannot be made smaller: ${why}; changes are written to it all the same, and it grows; make room for a second file`,
          );
      }
    }
    this.#schedule(this.#compactAt - now);
  }

  async #append(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const { journal, index, clock, encode } = this.#host;
    const ops = this.#waiting;
    this.#waiting = new Map();
    const carried: (StoredResource | undefined)[] = [];
    const changes = function* (): Generator<Change> {
      for (const op of ops.values()) {
        carried.push(op.record?.resource);
        yield encode(op);
      }
    };
    try {
      const places = await journal.append(changes(), clock.wallTime());
      [...ops.values()].forEach(({ kind, record, collection }, nth) => {
        const place = places[nth];
        if (place === undefined) return;
        if (kind === "collect") index.placeCollection(collection, place.length);
        if (kind !== "put" && kind !== "withhold") return;
        index.place(record, place.at, place.length);
        if (record.resource === carried[nth]) record.resource = undefined;
      });
      this.writtenAt = clock.wallTime();
    } catch (error) {
      // What has come since is newer.
      this.#waiting = new Map([...ops, ...this.#waiting]);
      throw error;
    }
  }

  /** Milliseconds until it is tried again. */
  #fail(error: unknown, say: (why: string) => string): number {
    const retryMs = this.#backoff.next();
    this.trouble =
      error instanceof XdsError
        ? error.text
        : error instanceof Error
          ? error.message
          : String(error);
    const message = say(this.trouble);
    if (this.#told !== message) this.#host.tell({ kind: "snapshot-trouble", retryMs, message });
    this.#told = message;
    return retryMs;
  }

  #well(): void {
    if (this.trouble === undefined) return;
    this.trouble = undefined;
    this.#told = undefined;
    this.#backoff.reset();
    this.#host.tell({ kind: "snapshot-well", dir: dirname(this.path) });
  }
}
