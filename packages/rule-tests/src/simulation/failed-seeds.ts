/** Seeds that failed once, with what they showed; they run each time. */
export const failedSeeds: readonly { readonly seed: number; readonly steps: number; readonly showed: string }[] = [
  { seed: 3, steps: 20_000, showed: "a client called an alias missing on a new stream, where the server says nothing since nothing has changed" },
  { seed: 5, steps: 20_000, showed: "a SotW client kept what went just after a wildcard was first answered" },
  { seed: 6, steps: 20_000, showed: "a delta client kept the resource whose alias, by which it was wanted, had gone" },
  { seed: 4, steps: 20_000, showed: "a delta client showed an error of a resource whose alias, by which it was wanted, had gone" },
];
