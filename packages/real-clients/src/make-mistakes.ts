import type { SeededRandom } from "@xdstp/testing";
import {
  isMap,
  isPair,
  isSeq,
  LineCounter,
  type Node,
  parse,
  parseDocument,
  stringify,
} from "yaml";
import { mistakeKinds } from "./mistake-kinds.ts";
import { type Json, type JsonPath, placesIn, withValue } from "./mistake-places.ts";

/** A configuration with one mistake in it. */
export interface Mistake {
  readonly kind: string;
  /** The configuration into which it was put. */
  readonly from: string;
  readonly text: string;
  /** The lines that are a right answer, from 1. */
  readonly lines: ReadonlySet<number>;
}

/** A configuration without a mistake. */
export interface Configuration {
  readonly name: string;
  readonly text: string;
}

/** Makes up to `each` mistakes of every kind, spread over the configurations. The same seed makes the same ones. */
export function makeMistakes(
  configurations: readonly Configuration[],
  random: SeededRandom,
  each: number,
): readonly Mistake[] {
  const parsed = configurations.map(({ name, text }) => {
    const root = parse(text, { version: "1.1" }) as Json;
    return { name, root, places: placesIn(root) };
  });
  const ofValues = mistakeKinds.flatMap(({ name, at, change }, label) => {
    const draw = random.fork(label);
    const sites = parsed.flatMap((one) =>
      one.places.filter((place) => at.test(place.name)).map((place) => ({ ...one, place })),
    );
    const made: Mistake[] = [];
    const used = new Map<string, number>();
    for (const { name: from, root, place } of shuffled(sites, draw)) {
      if (made.length === each) break;
      const changed = change(place);
      if (changed === undefined || (used.get(from) ?? 0) > 1) continue;
      used.set(from, (used.get(from) ?? 0) + 1);
      let value = root;
      for (const [path, one] of changed.edits) value = withValue(value, path, one);
      const text = textOf(value);
      made.push({ kind: name, from, text, lines: linesOf(text, changed.faults) });
    }
    return made;
  });
  const ofText = textKinds.flatMap(({ name, change }, label) => {
    const draw = random.fork(1000 + label);
    return shuffled(parsed, draw)
      .slice(0, each)
      .flatMap(({ name: from, root }): readonly Mistake[] => {
        const lines = textOf(root).split("\n");
        const at = change(lines, draw);
        return at === undefined
          ? []
          : [{ kind: name, from, text: lines.join("\n"), lines: new Set(at) }];
      });
  });
  return [...ofValues, ...ofText];
}

/** Mistakes in the text; each changes the lines, and returns the numbers of those that are right. */
const textKinds: readonly {
  readonly name: string;
  readonly change: (lines: string[], random: SeededRandom) => readonly number[] | undefined;
}[] = [
  {
    name: "YAML: tab in the indent",
    change: (lines, random) =>
      changeLine(lines, random, /^ {4,}[a-z_]+:/, (line) => line.replace("  ", "\t")),
  },
  {
    name: "YAML: key without a space behind its colon",
    change: (lines, random) =>
      changeLine(lines, random, /^ +[a-z_]+: [a-z0-9]+$/, (line) => line.replace(": ", ":")),
  },
  {
    name: "YAML: quote without its end",
    change: (lines, random) =>
      changeLine(lines, random, /^ +[a-z_]+: [a-z0-9]+$/, (line) => line.replace(": ", ': "')),
  },
  {
    name: "YAML: bracket without its end",
    change: (lines, random) =>
      changeLine(lines, random, /^ +[a-z_]+: [a-z0-9]+$/, (line) => line.replace(": ", ": [")),
  },
  {
    name: "YAML: one space too many",
    change: (lines, random) =>
      changeLine(lines, random, /^ {4,}[a-z_]+: [a-z0-9]+$/, (line) => ` ${line}`),
  },
  {
    name: "YAML: one space too few",
    change: (lines, random) =>
      changeLine(lines, random, /^ {4,}[a-z_]+: [a-z0-9]+$/, (line) => line.slice(1)),
  },
  {
    name: "YAML: colon in a text",
    change: (lines, random) =>
      changeLine(lines, random, /^ +[a-z_]+: [a-z]+$/, (line) => `${line}: more`),
  },
  {
    name: "YAML: alias without its anchor",
    change: (lines, random) =>
      changeLine(lines, random, /^ +[a-z_]+: [a-z]+$/, (line) => line.replace(": ", ": *")),
  },
];

/** A parser may notice on the line before or behind: both are right. */
function changeLine(
  lines: string[],
  random: SeededRandom,
  fitting: RegExp,
  change: (line: string) => string,
): readonly number[] | undefined {
  const fit = lines.flatMap((line, at) => (fitting.test(line) ? [at] : []));
  if (fit.length === 0) return undefined;
  const at = random.pick(fit);
  lines[at] = change(lines[at] ?? "");
  return [at, at + 1, at + 2];
}

function textOf(value: Json): string {
  return stringify(value, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 0 });
}

/** The lines of the keys and values at these places, or of what is left of the way to them. */
function linesOf(text: string, paths: readonly JsonPath[]): ReadonlySet<number> {
  const counter = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: counter, version: "1.1" });
  const lines = new Set<number>();
  for (const path of paths) {
    let node: unknown = contents;
    let found: readonly unknown[] = [node];
    for (const step of path) {
      const next: unknown = isMap(node)
        ? node.items.find(({ key }) => String(key) === String(step))
        : isSeq(node)
          ? node.items[Number(step)]
          : undefined;
      if (next === undefined) break;
      node = isPair(next) ? next.value : next;
      found = isPair(next) ? [next.key, next.value] : [next];
    }
    for (const one of found) {
      const start = (one as Node | null)?.range?.[0];
      if (start !== undefined) lines.add(counter.linePos(start).line);
    }
  }
  return lines;
}

function shuffled<T>(items: readonly T[], random: SeededRandom): readonly T[] {
  const left = [...items];
  for (let at = left.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [left[at], left[other]] = [left[other] as T, left[at] as T];
  }
  return left;
}
