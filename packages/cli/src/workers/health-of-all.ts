import type { Clock } from "@xdstp/core";
import type { Health } from "@xdstp/server";
import type { FromChild } from "./messages.ts";
import type { Child } from "./start-child.ts";

/** Milliseconds to wait for the health of a process; after that its last answer is used. This is shorter than the limit for the metrics of the workers, which are requested after it. */
const waitMs = 1_000;

/** The health of a relay with workers. */
export interface HealthOfAll {
  /** Returns the health of the servers upstream and of the certificates for them, from the first process. Callers at the same time share one request. */
  upstreams(): Promise<readonly Health[]>;
  /** Returns the same and the files that the workers follow. A file is stale if one worker reports it as stale. */
  rows(): Promise<readonly Health[]>;
  observe(child: Child, message: FromChild): void;
  /** Notes that a process has ended. If it was the first process, all servers upstream are stale until the next first process answers. Rows of a worker are removed. */
  gone(child: Child): void;
}

/** Creates the health of a relay, with nothing known yet. `children` returns the current processes; the first one connects upstream. */
export function createHealthOfAll(children: () => readonly Child[], clock: Clock): HealthOfAll {
  const newest = new Map<number, readonly Health[]>();
  const asked = new Map<number, Question>();
  const ask = async (child: Child): Promise<void> => {
    if (!child.isOpen()) return;
    let question = asked.get(child.worker);
    if (question === undefined) {
      question = openQuestion(clock, () => asked.delete(child.worker));
      asked.set(child.worker, question);
      child.send({ kind: "health" });
    }
    await question.answered;
  };
  const upstreams = async (): Promise<readonly Health[]> => {
    await Promise.all(
      children()
        .filter(({ worker }) => worker === 0)
        .map(ask),
    );
    return newest.get(0) ?? [];
  };
  return {
    upstreams,
    async rows() {
      const workers = children().filter(({ worker }) => worker > 0);
      const [first] = await Promise.all([upstreams(), ...workers.map(ask)]);
      return [...first, ...merged(workers.flatMap(({ worker }) => newest.get(worker) ?? []))];
    },
    observe({ worker }, message) {
      if (message.kind !== "health") return;
      newest.set(worker, message.rows);
      asked.get(worker)?.end();
    },
    gone({ worker }) {
      if (worker > 0) newest.delete(worker);
      else
        newest.set(
          0,
          (newest.get(0) ?? []).map((row) => ({
            ...row,
            ...(row.kind === "upstream" && {
              stale: row.stale ?? { since: clock.wallTime(), reason: "its stream has ended" },
            }),
          })),
        );
      asked.get(worker)?.end();
    },
  };
}

interface Question {
  readonly answered: Promise<void>;
  end(): void;
}

function openQuestion(clock: Clock, ended: () => void): Question {
  const { promise: answered, resolve: done }: PromiseWithResolvers<void> = Promise.withResolvers();
  const end = (): void => {
    timer.cancel();
    ended();
    done();
  };
  const timer = clock.after(waitMs, end);
  return { answered, end };
}

/** Returns one row for each kind and name: the one that has been stale for the longest time, if one is stale. */
function merged(rows: readonly Health[]): readonly Health[] {
  const byName = new Map<string, Health>();
  for (const row of rows) {
    const key = `${row.kind} ${row.name}`;
    const before = byName.get(key);
    if (before === undefined || staleSince(row) < staleSince(before)) byName.set(key, row);
  }
  return [...byName.values()];
}

function staleSince({ stale }: Health): number {
  return stale?.since ?? Infinity;
}
