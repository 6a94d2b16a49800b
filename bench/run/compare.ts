import type { Contender } from "../contender.ts";
import type { Scenario } from "../scenario.ts";
import { median } from "./percentile.ts";

/** The same scenario under all contenders; `M` are the figures of a run. */
export interface Comparison<M> {
  /** Medians over the runs. */
  readonly floor: M;
  readonly xdstp: M;
  readonly connect?: M;
  /** Median of the ratios of xdstp to the floor, pair by pair: neighbours in time share the noise of the machine. */
  ratio(key: keyof M): number;
}

/** The load of a scenario, for the person who waits. */
interface Load {
  readonly clients: number;
  readonly resources: number;
}

/** Runs a scenario once. */
export type Measure<M, S extends Load = Scenario> = (
  contender: Contender,
  scenario: S,
  signal: AbortSignal,
) => Promise<M>;

/** The settings of a comparison. */
export interface CompareOptions<S extends Load = Scenario> {
  readonly runs: number;
  /** Connect runs once, with this scenario. Absent: not at all. */
  readonly connect?: S;
  readonly signal: AbortSignal;
  /** Told what runs next. */
  readonly say: (text: string) => void;
}

/** Runs floor and xdstp in turns, then Connect. */
export async function compare<
  M extends Readonly<Record<keyof M, number>>,
  S extends Load = Scenario,
>(
  measure: Measure<M, S>,
  scenario: S,
  { runs, connect, signal, say }: CompareOptions<S>,
): Promise<Comparison<M>> {
  const run = async (contender: Contender, of: S, which: string): Promise<M> => {
    say(`${contender}, ${of.clients} clients, ${of.resources} resources, ${which}`);
    return measure(contender, of, signal);
  };
  const pairs: (readonly [floor: M, xdstp: M])[] = [];
  for (let index = 0; index < runs; index++) {
    const which = `run ${index + 1} of ${runs}`;
    pairs.push([await run("floor", scenario, which), await run("xdstp", scenario, which)]);
  }
  return {
    floor: medians(pairs.map(([floor]) => floor)),
    xdstp: medians(pairs.map(([, xdstp]) => xdstp)),
    ...(connect === undefined ? {} : { connect: await run("connect", connect, "one run") }),
    ratio: (key) => median(pairs.map(([floor, xdstp]) => xdstp[key] / floor[key])),
  };
}

function medians<M extends Readonly<Record<keyof M, number>>>(runs: readonly M[]): M {
  const keys = Object.keys(runs[0] ?? {}) as (keyof M)[];
  return Object.fromEntries(keys.map((key) => [key, median(runs.map((run) => run[key]))])) as M;
}
