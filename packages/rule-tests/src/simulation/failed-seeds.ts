/** Seeds that failed once, with what they showed; they run each time, but for those that take long: these run with the simulation at its whole size. Those of more than 300,000 steps leave once a case shows the same: the steps find more with a new seed. */
export const failedSeeds: readonly {
  readonly seed: number;
  readonly steps: number;
  readonly showed: string;
}[] = [
  {
    seed: 3,
    steps: 20_000,
    showed:
      "a client called an alias missing on a new stream, where the server says nothing since nothing has changed",
  },
  {
    seed: 5,
    steps: 20_000,
    showed: "a SotW client kept what went just after a wildcard was first answered",
  },
  {
    seed: 6,
    steps: 20_000,
    showed: "a delta client kept the resource whose alias, by which it was wanted, had gone",
  },
  {
    seed: 4,
    steps: 20_000,
    showed:
      "a delta client showed an error of a resource whose alias, by which it was wanted, had gone",
  },
  {
    seed: 4,
    steps: 60_000,
    showed:
      "a delta server lost what was rejected in the first of two parts, and held back for ever what refers to it",
  },
  {
    seed: 101,
    steps: 60_000,
    showed:
      "a SotW server said a rejected full state again, since what waits for it was looked at anew",
  },
  {
    seed: 331_866_949,
    steps: 200_000,
    showed:
      "a SotW server did not tell a wildcard of a cluster that had stayed for as long as its name was asked for",
  },
  {
    seed: 903,
    steps: 20_000,
    showed: "a delta server said a rejected name again for a removal that had to wait",
  },
  {
    seed: 907,
    steps: 60_000,
    showed: "a SotW server said a rejected name again since another had gone, which it cannot say",
  },
  {
    seed: 600_000_002,
    steps: 300_000,
    showed:
      "a SotW server took a client that had been cut off between two parts of a response for one that holds all of it",
  },
  {
    seed: 600_000_005,
    steps: 200_000,
    showed:
      "a delta server said a rejected repair again, since what was rejected before it cannot be said any more",
  },
  {
    seed: 177_601_835,
    steps: 20_000,
    showed: "the checker of lost names took no notice of a stall that befell a call on its way",
  },
  {
    seed: 177_601_830,
    steps: 650_000,
    showed:
      "a SotW server let a full state expire when what had the shortest TTL of it was wanted no more",
  },
  {
    seed: 177_601_802,
    steps: 800_000,
    showed:
      "a delta server let expire what was asked for by an alias and had been held before the stream",
  },
  {
    seed: 177_601_843,
    steps: 650_000,
    showed:
      "a delta server did not send again what was rejected, since what was bad of it had gone and waited to be removed",
  },
  { seed: 177_601_845, steps: 800_000, showed: "the same, and Endpoints that had gone stayed" },
  {
    seed: 202_938_370,
    steps: 230_000,
    showed:
      "a server kept alive too late what a client held that came back, since the wire was full just then",
  },
  {
    seed: 310_000_075,
    steps: 250_000,
    showed:
      "the checker of repeated rejections took the last part of a response for all that was rejected",
  },
  {
    seed: 202_938_351,
    steps: 450_000,
    showed:
      "the checker of lost names had no time for what went while it was asked for, of a full state",
  },
  { seed: 227_352_533, steps: 640_000, showed: "the same on a connection that stalls" },
  {
    seed: 521_382_303,
    steps: 160_000,
    showed:
      "the checker of repeated rejections took names as requested that came under a nonce of a call that arrived twice",
  },
  {
    seed: 68_933_969,
    steps: 360_000,
    showed:
      "a delta client still showed a resource by a removed alias, since its name was unsubscribed while the response with that removal was on its way",
  },
  {
    seed: 35_868_015,
    steps: 30_000,
    showed:
      "the checker of repeated rejections took no notice of a name that was dropped by a list that crossed a response",
  },
  {
    seed: 68_933_970,
    steps: 100_000,
    showed:
      "a SotW server that waits by name let routes wait for clusters that waited for the routes",
  },
  { seed: 714_400_107, steps: 50_000, showed: "the same" },
  {
    seed: 71_001,
    steps: 155_000,
    showed:
      "a SotW server did not send again what was left of a rejected response, when some of it had gone while the answer was overdue",
  },
  {
    seed: 123_461_467,
    steps: 460_000,
    showed:
      "the checker of repeated rejections took the first part of a larger response for the whole, since the rest waited for a full window",
  },
];
