import { fromBinary } from "@bufbuild/protobuf";
import { DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { createFakeClock, createSeededRandom, type FakeClock } from "@xdstp/testing";
import type { FetchLike } from "@xdstp/transport-rest/client";

import { nameIn, textIn } from "../../../harness/payload.ts";
import type { Scenario } from "../../run-scenario.ts";
import type { Report } from "../../violation.ts";
import { doToReplicas, simplerCommits } from "../origin-deeds.ts";
import { OpenPolls, type PollInvariants } from "../open-polls.ts";
import { type State, Store } from "../store.ts";
import { streamOf } from "../stream-of.ts";
import { type ViewInvariants, WatchView } from "../watch-view.ts";
import { Weather } from "../weather.ts";
import { createWireWorld, type Rest, type WireParts } from "../wire-world.ts";
import { createPollClient, type PollClient, textOfAll } from "./polls-client.ts";
import {
  describePollDeed,
  drawPollsRound,
  type PollChange,
  type PollDeed,
  pollNames,
  WILDCARD,
} from "./polls-deeds.ts";
import type { PollsDefect } from "./polls-defects.ts";
import { BAD, type OriginReply, PollsOrigin } from "./polls-origin.ts";
import { createPollsShape, type PollsShape } from "./polls-shape.ts";

export interface PollsWorldOptions {
  readonly seed: number;
  /** Default: none. */
  readonly defect?: PollsDefect;
  /** Sees each answer that arrives at a client. */
  readonly onLine?: (line: string) => void;
}

/** The names of the invariants. */
export const pollsInvariants: ViewInvariants & PollInvariants = {
  neverBack: "a client never shows an older state of one life of the origin [S-REST-3]",
  lastGoodState: "the last good state stays until an answer says another one [C-REST-7]",
  removalIsSeen: "a removal is seen [S-REST-1]",
  nothingIsLost: "when the faults end every watch shows what the origin has [C-REST-6] [S-REST-4]",
  onePoll: "no more than one poll of a client and type is open [C-REST-6]",
  pace: "a client polls no more often than what it polls can change [C-REST-6]",
};

/** Clients that poll over REST, and an origin with replicas. */
export function pollsScenario(options: PollsWorldOptions): Scenario<PollDeed> {
  const random = createSeededRandom(options.seed);
  return {
    createWorld: () => {
      const clock = createFakeClock({ start: 1_000_000 });
      return createWireWorld(clock, (report) => new PollsWorld(options, clock, report));
    },
    createRounds: () => {
      const draws = random.fork(3);
      const shape = createPollsShape(random.fork(1));
      return () => drawPollsRound(draws, shape);
    },
    rest: { kind: "rest" },
    describe: describePollDeed,
    simpler: simplerCommits,
  };
}

class PollsWorld implements WireParts<PollDeed> {
  readonly #options: PollsWorldOptions;
  readonly #report: Report;
  readonly #shape: PollsShape;
  readonly #store = new Store();
  readonly #weather: Weather;
  readonly #origin: PollsOrigin;
  readonly #clients: readonly PollClient[];
  readonly #polls: OpenPolls;
  readonly #views: readonly Map<string, WatchView>[];

  constructor(options: PollsWorldOptions, clock: FakeClock, report: Report) {
    const random = createSeededRandom(options.seed);
    this.#options = options;
    this.#report = report;
    this.#shape = createPollsShape(random.fork(1));
    this.#weather = new Weather(clock, random.fork(4));
    this.#polls = new OpenPolls(clock, pollsInvariants, report);
    this.#origin = new PollsOrigin(clock, random.fork(5), this.#store, this.#shape.replicas);
    this.#views = this.#shape.clients.map(() => new Map<string, WatchView>());
    this.#clients = this.#shape.clients.map((shape, index) => {
      const fetch: FetchLike = async (url, init) => this.#fetch(index, url, init);
      return createPollClient({
        shape,
        clock,
        random: random.fork(10 + index),
        fetch: options.defect?.fetch?.(fetch) ?? fetch,
      });
    });
  }

  do(deed: Exclude<PollDeed, Rest>): void {
    switch (deed.kind) {
      case "commit":
        for (const change of deed.changes) this.#change(change);
        this.#origin.changed(
          deed.changes.map(({ name }) => name),
          deed.lagMs,
        );
        break;
      case "watch":
        this.#watch(deed.client, deed.name);
        break;
      case "unwatch":
        if (this.#views[deed.client]?.delete(deed.name) === true)
          this.#clients[deed.client]?.unwatch(deed.name);
        break;
      default:
        doToReplicas(deed, {
          origin: this.#origin,
          weather: this.#weather,
          replicas: this.#shape.replicas,
        });
    }
  }

  calm(): void {
    this.#weather.calm();
    this.#origin.startAll();
    for (const [index, name] of pollNames.entries()) {
      if (this.#store.at(name).text?.includes(BAD) !== true) continue;
      // A version that was accepted before may come back only where nothing new takes its place.
      if (index < 2) this.#store.put(name);
      else this.#store.remove(name);
    }
    this.#origin.changed(pollNames, []);
  }

  look(): void {
    for (const [index, views] of this.#views.entries())
      for (const [name, view] of views) {
        const shown = this.#clients[index]?.shown(name);
        if (shown !== undefined) view.shows(shown);
      }
  }

  isSettled(report: boolean): boolean {
    return this.#views.every((views, index) =>
      [...views].every(([name, view]) => {
        const state = this.#stateOf(name);
        // SotW can tell of a removal only where a response has all resources.
        const canTell = state.text !== undefined || this.#shape.clients[index]?.type === "full";
        return !canTell || view.endsAs(state, report);
      }),
    );
  }

  close(): void {
    for (const client of this.#clients) client.close();
    this.#origin.close();
  }

  #watch(client: number, name: string): void {
    const views = this.#views[client];
    if (views === undefined || views.has(name)) return;
    this.#clients[client]?.watch(name);
    const label = `client ${client}: ${name}`;
    const shown = this.#clients[client]?.shown(name);
    views.set(name, new WatchView(label, pollsInvariants, this.#report, shown));
  }

  #change({ name, kind }: PollChange): void {
    if (kind === "removed") this.#store.remove(name);
    else if (kind === "usual") this.#store.put(name, "usual");
    else this.#store.put(name, undefined, kind === "bad" ? BAD : "");
  }

  #stateOf(name: string): State {
    if (name !== WILDCARD) return this.#store.at(name);
    const texts = pollNames.flatMap((one) => {
      const { text } = this.#store.at(one);
      return text === undefined ? [] : [[one, text] as const];
    });
    return { seq: 0, text: textOfAll(texts) };
  }

  async #fetch(
    client: number,
    url: string,
    { headers, body, signal }: Parameters<FetchLike>[1],
  ): ReturnType<FetchLike> {
    const { pathname } = new URL(url);
    const reply = await this.#polls.send({ watch: `client ${client}` }, signal, async () => {
      await this.#weather.cross();
      const got = await this.#origin.answer({
        path: pathname,
        headers,
        body,
        peer: `10.0.0.1:${5_000 + client}`,
        signal,
        replica: this.#shape.clients[client]?.replica,
      });
      await this.#weather.cross();
      return got;
    });
    this.#arrived(client, reply);
    const { answer } = reply;
    return {
      status: answer.status,
      headers: { get: (name) => answer.headers[name] ?? null },
      body: answer.body === undefined ? null : streamOf(answer.body),
    };
  }

  /** Tells the watches of a client what a response says of them. */
  #arrived(client: number, { answer, seqOf, life: process, newest }: OriginReply): void {
    const life = this.#options.defect?.isOneLife === true ? "all processes" : process;
    this.#options.onLine?.(`client ${client}: ${answer.status} of ${life}`);
    if (answer.status !== 200 || answer.body === undefined) return;
    const texts = new Map(
      fromBinary(DiscoveryResponseSchema, answer.body).resources.map(({ value }) => [
        nameIn(value),
        textIn(value),
      ]),
    );
    const isFull = this.#shape.clients[client]?.type === "full";
    for (const [name, view] of this.#views[client] ?? [])
      if (name === WILDCARD) view.said({ seq: newest, text: textOfAll(texts), life });
      else if (isFull || texts.has(name))
        view.said({ seq: seqOf(name), text: texts.get(name), life: `${life}, ${name}` });
  }
}
