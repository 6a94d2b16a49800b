import type { RE2JS } from "@bufbuild/re2";

type Instruction = ReturnType<ReturnType<RE2JS["re2"]>["prog"]["getInst"]>;

/** The kinds of instructions of the engine that are looked at; those from `rune` on read something. */
const kinds = { alternatives: 1, capture: 3, emptyWidth: 4, nothing: 7, rune: 8 } as const;

/**
 * A size that the program of a pattern has at least when Envoy compiles it; undefined: not known.
 * Envoy compiles the bytes of a pattern, and each range of bytes is an instruction. Its compiler joins the beginnings of alternatives ("foo|far"), alternatives of one byte ("a|b") and repetitions ("a*a"), which the engine here does not, and leaves out a text behind "^". Such instructions are counted once or not at all.
 */
export function leastProgramSize(
  regex: string,
  compile: (pattern: string) => RE2JS,
): number | undefined {
  const { inst: program, start } = compile(Buffer.from(regex, "utf8").toString("latin1")).re2()
    .prog;
  const assertions = program.flatMap(({ op, arg }) => (op === kinds.emptyWidth ? [arg] : []));
  // If an assertion occurs in several alternatives, such as "^ab|^ac", RE2 joins the parts after it too.
  if (new Set(assertions).size < assertions.length) return undefined;
  const captures = program.filter(({ op }) => op === kinds.capture).length;
  const first = program[start];
  const left = first?.op === kinds.emptyWidth ? textFrom(program, first.out) : new Set();
  const ranges = joinedInstructions(program, start)
    .filter((group) => !group.some((one) => left.has(one)))
    .reduce((sum, group) => sum + Math.min(...group.map(rangesOf), countOf(group)), 0);
  // A failure and a match, and without "^" what is before.
  return ranges + captures + (assertions.length === 0 ? 4 : 2);
}

function isRune({ op }: Instruction): boolean {
  return op >= kinds.rune;
}

/** The instructions of a text from a place on. */
function textFrom(program: readonly Instruction[], from: number): ReadonlySet<unknown> {
  const text = new Set<Instruction>();
  let one = program[from];
  while (one !== undefined && isRune(one) && one.runes.length === 1) {
    text.add(one);
    one = program[one.out];
  }
  return text;
}

/** The instructions that read something, in groups of those that may be one. */
function joinedInstructions(
  program: readonly Instruction[],
  start: number,
): readonly (readonly Instruction[])[] {
  const runes = program.filter(isRune);
  const groups = new Map(runes.map((one) => [one, [one]]));
  const nextOf = new Map(runes.map((one) => [one, nextRunes(program, one.out)]));
  let isChanged = true;
  while (isChanged) {
    isChanged = false;
    for (const list of listsOfAlternatives())
      for (const same of Map.groupBy(list, keyOf).values()) joinAll(same);
    for (const [one, next] of nextOf)
      for (const other of next)
        if (keyOf(one) === keyOf(other) && (isLoop(one) || isLoop(other))) joinAll([one, other]);
  }
  for (const list of listsOfAlternatives())
    for (const sameEnd of Map.groupBy(list, ({ out }) => out).values()) joinAll(sameEnd);
  return [...new Set(groups.values())];

  function listsOfAlternatives(): readonly (readonly Instruction[])[] {
    return [
      nextRunes(program, start),
      ...Array.from(new Set(groups.values()), (group) =>
        group.flatMap((one) => nextOf.get(one) ?? []),
      ),
    ];
  }

  function joinAll([first, ...others]: readonly Instruction[]): void {
    for (const other of others) {
      const to = (first && groups.get(first)) ?? [];
      const from = groups.get(other) ?? [];
      if (to === from) continue;
      to.push(...from);
      for (const moved of from) groups.set(moved, to);
      isChanged = true;
    }
  }

  function isLoop(one: Instruction): boolean {
    return (groups.get(one) ?? []).some((member) => nextOf.get(member)?.includes(member) === true);
  }
}

function keyOf({ runes, arg }: Instruction): string {
  return `${runes.join(",")} ${arg}`;
}

/** Alternatives of one byte may be one range. */
function countOf(group: readonly Instruction[]): number {
  return new Set(group.map(keyOf)).size > 1 ? 1 : Number.POSITIVE_INFINITY;
}

/** The instructions that may read what comes next. */
function nextRunes(program: readonly Instruction[], from: number): readonly Instruction[] {
  const found: Instruction[] = [];
  const seen = new Set([from]);
  for (const at of seen) {
    const one = program[at];
    if (one === undefined) continue;
    if (isRune(one)) found.push(one);
    if (one.op !== kinds.alternatives && one.op !== kinds.nothing) continue;
    seen.add(one.out);
    if (one.op === kinds.alternatives) seen.add(one.arg);
  }
  return found;
}

const [upperA, upperZ, toLower] = [65, 90, 32];
const lastByte = 0xff;

/** The ranges of bytes of an instruction. Ranges of upper case are left out where those of lower case cover them. */
function rangesOf({ runes }: Instruction): number {
  if (runes.length === 1) return 1;
  const ranges = runes.flatMap((from, index) =>
    index % 2 === 0 ? [[from, runes[index + 1] ?? from] as const] : [],
  );
  const has = (rune: number): boolean => ranges.some(([from, to]) => from <= rune && rune <= to);
  const letters = Array.from({ length: upperZ - upperA + 1 }, (_, index) => upperA + index);
  const folds = letters.every((letter) => has(letter) === has(letter + toLower));
  return ranges.filter(
    ([from, to]) => from <= lastByte && !(folds && upperA <= from && to <= upperZ),
  ).length;
}
