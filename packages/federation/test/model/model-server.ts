import {
  type Interest,
  type Put,
  type Removal,
  type ResourceSink,
  type Timer,
  XdsError,
} from "@xdstp/core";
import type { ClientStatus } from "@xdstp/protocol/client";

import type { OpenServer } from "../../src/index.ts";
import type { Change } from "./deeds.ts";
import { payloadOf } from "./names.ts";
import type { Stored, Supply, SupplyHost } from "./supply.ts";

interface Row {
  readonly typeUrl: string;
  readonly interest: Interest;
  awaited: boolean;
  late: boolean;
  deadline: Timer | undefined;
}

/** Creates a server without a wire. Its random numbers determine how it answers. */
export function createModelServer(index: number, host: SupplyHost): Supply {
  const whole = host.random.once(3);
  return new ModelServer(`s${index}`, { ...host, whole, lateIsTransient: host.random.once(2) });
}

interface ModelServerOptions extends SupplyHost {
  /**
   * True if every response has all subscribed resources. If false, a response has only those that
   * are new, by the versions that the client has.
   */
  readonly whole: boolean;
  /**
   * True if a resource that does not arrive in time is unavailable. If false, it is missing, with
   * `timedOut`.
   */
  readonly lateIsTransient: boolean;
}

/**
 * A server and its client in one: a subscription is answered after some milliseconds from the store
 * at that time.
 */
class ModelServer implements Supply {
  readonly isSilentOfMissing = false;
  readonly id: string;
  readonly name: string;
  readonly store = new Map<string, Stored>();
  readonly #rows = new Map<string, Row>();
  #state: "up" | "down" | "silent" = "up";
  readonly #options: ModelServerOptions;
  readonly #versions = new Map<string, number>();
  /** The versions that the client has received on this stream. "": the name does not exist. */
  #told = new Map<string, string>();
  /** Globs that are known to be empty. */
  readonly #empty = new Set<string>();
  #sink: ResourceSink | undefined;
  #streaming = false;
  #responded = false;
  #failed = false;
  #timers = new Set<Timer>();
  #due: Timer | undefined;

  constructor(id: string, options: ModelServerOptions) {
    this.id = this.name = id;
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#sink !== undefined;
  }
  get wanted(): readonly string[] {
    return [...this.#rows.values()]
      .map(({ typeUrl, interest: { name } }) => `${typeUrl} ${name}`)
      .sort();
  }

  open(): OpenServer {
    const hasResponded = (): boolean => this.#responded;
    return {
      feed: {
        get responded() {
          return hasResponded();
        },
        run: async (sink, signal) => {
          this.#sink = sink;
          this.#connect();
          await new Promise<void>((resolve) => {
            signal.addEventListener("abort", () => {
              resolve();
            });
          });
          this.#close();
        },
        want: (typeUrl, added, dropped) => {
          this.#want(typeUrl, added, dropped);
        },
        status: () =>
          ({ responded: this.#responded, types: [] as ClientStatus["types"] }) as ClientStatus,
      },
      close() {
        /* nothing to let go of */
      },
    };
  }

  put(changes: readonly Change[]): void {
    for (const { typeUrl, name, content } of changes) {
      const key = `${typeUrl} ${name}`;
      const version = (this.#versions.get(key) ?? 0) + 1;
      this.#versions.set(key, version);
      if (content === undefined) this.store.delete(key);
      else this.store.set(key, { typeUrl, name, content, version: String(version) });
    }
    this.#schedule();
  }

  turn(state: "up" | "down" | "silent"): void {
    if (state === this.#state) return;
    const was = this.#state;
    this.#state = state;
    if (state === "down") this.#lose();
    else if (was === "down") this.#connect();
    else this.#schedule();
  }

  /** Ends the stream and begins the next one. */
  cut(): void {
    if (this.#state === "down") return;
    this.#hush();
    this.#connect();
  }

  end(): void {
    this.#hush();
  }

  #want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    for (const { name } of dropped) this.#drop(`${typeUrl} ${name}`);
    for (const interest of added) {
      const row: Row = { typeUrl, interest, awaited: false, late: false, deadline: undefined };
      this.#rows.set(`${typeUrl} ${interest.name}`, row);
      for (const key of [...this.#told.keys()]) if (covers(row, key)) this.#told.set(key, AGAIN);
      this.#empty.delete(`${typeUrl} ${interest.name}`);
      if (this.#streaming) this.#await(row);
    }
    this.#schedule();
  }

  #drop(id: string): void {
    const row = this.#rows.get(id);
    this.#rows.delete(id);
    row?.deadline?.cancel();
    if (row?.late === true)
      this.#sink?.unavailable({ typeUrl: row.typeUrl, interest: row.interest }, undefined);
    for (const key of [...this.#told.keys()])
      if (![...this.#rows.values()].some((other) => covers(other, key))) this.#told.delete(key);
  }

  #connect(): void {
    if (this.#sink === undefined) return;
    this.#later(this.#options.random.below(30), () => {
      if (this.#state === "down") {
        this.#fail();
        return;
      }
      this.#streaming = true;
      this.#empty.clear();
      this.#told = new Map(this.#options.whole ? [] : this.#held());
      for (const row of this.#rows.values()) this.#await(row);
      this.#schedule();
    });
  }

  #held(): readonly (readonly [string, string])[] {
    const types = new Set([...this.#rows.values()].map(({ typeUrl }) => typeUrl));
    return [...types]
      .flatMap((typeUrl) =>
        Array.from(
          this.#sink?.held(typeUrl) ?? [],
          ({ name, version }) => [`${typeUrl} ${name}`, version] as const,
        ),
      )
      .filter(([key]) => [...this.#rows.values()].some((row) => covers(row, key)));
  }

  #lose(): void {
    this.#hush();
    this.#later(this.#options.random.below(1_500), () => {
      if (this.#state === "down") this.#fail();
    });
  }

  #fail(): void {
    this.#failed = true;
    this.#sink?.unavailable({}, new XdsError("UNAVAILABLE", `${this.name} is down`));
  }

  #hush(): void {
    this.#streaming = this.#responded = false;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#due?.cancel();
    this.#due = undefined;
    for (const row of this.#rows.values()) row.deadline?.cancel();
  }

  #close(): void {
    this.#hush();
    this.#sink = undefined;
    this.#failed = false;
    this.#rows.clear();
  }

  #await(row: Row): void {
    row.awaited = true;
    row.deadline?.cancel();
    row.deadline = this.#options.clock.after(15_000, () => {
      this.#giveUp(row);
    });
  }

  #giveUp(row: Row): void {
    const { typeUrl, interest } = row;
    const sink = this.#sink;
    if (!row.awaited || sink === undefined) return;
    row.awaited = false;
    const isHeld = !sink.held(typeUrl, interest)[Symbol.iterator]().next().done;
    const late = (code: "NOT_FOUND" | "UNAVAILABLE"): XdsError =>
      new XdsError(code, `${this.name} has not sent ${interest.name} in time`, { reason: "late" });
    if (isCollection(interest.name)) {
      void sink.commit({ settled: [{ typeUrl, interest }] });
    } else if (!isHeld && this.#options.lateIsTransient) {
      row.late = true;
      sink.unavailable({ typeUrl, interest }, late("UNAVAILABLE"));
    } else if (!isHeld) {
      this.#options.onTold(typeUrl, interest.name, undefined);
      void sink.commit({ remove: [{ typeUrl, name: interest.name, error: late("NOT_FOUND") }] });
    }
    if (!this.#options.whole) this.#isThere();
  }

  #isThere(): void {
    if (!this.#failed) return;
    this.#failed = false;
    this.#sink?.unavailable({}, undefined);
    for (const { late, typeUrl, interest } of this.#rows.values())
      if (late)
        this.#sink?.unavailable(
          { typeUrl, interest },
          new XdsError("UNAVAILABLE", `${interest.name} is late`),
        );
  }

  #schedule(): void {
    if (this.#due !== undefined || !this.#streaming) return;
    this.#due = this.#options.clock.after(
      this.#options.random.below(this.#options.random.once(4) ? 300 : 20),
      () => {
        this.#due = undefined;
        if (this.#state === "up" && this.#streaming)
          for (const typeUrl of new Set([...this.#rows.values()].map((row) => row.typeUrl)))
            this.#respond(typeUrl);
      },
    );
  }

  #respond(typeUrl: string): void {
    const rows = [...this.#rows.values()].filter((row) => row.typeUrl === typeUrl);
    const covered = [...this.store].filter(([key]) => rows.some((row) => covers(row, key)));
    const fresh = covered.filter(
      ([key, { version }]) => this.#options.whole || this.#told.get(key) !== version,
    );
    const gone = [...this.#told]
      .filter(
        ([key, version]) => key.startsWith(`${typeUrl} `) && version !== "" && !this.store.has(key),
      )
      .map(([key]) => key);
    const absent = rows
      .filter(
        ({ interest: { name } }) =>
          !isCollection(name) &&
          !this.store.has(`${typeUrl} ${name}`) &&
          this.#told.get(`${typeUrl} ${name}`) !== "",
      )
      .map(({ interest: { name } }) => `${typeUrl} ${name}`);
    const removed = [...new Set([...gone, ...absent])];
    const complete = rows.filter(
      (row) =>
        isCollection(row.interest.name) &&
        (this.#options.whole ||
          this.#isNewlyEmpty(
            row,
            covered.some(([key]) => covers(row, key)),
          )),
    );
    if (fresh.length + removed.length + complete.length === 0) return;
    this.#tell(
      typeUrl,
      rows,
      {
        put: fresh.map(([, { name, content, version }]) => ({
          typeUrl,
          resource: { name, version, payload: payloadOf(typeUrl, content) },
        })),
        remove: removed.map((key) => ({ typeUrl, name: key.slice(typeUrl.length + 1) })),
      },
      complete,
    );
  }

  /** Returns true if a glob became empty. This is sent each time (S-GLOB-3). */
  #isNewlyEmpty({ typeUrl, interest: { name } }: Row, hasMembers: boolean): boolean {
    if (name === "*") return false;
    const key = `${typeUrl} ${name}`;
    const isTold = this.#empty.has(key);
    if (hasMembers) this.#empty.delete(key);
    else this.#empty.add(key);
    return !hasMembers && !isTold;
  }

  #tell(
    typeUrl: string,
    rows: readonly Row[],
    { put, remove }: { readonly put: readonly Put[]; readonly remove: readonly Removal[] },
    complete: readonly Row[],
  ): void {
    if (!this.#responded) {
      this.#responded = true;
      this.#isThere();
    }
    for (const {
      resource: { name, version },
    } of put)
      this.#note(typeUrl, name, version);
    for (const { name } of remove) this.#note(typeUrl, name, "");
    void this.#sink?.commit({
      put,
      remove,
      complete: complete.map(({ interest }) => ({ typeUrl, interest })),
    });
    for (const row of complete) row.awaited = false;
    for (const name of [
      ...put.map(({ resource }) => resource.name),
      ...remove.map((one) => one.name),
    ]) {
      const row = rows.find(({ interest }) => interest.name === name);
      if (row !== undefined) this.#answered(row);
    }
    this.#later(200, () => {
      this.#settle(typeUrl);
    });
  }

  #note(typeUrl: string, name: string, version: string): void {
    const key = `${typeUrl} ${name}`;
    this.#told.set(key, version);
    this.#options.onTold(typeUrl, name, version === "" ? undefined : this.store.get(key)?.content);
  }

  #answered(row: Row): void {
    row.awaited = false;
    if (row.late)
      this.#sink?.unavailable({ typeUrl: row.typeUrl, interest: row.interest }, undefined);
    row.late = false;
  }

  #settle(typeUrl: string): void {
    const rows = [...this.#rows.values()].filter(
      (row) =>
        row.typeUrl === typeUrl &&
        row.awaited &&
        isCollection(row.interest.name) &&
        [...this.#told.keys()].some((key) => covers(row, key)),
    );
    for (const row of rows) row.awaited = false;
    if (rows.length > 0)
      void this.#sink?.commit({ settled: rows.map(({ interest }) => ({ typeUrl, interest })) });
  }

  #later(ms: number, callback: () => void): void {
    const timer = this.#options.clock.after(ms, () => {
      this.#timers.delete(timer);
      callback();
    });
    this.#timers.add(timer);
  }
}

/** A version that no resource has: a resource with it is sent again. */
const AGAIN = "again";

/** Returns true if a subscription covers a resource, given as `type name`. */
function covers(
  { typeUrl, interest: { name } }: Pick<Row, "typeUrl" | "interest">,
  key: string,
): boolean {
  if (!key.startsWith(`${typeUrl} `)) return false;
  const other = key.slice(typeUrl.length + 1);
  return (
    name === "*" ||
    name === other ||
    (name.endsWith("/*") &&
      other.startsWith(name.slice(0, -1)) &&
      !other.slice(name.length - 1).includes("/"))
  );
}

function isCollection(name: string): boolean {
  return name === "*" || name.endsWith("/*");
}
