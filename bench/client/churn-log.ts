import { dueAt, type ChurnPlan } from "../churn-plan.ts";

/** The result of a plan at the readers. */
export interface ChurnResult {
  /** When the last reader had the newest of everything. */
  readonly settledAt: number;
  /** Milliseconds from when a change was due until a reader had it or a newer one, over all readers and changes. */
  readonly p50: number;
  readonly p99: number;
}

/** Which reader has which change, and since when. */
export interface ChurnLog {
  /** A client has read this change at this time. */
  read(client: number, index: number, stamp: number, at: number): void;
  /** Whoever waits gets this error. */
  fail(error: Error): void;
  readonly done: Promise<ChurnResult>;
}

const perMs = 10;
const mostMs = 60_000;

/** A log of one plan; done when so many readers have the newest of everything. Later stamps of a resource supersede earlier ones, and bring them. */
export function createChurnLog(plan: ChurnPlan, readers: number): ChurnLog {
  const { first, count, resources } = plan;
  const last = first + count - 1;
  const held = new Map<number, Float64Array>();
  const lags = new Float64Array(mostMs * perMs);
  const done = Promise.withResolvers<ChurnResult>();
  let missing = readers * Math.min(count, resources);
  const addLag = (lag: number): void => {
    const bucket = bucketOf(lag);
    lags[bucket] = (lags[bucket] ?? 0) + 1;
  };
  const heldBy = (client: number): Float64Array => {
    const known = held.get(client) ?? new Float64Array(resources).fill(first - 1);
    held.set(client, known);
    return known;
  };
  return {
    done: done.promise,
    fail: done.reject,
    read(client, index, stamp, at) {
      const own = heldBy(client);
      const before = own[index] ?? 0;
      if (stamp <= before) return;
      own[index] = stamp;
      for (let one = stamp; one > before; one -= resources) addLag(at - dueAt(plan, one));
      if (stamp > last - resources && --missing === 0)
        done.resolve({ settledAt: at, p50: lagOf(lags, 0.5), p99: lagOf(lags, 0.99) });
    },
  };
}

function bucketOf(lag: number): number {
  return Math.min(mostMs * perMs - 1, Math.max(0, Math.floor(lag * perMs)));
}

function lagOf(lags: Float64Array, share: number): number {
  const all = lags.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  return lags.findIndex((count) => (seen += count) > all * share) / perMs;
}
