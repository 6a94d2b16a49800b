/**
 * The cost of one call of a native function: the greatest number of characters or elements that it
 * reads.
 */
type Cost = (
  self: { readonly length: number },
  args: readonly unknown[],
  result: unknown,
) => number;

const one: Cost = () => 1;
const all: Cost = (self) => self.length;
const given: Cost = (_, args) => String(args[0]).length;
const taken: Cost = (_, __, result) => 1 + String(result).length;
const searched: Cost = (self, args, result) =>
  1 +
  Math.max(
    0,
    (typeof result === "number" && result >= 0 ? result : self.length) - Number(args[1] ?? 0),
  );
const searchedBack: Cost = (self, args, result) =>
  1 + Math.min(self.length, Number(args[1] ?? self.length)) - Number(result);

const strings: Readonly<Record<string, Cost>> = {
  charCodeAt: one,
  charAt: one,
  at: one,
  codePointAt: one,
  startsWith: given,
  endsWith: given,
  slice: taken,
  substring: taken,
  indexOf: searched,
  lastIndexOf: searchedBack,
  includes: all,
  search: all,
  match: all,
  replace: all,
  replaceAll: all,
  split: all,
  trim: all,
  padStart: one,
};
const lists: Readonly<Record<string, Cost>> = {
  push: one,
  map: all,
  some: all,
  find: all,
  filter: all,
  flatMap: all,
  join: all,
  includes: all,
  indexOf: all,
};

/**
 * Counts the characters and elements that native functions read while `run` runs.
 * The package reads text only through these functions, so the count is its work on any machine.
 */
export function countSteps(run: () => void): number {
  let steps = 0;
  const restore = [
    ...patchAll(String.prototype, strings, (cost) => {
      steps += cost;
    }),
    ...patchAll(Array.prototype, lists, (cost) => {
      steps += cost;
    }),
    ...patchAll(RegExp.prototype, { test: given }, (cost) => {
      steps += cost;
    }),
    ...patchAll(Map.prototype, { get: one, set: one, has: one }, (cost) => {
      steps += cost;
    }),
    ...patchAll(globalThis, { decodeURIComponent: given, encodeURIComponent: given }, (cost) => {
      steps += cost;
    }),
    ...patchAll(JSON, { stringify: given }, (cost) => {
      steps += cost;
    }),
    patchSort((cost) => {
      steps += cost;
    }),
  ];
  try {
    run();
  } finally {
    for (const undo of restore) undo();
  }
  return steps;
}

function patchAll(
  target: object,
  costs: Readonly<Record<string, Cost>>,
  count: (cost: number) => void,
): (() => void)[] {
  return Object.entries(costs).map(([key, cost]) => {
    const original = Reflect.get(target, key) as (...args: unknown[]) => unknown;
    return patch(
      target,
      key,
      function (this: { readonly length: number }, ...args: unknown[]): unknown {
        try {
          const result = Reflect.apply(original, this, args);
          count(cost(this, args, result));
          return result;
        } catch (error) {
          count(given(this, args, undefined));
          throw error;
        }
      },
    );
  });
}

/** Counts the comparisons of a sort. */
function patchSort(count: (cost: number) => void): () => void {
  const original = Reflect.get(Array.prototype, "sort") as (
    compare: (a: unknown, b: unknown) => number,
  ) => unknown[];
  return patch(
    Array.prototype,
    "sort",
    function (this: unknown[], compare: (a: unknown, b: unknown) => number): unknown[] {
      return Reflect.apply(original, this, [
        (a: unknown, b: unknown) => {
          count(1);
          return compare(a, b);
        },
      ]);
    },
  );
}

function patch(target: object, key: string, replacement: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, key);
  if (before === undefined) throw new Error(`there is no native ${key}`);
  Object.defineProperty(target, key, { ...before, value: replacement });
  return () => {
    Object.defineProperty(target, key, before);
  };
}
