/** The result of one mutant, as Stryker reports it. */
export interface TestedMutant {
  /** Absolute, or from the root of the checkout. */
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** Lines and columns count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** The results of the mutants of one package. */
export interface MutationSummary {
  readonly killed: number;
  readonly survived: number;
  /** In percent; 100 without a mutant. */
  readonly score: number;
  /** `file:line:column`, the mutator, the original text and its replacement; in order. */
  readonly survivors: readonly string[];
  /** The same for the killed mutants that ran out of time. Most are endless loops; on a busy machine a slow test can be among them. */
  readonly timedOut: readonly string[];
}

// A mutant that makes a test run for ever is killed. A mutant that could not be run or compiled shows nothing.
const killed = new Set(["Killed", "Timeout"]);
const timedOut = new Set(["Timeout"]);
const survived = new Set(["Survived", "NoCoverage"]);

/** Counts results. `sourceOf` gives the text of a file as it was before the run. */
export function summarise(
  mutants: readonly TestedMutant[],
  sourceOf: (fileName: string) => string,
): MutationSummary {
  const list = (states: ReadonlySet<string>): readonly string[] =>
    mutants
      .filter(({ status }) => states.has(status))
      .sort(byPlace)
      .map((mutant) => describe(mutant, sourceOf(mutant.fileName)));
  const kills = list(killed).length;
  const survivors = list(survived);
  const all = kills + survivors.length;
  return {
    killed: kills,
    survived: survivors.length,
    score: all === 0 ? 100 : (100 * kills) / all,
    survivors,
    timedOut: list(timedOut),
  };
}

function byPlace(a: TestedMutant, b: TestedMutant): number {
  if (a.fileName !== b.fileName) return a.fileName < b.fileName ? -1 : 1;
  return (
    a.location.start.line - b.location.start.line ||
    a.location.start.column - b.location.start.column
  );
}

function describe(
  { fileName, location: { start, end }, mutatorName, replacement, status }: TestedMutant,
  source: string,
): string {
  const was = textBetween(source, start, end);
  return `${fileName}:${String(start.line)}:${String(start.column)} ${mutatorName}${status === "NoCoverage" ? " (no test reaches it)" : ""}: ${shorten(was)} -> ${shorten(replacement ?? "")}`;
}

function textBetween(source: string, start: Position, end: Position): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines
    .map((line, index) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined),
    )
    .join(" ");
}

function shorten(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length > 70 ? `${flat.slice(0, 67)}...` : flat;
}
