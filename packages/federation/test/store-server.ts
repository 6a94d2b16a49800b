import {
  type Committed,
  type Interest,
  interestKey,
  type Resource,
  type ResourceSink,
  type Transaction,
  XdsError,
} from "@xdstp/core";
import type { ClientStatus } from "@xdstp/protocol/client";
import { globMatches, nameKey } from "@xdstp/uri";

import type { FederationServer } from "../src/index.ts";

/** A management server in memory: it answers subscriptions at once from its store. */
export interface StoreServer extends FederationServer {
  /** The subscribed names. */
  readonly wanted: readonly string[];
  /** The number of times that it was opened. */
  readonly opened: number;
  readonly isOpen: boolean;
  /** The results of its transactions. */
  readonly answers: readonly Committed[];
  readonly sink: ResourceSink;
  put(typeUrl: string, resource: Resource): void;
  remove(typeUrl: string, name: string): void;
  /**
   * Makes it unreachable. `undefined`: makes it reachable again; then it sends all its resources.
   */
  fail(error: string | undefined): void;
  /** True if it is reachable and sends nothing. */
  silent: boolean;
  /** True if it has answered on this stream, as a client of ours reports. */
  responded: boolean;
  /** Reports that a name has not arrived in time (C-MISS-4). */
  late(typeUrl: string, name: string): void;
  /** Returns the names and versions that are presented to it as cached from it (C-RECON-3). */
  held(typeUrl: string): readonly string[];
}

interface Stored {
  readonly typeUrl: string;
  readonly resource: Resource;
}

interface Row {
  readonly typeUrl: string;
  readonly interest: Interest;
}

export function createStoreServer(id: string): StoreServer {
  const store = new Map<string, Stored>();
  const wanted = new Map<string, Row>();
  const answers: Committed[] = [];
  let sink: ResourceSink | undefined;
  let failure: XdsError | undefined;
  let opened = 0;
  const commit = (transaction: Transaction): void => {
    if (sink === undefined || failure !== undefined || server.silent) return;
    answers.push(sink.commit(transaction));
  };
  const isWanted = (typeUrl: string, name: string): boolean =>
    wanted.values().some((row) => covers(row, typeUrl, name));
  const answer = (rows: readonly Row[]): void => {
    if (rows.length > 0) commit(answerTo(rows, [...store.values()]));
  };
  const server: StoreServer = {
    id,
    name: id,
    silent: false,
    responded: true,
    answers,
    get wanted() {
      return [...wanted.values()].map(({ interest: { name } }) => name).sort();
    },
    get opened() {
      return opened;
    },
    get isOpen() {
      return sink !== undefined;
    },
    get sink() {
      if (sink === undefined) throw new Error("it is not open");
      return sink;
    },
    open() {
      opened++;
      return {
        close() {
          /* nothing to let go of */
        },
        feed: {
          async run(given, signal) {
            sink = given;
            if (failure !== undefined) given.unavailable({}, failure);
            await new Promise<void>((resolve) => {
              signal.addEventListener("abort", () => {
                resolve();
              });
            });
            sink = undefined;
            wanted.clear();
          },
          get responded() {
            return server.responded;
          },
          status: () =>
            ({ responded: server.responded, types: [] as ClientStatus["types"] }) as ClientStatus,
          want(typeUrl, added, dropped) {
            for (const interest of dropped) wanted.delete(idOf(typeUrl, interest));
            const rows = added.map((interest) => ({ typeUrl, interest }));
            for (const row of rows) wanted.set(idOf(typeUrl, row.interest), row);
            answer(rows);
          },
        },
      };
    },
    put(typeUrl, resource) {
      store.set(`${typeUrl}\n${nameKey(resource.name)}`, { typeUrl, resource });
      if (isWanted(typeUrl, resource.name)) commit({ put: [{ typeUrl, resource }] });
    },
    late(typeUrl, name) {
      commit({
        remove: [
          {
            typeUrl,
            name,
            error: new XdsError("NOT_FOUND", "nothing has come in time", { reason: "late" }),
          },
        ],
      });
    },
    held: (typeUrl) =>
      Array.from(server.sink.held(typeUrl), ({ name, version }) => `${name} ${version}`),
    remove(typeUrl, name) {
      store.delete(`${typeUrl}\n${nameKey(name)}`);
      if (isWanted(typeUrl, name)) commit({ remove: [{ typeUrl, name }] });
    },
    fail(error) {
      failure = error === undefined ? undefined : new XdsError("UNAVAILABLE", error);
      sink?.unavailable({}, failure);
      if (failure === undefined) answer([...wanted.values()]);
    },
  };
  return server;
}

function idOf(typeUrl: string, interest: Interest): string {
  return `${typeUrl}\n${interestKey(interest, interest.name)}`;
}

/** Returns all stored resources that are subscribed. */
function answerTo(rows: readonly Row[], stored: readonly Stored[]): Transaction {
  const put = stored.filter(({ typeUrl, resource }) =>
    rows.some((row) => covers(row, typeUrl, resource.name)),
  );
  const missing = rows.filter(
    (row) =>
      isExact(row) && !put.some(({ typeUrl, resource }) => covers(row, typeUrl, resource.name)),
  );
  return {
    put,
    remove: missing.map(({ typeUrl, interest: { name } }) => ({ typeUrl, name })),
    complete: rows.filter((row) => !isExact(row)),
  };
}

function covers({ typeUrl, interest }: Row, type: string, name: string): boolean {
  if (typeUrl !== type) return false;
  return (
    interest.name === "*" ||
    nameKey(interest.name) === nameKey(name) ||
    (interest.name.startsWith("xdstp:") && globMatches(interest.name, name))
  );
}

function isExact({ interest: { name } }: Row): boolean {
  return name !== "*" && !name.endsWith("/*");
}
