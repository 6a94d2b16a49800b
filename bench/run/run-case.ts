import type { BenchCase } from "../bench-case.ts";
import type { Row } from "../row.ts";
import { openFilesFor, openFilesProblem } from "./open-files.ts";

/** The end of a case. */
export interface CaseResult {
  readonly rows: readonly Row[];
  /** It was begun and has no figures. */
  readonly failed: boolean;
}

/** Runs a case within its deadline. What goes wrong becomes a row, so that the other cases still run. */
export async function runCase(
  one: BenchCase,
  quick: boolean,
  say: (text: string) => void,
): Promise<CaseResult> {
  const problem =
    one.connections === 0 ? undefined : openFilesProblem(openFilesFor(one.connections));
  if (problem !== undefined) return { rows: [empty(one, problem)], failed: false };
  const deadline = new AbortController();
  const late = new Error(`stopped at its deadline of ${one.deadlineSeconds} s`);
  const timer = setTimeout(() => {
    deadline.abort(late);
  }, one.deadlineSeconds * 1000);
  try {
    return {
      rows: await one.run({
        quick,
        signal: deadline.signal,
        say: (text) => {
          say(`${one.name}: ${text}`);
        },
      }),
      failed: false,
    };
  } catch (error) {
    return {
      rows: [empty(one, error instanceof Error ? error.message : String(error))],
      failed: true,
    };
  } finally {
    clearTimeout(timer);
  }
}

function empty({ name }: BenchCase, note: string): Row {
  return { case: name, measure: "", unit: "", note };
}
