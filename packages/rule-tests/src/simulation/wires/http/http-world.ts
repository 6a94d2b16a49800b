import {
  createFakeClock,
  createSeededRandom,
  type FakeClock,
  type SeededRandom,
} from "@xdstp/testing";
import type { FetchLike } from "@xdstp/transport-http/client";

import type { Scenario } from "../../run-scenario.ts";
import type { Report } from "../../violation.ts";
import { doToReplicas, simplerCommits } from "../origin-deeds.ts";
import { OpenPolls, type PollInvariants } from "../open-polls.ts";
import { Store } from "../store.ts";
import { streamOf } from "../stream-of.ts";
import { type ViewInvariants, WatchView } from "../watch-view.ts";
import { Weather } from "../weather.ts";
import { createWireWorld, type Rest, type WireParts } from "../wire-world.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import {
  describeHttpDeed,
  drawHttpRound,
  type HttpChange,
  type HttpDeed,
  httpIds,
  isEntry,
} from "./http-deeds.ts";
import type { HttpDefect } from "./http-defects.ts";
import { type EdgeAnswer, HttpEdge } from "./http-edge.ts";
import { HttpOrigin, urlOf } from "./http-origin.ts";
import { createHttpShape, type HttpShape } from "./http-shape.ts";

export interface HttpWorldOptions {
  readonly seed: number;
  /** Default: none. */
  readonly defect?: HttpDefect;
  /** Sees each answer that arrives at a client. */
  readonly onLine?: (line: string) => void;
}

/** The names of the invariants. */
export const httpInvariants: ViewInvariants & PollInvariants = {
  neverBack: "a client never shows an older state of one life of the origin [S-HTTP-14]",
  lastGoodState: "the last good state stays until an answer says another one [C-HTTP-7] [S-HTTP-9]",
  removalIsSeen: "a removal is seen [S-HTTP-9]",
  nothingIsLost: "when the faults end every watch shows what the origin has [C-HTTP-11]",
  onePoll: "no more than one poll of a watch is open [C-HTTP-11]",
  pace: "a watch is polled no more often than what it polls can change [C-HTTP-11] [S-HTTP-14]",
};

/** Clients of native HTTP behind shared caches, in front of an origin with replicas. */
export function httpScenario(options: HttpWorldOptions): Scenario<HttpDeed> {
  const random = createSeededRandom(options.seed);
  return {
    createWorld: () => {
      const clock = createFakeClock({ start: 1_000_000 });
      return createWireWorld(clock, (report) => new HttpWorld(options, clock, report));
    },
    createRounds: () => {
      const draws = random.fork(3);
      const shape = createHttpShape(random.fork(1));
      return () => drawHttpRound(draws, shape);
    },
    rest: { kind: "rest" },
    describe: describeHttpDeed,
    simpler: simplerCommits,
  };
}

class HttpWorld implements WireParts<HttpDeed> {
  readonly #options: HttpWorldOptions;
  readonly #report: Report;
  readonly #shape: HttpShape;
  readonly #random: SeededRandom;
  readonly #store = new Store();
  readonly #weather: Weather;
  readonly #origin: HttpOrigin;
  readonly #edges: readonly HttpEdge[];
  readonly #clients: readonly HttpClient[];
  readonly #polls: OpenPolls;
  readonly #views: readonly Map<string, WatchView>[];

  constructor(options: HttpWorldOptions, clock: FakeClock, report: Report) {
    const random = createSeededRandom(options.seed);
    this.#options = options;
    this.#report = report;
    this.#shape = createHttpShape(random.fork(1));
    this.#random = random.fork(2);
    this.#weather = new Weather(clock, random.fork(4));
    this.#polls = new OpenPolls(clock, httpInvariants, report);
    this.#origin = new HttpOrigin(clock, random.fork(5), this.#store, this.#shape.replicas);
    this.#edges = this.#shape.edges.map(
      (joins) => new HttpEdge(clock, { weather: this.#weather, origin: this.#origin, joins }),
    );
    this.#views = this.#shape.clients.map(() => new Map<string, WatchView>());
    this.#clients = this.#shape.clients.map((shape, index) => {
      const fetch: FetchLike = async (url, init) => this.#fetch(index, url, init);
      return createHttpClient({
        shape,
        clock,
        random: random.fork(10 + index),
        fetch: options.defect?.(fetch) ?? fetch,
      });
    });
  }

  do(deed: Exclude<HttpDeed, Rest>): void {
    switch (deed.kind) {
      case "commit":
        for (const change of deed.changes) this.#change(change);
        this.#origin.changed(
          deed.changes.map(({ id }) => id),
          deed.lagMs,
        );
        break;
      case "watch":
        this.#watch(deed.client, deed.id);
        break;
      case "unwatch":
        if (this.#views[deed.client]?.delete(deed.id) === true)
          this.#clients[deed.client]?.unwatch(deed.id);
        break;
      case "cut-off":
        this.#edges[deed.edge]?.cutOff(deed.ms);
        break;
      case "purge":
        this.#edges[deed.edge]?.purge();
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
    for (const edge of this.#edges) edge.calm();
    this.#origin.startAll();
    this.#origin.readAll(httpIds);
  }

  look(): void {
    for (const [index, views] of this.#views.entries())
      for (const [id, view] of views) {
        const shown = this.#clients[index]?.shown(id);
        if (shown !== undefined) view.shows(shown);
      }
  }

  isSettled(report: boolean): boolean {
    return this.#views.every((views) =>
      [...views].every(([id, view]) => view.endsAs(this.#store.resolve(id), report)),
    );
  }

  close(): void {
    for (const client of this.#clients) client.close();
    this.#origin.close();
  }

  #watch(client: number, id: string): void {
    const views = this.#views[client];
    if (views === undefined || views.has(id)) return;
    views.set(id, new WatchView(`client ${client}: ${id}`, httpInvariants, this.#report));
    this.#clients[client]?.watch(id);
  }

  #change(change: HttpChange): void {
    if (change.kind === "redirect") this.#store.redirect(change.id, change.target);
    else if (change.kind === "put") this.#store.put(change.id, change.text);
    else this.#store.remove(change.id);
  }

  async #fetch(
    client: number,
    url: string,
    { headers, signal }: Parameters<FetchLike>[1],
  ): ReturnType<FetchLike> {
    const { origin, pathname, search } = new URL(url);
    const id = pathname.slice(pathname.lastIndexOf("/") + 1);
    const watches = [...(this.#views[client]?.keys() ?? [])].filter(
      (watched) => watched === id || isEntry(watched),
    ).length;
    const watch = `client ${client}: ${id}`;
    const answer = await this.#polls.send({ watch, watches }, signal, async () => {
      const chosen = this.#shape.clients[client]?.edge;
      const edge = chosen === undefined ? this.#random.pick(this.#edges) : this.#edges[chosen];
      if (edge === undefined || `${origin}${pathname}` !== urlOf(id)) throw new TypeError(url);
      await this.#weather.cross();
      const got = await edge.get({
        id,
        target: `${pathname}${search}`,
        ifNoneMatch: headers["if-none-match"],
      });
      await this.#weather.cross();
      return got;
    });
    this.#arrived(client, id, answer);
    return {
      status: answer.status,
      headers: { get: (name) => headerOf(answer, name) },
      body: answer.body === undefined ? null : streamOf(answer.body),
    };
  }

  /** Tells the watches of a client what an answer says: that of the id, and those of ids that lead to it. */
  #arrived(client: number, id: string, { status, said, age }: EdgeAnswer): void {
    this.#options.onLine?.(
      `client ${client}: ${id}: ${status} state ${said.seq} of ${said.life}, age ${age}`,
    );
    if (![200, 404, 410].includes(status)) return;
    const text = status === 200 ? said.text : undefined;
    for (const [watched, view] of this.#views[client] ?? [])
      if (watched === id || isEntry(watched))
        view.said({ seq: said.seq, text, life: `${said.life}, ${id}` });
  }
}

function headerOf({ headers, age }: EdgeAnswer, name: string): string | null {
  return name === "age" ? String(age) : (headers[name] ?? null);
}
