import { type CaseOf, demand, type Waiter } from "./contract-case.ts";
import type { RecordedSink } from "./recorded-sink.ts";
import type { TestedFeed } from "./tested-feed.ts";

/** The objects that a case gets. */
export interface FeedPlace {
  readonly tested: TestedFeed;
  /** The sink of the feed. */
  readonly record: RecordedSink;
  /** Resolves when a condition is met. Rejects if `run` has ended too early. */
  readonly until: Waiter["until"];
  /** Calls `run`. */
  readonly begin: () => void;
  /** Aborts the signal of `run`. */
  readonly abort: () => void;
  /** Resolves when `run` has ended after an abort. */
  readonly ended: () => Promise<void>;
  /** Gives the feed time for what it should not do. */
  readonly late: () => Promise<void>;
  readonly subscribe: (...ids: readonly string[]) => Promise<void>;
  readonly unsubscribe: (...ids: readonly string[]) => Promise<void>;
  /** Subscribes to a glob, or to `*`. */
  readonly subscribeTo: (name: string) => Promise<void>;
  /** Resolves when the sink has a resource in this state. */
  readonly holds: (id: string, state: number) => Promise<void>;
}

const SUPPLIES_ALL = "the feed has no subscriptions: it supplies everything that it has";
const NO_GLOBS = "the test of this feed has no interest that covers several names";
const NO_OUTAGES = "the test of this feed cannot make its place unreachable";
const NO_REMOVALS = "the test of this feed cannot remove a resource";

/** A name that no server may have: its percent-encoding is broken. */
const INVALID = "xdstp://check/xdstp.check.Thing/%ZZ";

const settles = (interest: string): string => `${interest} is listed in complete or settled`;

/** Subscribes to resources in state 1, and resolves when all have arrived. */
async function start(
  { tested, begin, subscribe, holds }: FeedPlace,
  ...ids: readonly string[]
): Promise<void> {
  for (const id of ids) await tested.put(id, 1);
  begin();
  await subscribe(...ids);
  for (const id of ids) await holds(id, 1);
}

/** Makes the place unreachable, and resolves when the feed has reported this for a name. */
async function loseFrom({ tested, record, until }: FeedPlace, id: string): Promise<void> {
  await tested.cut?.();
  await until(
    () => record.outage(tested.nameOf(id)) !== undefined,
    "unavailable() reports a place that is unreachable",
  );
}

function hasOutages(tested: TestedFeed): boolean {
  return tested.cut !== undefined && tested.restore !== undefined;
}

const cases: readonly CaseOf<FeedPlace>[] = [
  {
    name: "a subscribed name gets its resource, also if it is subscribed while the feed runs",
    rules: [],
    check: async (place) => {
      await start(place, "a");
      await place.tested.put("b", 1);
      await place.subscribe("b");
      await place.holds("b", 1);
      await place.holds("a", 1);
      return undefined;
    },
  },
  {
    name: "subscriptions from before run() count",
    rules: [],
    check: async ({ tested, begin, subscribe, unsubscribe, holds, record }) => {
      if (tested.feed.want === undefined) return SUPPLIES_ALL;
      for (const id of ["a", "b", "c"]) await tested.put(id, 1);
      await subscribe("a", "b");
      await subscribe("c");
      await unsubscribe("b");
      begin();
      await holds("a", 1);
      await holds("c", 1);
      demand(
        record.get(tested.nameOf("b")) === undefined,
        "a name that was unsubscribed before run() is supplied",
      );
      return undefined;
    },
  },
  {
    name: "300 resources that are subscribed at once arrive",
    rules: [],
    check: async (place) => {
      await start(place, ...Array.from({ length: 300 }, (_, index) => `n${index}`));
      return undefined;
    },
  },
  {
    name: "an interest that covers several names is settled with all its members",
    rules: [],
    check: async (place) => {
      const { tested, record, until, begin, subscribeTo, holds } = place;
      const { glob } = tested;
      if (tested.feed.want === undefined) return SUPPLIES_ALL;
      if (glob === undefined) return NO_GLOBS;
      const ids = Array.from({ length: 50 }, (_, index) => `n${index}`);
      for (const id of ids) await tested.put(id, 1);
      begin();
      await subscribeTo(glob);
      await until(() => record.settledWith(glob) !== undefined, settles(glob));
      for (const id of ids)
        demand(
          record.settledWith(glob)?.includes(tested.nameOf(id)) === true,
          `${glob} is settled without its member "${id}"`,
        );
      await tested.put("late", 1);
      await holds("late", 1);
      if (tested.remove === undefined) return undefined;
      await tested.remove("n0");
      await until(
        () => record.get(tested.nameOf("n0")) === undefined,
        "a member that is removed is removed",
      );
      await holds("n1", 1);
      return undefined;
    },
  },
  {
    name: "an interest without members is settled too, and gets those that come later",
    rules: [],
    check: async ({ tested, record, until, begin, subscribeTo, holds }) => {
      const { glob } = tested;
      if (tested.feed.want === undefined) return SUPPLIES_ALL;
      if (glob === undefined) return NO_GLOBS;
      begin();
      await subscribeTo(glob);
      await until(() => record.settledWith(glob) !== undefined, settles(glob));
      await tested.put("a", 1);
      await holds("a", 1);
      return undefined;
    },
  },
  {
    name: "a name that does not exist is reported as missing, and may come later",
    rules: ["C-MISS-5"],
    check: async (place) => {
      const { tested, record, until, subscribe, holds } = place;
      await start(place, "a");
      await subscribe("none");
      await until(
        () => record.isMissing(tested.nameOf("none")),
        "a removal, or a settled interest, shows that a name does not exist",
      );
      await tested.put("none", 2);
      await holds("none", 2);
      return undefined;
    },
  },
  {
    name: "an invalid name is reported as missing or unavailable, and does not stop the others",
    rules: [],
    check: async (place) => {
      const { tested, record, until, subscribeTo, subscribe, holds } = place;
      if (tested.feed.want === undefined) return SUPPLIES_ALL;
      await start(place, "a");
      await subscribeTo(INVALID);
      await tested.put("b", 1);
      await subscribe("b");
      await holds("b", 1);
      await until(
        () => record.isMissing(INVALID) || record.outage(INVALID) !== undefined,
        `a removal, or unavailable(), shows that ${INVALID} has no resource`,
      );
      await tested.put("a", 2);
      await holds("a", 2);
      return undefined;
    },
  },
  {
    name: "a changed resource arrives in its newest state, and never goes back to an older one",
    rules: [],
    check: async (place) => {
      const { tested, record, holds } = place;
      await start(place, "a", "b");
      for (const state of [2, 3, 4, 5, 6, 7, 8, 9]) await tested.put("a", state);
      await holds("a", 9);
      await tested.put("b", 2);
      await holds("b", 2);
      const states = record.history(tested.nameOf("a")).map((each) => tested.stateOf(each));
      demand(
        states.every((state, at) => at === 0 || state >= (states[at - 1] ?? 0)),
        `"a" was put in states 1 to 9, and arrived as ${states.join(", ")}`,
      );
      await holds("a", 9);
      return undefined;
    },
  },
  {
    name: "a removed resource is removed, and the others stay",
    rules: [],
    check: async (place) => {
      const { tested, record, until, holds } = place;
      if (tested.remove === undefined) return NO_REMOVALS;
      await start(place, "a", "b");
      await tested.remove("a");
      await until(() => record.isMissing(tested.nameOf("a")), "a removed resource is removed");
      await holds("b", 1);
      await tested.put("a", 2);
      await holds("a", 2);
      return undefined;
    },
  },
  {
    name: "an outage keeps all resources, and is reported until it ends",
    rules: ["C-RECON-8", "C-ERR-4"],
    check: async (place) => {
      const { tested, record, until, holds } = place;
      if (!hasOutages(tested)) return NO_OUTAGES;
      await start(place, "a", "b");
      await loseFrom(place, "a");
      for (const id of ["a", "b"])
        demand(
          record.get(tested.nameOf(id)) !== undefined,
          `"${id}" is removed although its place is only unreachable`,
        );
      await tested.restore?.();
      await until(
        () => ["a", "b"].every((id) => record.outage(tested.nameOf(id)) === undefined),
        "unavailable() reports the end of an outage",
      );
      for (const id of ["a", "b"]) await holds(id, 1);
      return undefined;
    },
  },
  {
    name: "a change during an outage arrives after it",
    rules: ["C-RECON-3"],
    check: async (place) => {
      const { tested, holds } = place;
      if (!hasOutages(tested)) return NO_OUTAGES;
      await start(place, "a", "b");
      await loseFrom(place, "a");
      await tested.put("a", 2);
      await tested.restore?.();
      await holds("a", 2);
      await holds("b", 1);
      return undefined;
    },
  },
  {
    name: "an unsubscribed name is not supplied any more",
    rules: ["C-SUB-8"],
    check: async (place) => {
      const { tested, record, unsubscribe, holds } = place;
      if (tested.feed.want === undefined) return SUPPLIES_ALL;
      await start(place, "a", "b");
      await unsubscribe("a");
      // A state that is on its way when the name is unsubscribed may still arrive.
      await tested.put("b", 2);
      await holds("b", 2);
      await tested.put("a", 3);
      await tested.put("b", 3);
      await holds("b", 3);
      await place.late();
      demand(
        record.history(tested.nameOf("a")).every((each) => tested.stateOf(each) < 3),
        `"a" is put although it is unsubscribed`,
      );
      return undefined;
    },
  },
  {
    name: "a rejected resource does not end the feed, and its next state is applied",
    rules: ["C-ACK-5"],
    check: async (place) => {
      const { tested, record, until, holds } = place;
      await start(place, "a", "b");
      record.rejects = (name, resource) =>
        name === tested.nameOf("b") && tested.stateOf(resource) === 2;
      await tested.put("b", 2);
      await until(() => record.rejected.length > 0, "the new state arrives");
      await tested.put("a", 2);
      await tested.put("b", 3);
      await holds("a", 2);
      await holds("b", 3);
      return undefined;
    },
  },
  {
    name: "a rejected resource does not stop the others",
    rules: ["C-ACK-5"],
    check: async (place) => {
      const { tested, record, until, holds } = place;
      await start(place, "a", "b");
      record.rejects = (name) => name === tested.nameOf("b");
      await tested.put("b", 2);
      await until(() => record.rejected.length > 0, "the new state arrives");
      if (record.rejected.some(({ atomic }) => atomic === true))
        return "the transactions of the feed are atomic: one rejection rejects the others";
      await tested.put("a", 2);
      await holds("a", 2);
      await holds("b", 1);
      return undefined;
    },
  },
  {
    name: "an abort ends run(), and nothing is committed after it",
    rules: [],
    check: async (place) => {
      const { tested, abort, ended, late } = place;
      await start(place, "a", "b");
      await tested.put("a", 2);
      abort();
      await ended();
      await tested.put("b", 2);
      await late();
      return undefined;
    },
  },
  {
    name: "a signal that is aborted before run() ends it at once",
    rules: [],
    check: async ({ tested, record, subscribe, abort, begin, ended, late }) => {
      await tested.put("a", 1);
      await subscribe("a");
      abort();
      begin();
      await ended();
      await late();
      demand(record.commits === 0, "a transaction is committed although the signal was aborted");
      return undefined;
    },
  },
  {
    name: "an abort during an outage ends run()",
    rules: [],
    check: async (place) => {
      if (!hasOutages(place.tested)) return NO_OUTAGES;
      await start(place, "a");
      await loseFrom(place, "a");
      place.abort();
      await place.ended();
      await place.tested.restore?.();
      await place.late();
      return undefined;
    },
  },
];

/** Returns all cases of `checkFeed`. */
export function feedCases(): readonly CaseOf<FeedPlace>[] {
  return cases;
}
