/** Seeds of chains of relays that failed once, with what they showed; they run each time. */
export const failedSeeds: readonly {
  readonly seed: number;
  readonly steps: number;
  readonly showed: string;
}[] = [
  {
    seed: 25,
    steps: 6_000,
    showed:
      "an error that a relay had concluded itself was told again when upstream said the same, and with it what a client had rejected",
  },
  {
    seed: 37,
    steps: 6_000,
    showed:
      "what a SotW upstream leaves out of its full state stayed for ever after a restart of its relay",
  },
  {
    seed: 5_037,
    steps: 3_000,
    showed:
      "a delta server said again what was rejected with a missing name when another reason for that came, which delta does not tell",
  },
  {
    seed: 5_475,
    steps: 3_000,
    showed:
      "the checker of what is repeated took any response for the answer to what a relay could not answer yet",
  },
  {
    seed: 5_502,
    steps: 10_000,
    showed: "a correction waited for ever behind a cut that had nothing new to say",
  },
  {
    seed: 10_451,
    steps: 8_000,
    showed:
      "a delta client kept what a wildcard had given when the alias had gone by which alone it was wanted on a new stream",
  },
  {
    seed: 10_134,
    steps: 5_000,
    showed:
      "a wildcard that had timed out while a relay served its snapshot stayed pending when upstream was back",
  },
  {
    seed: 30_143,
    steps: 8_000,
    showed:
      "the world did not mend what was bad at a relay that is asked in SotW and was away when it became good, and then went",
  },
  {
    seed: 30_651,
    steps: 10_200,
    showed:
      "a SotW server said again what was rejected under a version that clients of unwrapped resources are not told, once another spelling of its name had brought it",
  },
  {
    seed: 31_770,
    steps: 10_200,
    showed:
      "what a relay served from its snapshot stayed when its SotW upstream was silent at first, and then came without it",
  },
  {
    seed: 310_000_004,
    steps: 5_000,
    showed:
      "an alias that had gone while nobody asked for it came back with the snapshot, though upstream had said since that it has gone",
  },
  {
    seed: 310_000_060,
    steps: 5_000,
    showed:
      "a SotW server said again what was rejected, had expired without a word, and came back as it was",
  },
  {
    seed: 193_861_677,
    steps: 10_200,
    showed:
      "a delta server removed what its client listed, when an alias of it that had been missing was found in the response that ends the comparison with the list",
  },
];
