/** Seeds of native HTTP that failed once, with what they showed; they run each time. */
export const failedSeeds: readonly {
  readonly seed: number;
  readonly steps: number;
  readonly showed: string;
}[] = [
  {
    seed: 7,
    steps: 1_000,
    showed: "a client took the answer of another cache that was older than the one before",
  },
  {
    seed: 5,
    steps: 1_000,
    showed:
      "two replicas of which one was behind led clients in a circle, for as long as caches store the answer to a poll",
  },
  {
    seed: 944_218_011,
    steps: 10_000,
    showed: "the same while the origin was away, for as long as caches may use an answer then",
  },
];
