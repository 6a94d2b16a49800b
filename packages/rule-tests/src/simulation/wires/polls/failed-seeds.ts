/** Seeds of polls over REST that failed once, with what they showed; they run each time. */
export const failedSeeds: readonly {
  readonly seed: number;
  readonly steps: number;
  readonly showed: string;
}[] = [
  {
    seed: 40,
    steps: 6_000,
    showed:
      "a client kept the part that it had taken of a rejected response, since it came to a server that was back at the version of before",
  },
  {
    seed: 11,
    steps: 6_000,
    showed:
      "a server did not send again what a client had before the response that it rejected a part of",
  },
  {
    seed: 53,
    steps: 6_000,
    showed:
      "a client ended a subscription to a name and subscribed to it again; its request had the old version, so the server answered that nothing is new",
  },
  {
    seed: 880_191,
    steps: 4_000,
    showed: "the same for a name that was left and subscribed to again while no stream was open",
  },
];
