/** Seeds that failed once, with what they showed; they run each time, but for those that take long: these run with the simulation at its whole size. */
export const failedSeeds: readonly { readonly seed: number; readonly steps: number; readonly showed: string }[] = [
  { seed: 3, steps: 20_000, showed: "a client called an alias missing on a new stream, where the server says nothing since nothing has changed" },
  { seed: 5, steps: 20_000, showed: "a SotW client kept what went just after a wildcard was first answered" },
  { seed: 6, steps: 20_000, showed: "a delta client kept the resource whose alias, by which it was wanted, had gone" },
  { seed: 4, steps: 20_000, showed: "a delta client showed an error of a resource whose alias, by which it was wanted, had gone" },
  { seed: 4, steps: 60_000, showed: "a delta server lost what was refused in the first of two parts, and held back for ever what refers to it" },
  { seed: 101, steps: 60_000, showed: "a SotW server said a refused full state again, since what waits for it was looked at anew" },
  { seed: 331_866_949, steps: 200_000, showed: "a SotW server did not tell a wildcard of a cluster that had stayed for as long as its name was asked for" },
  { seed: 903, steps: 20_000, showed: "a delta server said a refused name again for a removal that had to wait" },
  { seed: 907, steps: 60_000, showed: "a SotW server said a refused name again since another had gone, which it cannot say" },
  { seed: 500_000_005, steps: 400_000, showed: "a delta server lost what was refused in a part of a response when that was repaired before its last part was answered" },
  { seed: 600_000_002, steps: 300_000, showed: "a SotW server took a client that had been cut off between two parts of a response for one that holds all of it" },
  { seed: 600_000_005, steps: 200_000, showed: "a delta server said a refused repair again, since what was refused before it cannot be said any more" },
  { seed: 620_000_003, steps: 800_000, showed: "a SotW server said again what was refused last, since what it had sent before that has gone" },
  { seed: 620_000_004, steps: 800_000, showed: "the same of a name that was asked for anew" },
];
