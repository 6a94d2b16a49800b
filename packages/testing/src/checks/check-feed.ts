import {
  bindCase,
  type CaseOf,
  type CheckOptions,
  type ContractCase,
  createWaiter,
} from "./contract-case.ts";
import { feedCases, type FeedPlace } from "./feed-cases.ts";
import { recordSink } from "./recorded-sink.ts";
import type { TestedFeed } from "./tested-feed.ts";

/** Creates a feed, and an empty place that it reads. */
export type MakeFeed = () => TestedFeed | Promise<TestedFeed>;

/**
 * Returns the cases that each implementation of `ResourceFeed` must pass: subscriptions, globs, missing
 * names, changes and removals, outages, rejected resources, the end of `run`.
 *
 * @param make - Creates a new feed for each case
 */
export function checkFeed(make: MakeFeed, options: CheckOptions = {}): readonly ContractCase[] {
  return feedCases().map((each) => bindCase(each, (check) => runCase(make, options, check)));
}

/** The phase of `run`. */
type Run =
  | { readonly kind: "new" }
  | { readonly kind: "running" }
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly error: Error };

async function runCase(
  make: MakeFeed,
  options: CheckOptions,
  check: CaseOf<FeedPlace>["check"],
): Promise<string | undefined> {
  const tested = await make();
  const { feed, typeUrl } = tested;
  const abort = new AbortController();
  const waiter = createWaiter(tested, options);
  const record = recordSink(typeUrl, feed.want === undefined, () => {
    waiter.notify();
  });
  const phase: { run: Run } = { run: { kind: "new" } };
  const enter = (next: Run): void => {
    phase.run = next;
    waiter.notify();
  };
  /** A failed run explains why an awaited event is missing. */
  const demandRunning = (): void => {
    const { run } = phase;
    if (run.kind === "failed") throw run.error;
    if (run.kind === "ended" && !abort.signal.aborted)
      throw new Error("run() has ended although its signal is not aborted");
  };
  const until: FeedPlace["until"] = async (isMet, what, state) => {
    await waiter.until(
      () => {
        demandRunning();
        return isMet();
      },
      what,
      state,
    );
  };
  const change = async (added: readonly string[], dropped: readonly string[]): Promise<void> => {
    const interests = (names: readonly string[]) => names.map((name) => ({ name }));
    feed.want?.(typeUrl, interests(added), interests(dropped));
    await turn();
  };
  const namesOf = (ids: readonly string[]) => ids.map((id) => tested.nameOf(id));
  const place: FeedPlace = {
    tested,
    record,
    until,
    begin: () => {
      enter({ kind: "running" });
      feed.run(record.sink, abort.signal).then(
        () => {
          record.isOver = true;
          enter({ kind: "ended" });
        },
        (error: unknown) => {
          record.isOver = true;
          enter({ kind: "failed", error: new Error(`run() has rejected: ${String(error)}`) });
        },
      );
    },
    abort: () => {
      abort.abort();
    },
    ended: () => until(() => phase.run.kind === "ended", "run() resolves after an abort"),
    late: async () => {
      for (let turns = 0; turns < 100; turns++) {
        await tested.step?.();
        await turn();
      }
    },
    subscribe: (...ids) => change(namesOf(ids), []),
    unsubscribe: (...ids) => change([], namesOf(ids)),
    subscribeTo: (name) => change([name], []),
    holds: async (id, state) => {
      const found = (): number | undefined => {
        const resource = record.get(tested.nameOf(id));
        return resource && tested.stateOf(resource);
      };
      await until(
        () => found() === state,
        `"${id}" arrives in state ${state}`,
        () => `its state is ${String(found() ?? "unknown")}`,
      );
    },
  };
  try {
    const skipped = await check(place);
    if (phase.run.kind !== "new") {
      demandRunning();
      abort.abort();
      await place.ended();
    }
    return skipped;
  } finally {
    abort.abort();
    await tested.close?.();
    await turn();
    const [violation] = record.violations;
    // eslint-disable-next-line no-unsafe-finally -- a violation explains why the case failed
    if (violation !== undefined) throw new Error(violation);
  }
}

/** Lets promises and timers that are due run. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}
