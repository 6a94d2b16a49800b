import type { Clock, Put, ResourceType } from "@xdstp/core";
import { XdsError } from "@xdstp/core";
import { createScheduler, createServerContext, type ServerStream } from "@xdstp/protocol/server";
import type { ServiceRow } from "@xdstp/protos/services";
import type { SeededRandom } from "@xdstp/testing";
import { createRestHandler, type RestAnswer, type RestHandler } from "@xdstp/transport-rest/server";
import { createSotwServer } from "@xdstp/transport-sotw/server";

import { payloadOf, textIn } from "../../../harness/payload.ts";
import { Replica } from "../replica.ts";
import type { Store } from "../store.ts";

/** In a text that some clients reject. */
export const BAD = "-bad";

/** A type of a world of polls, with its service. */
export interface PollType {
  readonly typeUrl: string;
  readonly stream: string;
  readonly path: string;
}

export const pollTypes = {
  full: {
    typeUrl: "type.googleapis.com/test.Gate",
    stream: "/test.Gates/StreamGates",
    path: "/v3/discovery:gates",
  },
  names: {
    typeUrl: "type.googleapis.com/test.Flag",
    stream: "/test.Flags/StreamFlags",
    path: "/v3/discovery:flags",
  },
} as const satisfies Readonly<Record<string, PollType>>;

export const pollServices: readonly ServiceRow[] = Object.values(pollTypes).map(
  ({ typeUrl, stream, path }) => {
    const [, service = "", sotw = ""] = stream.split("/");
    return { service, sotw, typeUrl, restPath: path };
  },
);

const types: readonly ResourceType[] = [
  { typeUrl: pollTypes.full.typeUrl, fullStateInSotw: true },
  { typeUrl: pollTypes.names.typeUrl },
];

/** Returns the types as a client sees them. */
export function typesOf(rejects: boolean): readonly ResourceType[] {
  if (!rejects) return types;
  return types.map((type) => ({
    ...type,
    validate: ({ name, payload }) =>
      textIn(payload.value).includes(BAD)
        ? new XdsError("INVALID_ARGUMENT", `${name} is bad`)
        : undefined,
  }));
}

/** A poll on its way to the origin. */
export interface OriginPoll {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly peer: string;
  readonly signal: AbortSignal;
  /** The replica. Absent: any. */
  readonly replica: number | undefined;
}

/** The answer of a replica. */
export interface OriginReply {
  readonly answer: RestAnswer;
  readonly life: string;
  /** The number of the newest change that the replica had read. */
  readonly newest: number;
  /** Returns the number of the state of a name that the replica had. */
  readonly seqOf: (name: string) => number;
}

interface Process {
  readonly handler: RestHandler;
  readonly streams: Set<ServerStream>;
  readonly crashed: AbortController;
}

/** The management server: some replicas, each with the polls of its clients. */
export class PollsOrigin {
  readonly #clock: Clock;
  readonly #random: SeededRandom;
  readonly #replicas: readonly Replica[];
  readonly #processes = new Map<Replica, Process>();

  constructor(clock: Clock, random: SeededRandom, store: Store, count: number) {
    this.#clock = clock;
    this.#random = random;
    this.#replicas = Array.from(
      { length: count },
      (_, index) => new Replica({ name: `replica ${index}`, clock, store, types, putsOf }),
    );
    this.startAll();
  }

  startAll(): void {
    for (const index of this.#replicas.keys()) this.start(index);
  }

  start(index: number): void {
    const replica = this.#replicas[index];
    const cache = replica?.start();
    if (replica === undefined || cache === undefined) return;
    const clock = this.#clock;
    const streams = new Set<ServerStream>();
    const later = (callback: () => void): void => {
      clock.after(1, callback);
    };
    const server = createSotwServer(
      createServerContext({
        source: cache,
        clock,
        scheduler: createScheduler({ slice: 4, later }),
      }),
    );
    const handler = createRestHandler({
      clock,
      services: pollServices,
      accept: (_, peer, out) => {
        const stream = server.open({ peer }, out);
        streams.add(stream);
        return stream;
      },
    });
    this.#processes.set(replica, { handler, streams, crashed: new AbortController() });
  }

  /** Ends a process. A crash resets its connections. */
  stop(index: number, crash: boolean): void {
    const replica = this.#replicas[index];
    const process = replica === undefined ? undefined : this.#processes.get(replica);
    if (replica === undefined || process === undefined) return;
    this.#processes.delete(replica);
    if (crash) process.crashed.abort();
    else for (const stream of process.streams) stream.end(14, "the server stops");
    process.handler.close();
    replica.stop();
  }

  /** Each replica reads the names from the store after a time of its own. */
  changed(names: readonly string[], lagMs: readonly number[]): void {
    for (const [index, replica] of this.#replicas.entries()) {
      const ms = lagMs[index] ?? 0;
      if (ms === 0) replica.readStore(names);
      else
        this.#clock.after(ms, () => {
          replica.readStore(names);
        });
    }
  }

  /** Sends a poll to a replica. Rejects if it cannot be reached, or crashes meanwhile. */
  async answer({ replica: wanted, ...poll }: OriginPoll): Promise<OriginReply> {
    const chosen = wanted === undefined ? undefined : this.#replicas[wanted];
    const replica = chosen ?? this.#random.pick(this.#replicas);
    const process = this.#processes.get(replica);
    if (process === undefined) throw new TypeError("the connection was refused");
    const { life } = replica;
    const answer = await process.handler.handle({
      method: "POST",
      path: poll.path,
      header: (name) => poll.headers[name],
      body: async () => Promise.resolve(poll.body),
      peer: poll.peer,
      signal: AbortSignal.any([poll.signal, process.crashed.signal]),
    });
    if (process.crashed.signal.aborted) throw new TypeError("the connection was reset");
    if (!poll.signal.aborted) answer.delivered();
    return { answer, life, newest: replica.newest, seqOf: replica.seqs() };
  }

  close(): void {
    for (const index of this.#replicas.keys()) this.stop(index, true);
  }
}

/** A name is put under both types. */
function putsOf(name: string, text: string): readonly Put[] {
  return types.map(({ typeUrl }) => ({
    typeUrl,
    resource: { name, version: "", payload: { typeUrl, value: payloadOf(name, text) } },
  }));
}
