import type { BenchCase } from "../bench-case.ts";
import { atMostTimes, rowsOf, type Wanted } from "../measures.ts";
import { measurePolls, type PollMeasurement } from "../polls/measure-polls.ts";
import type { PollScenario } from "../polls/poll-scenario.ts";
import { compare } from "../run/compare.ts";

const wanted: Wanted<keyof PollMeasurement> = {
  cpuPerPoll: atMostTimes(3),
  p50: undefined,
  p99: undefined,
  rssPerClient: atMostTimes(2),
  heapPerClient: undefined,
  pushBytes: undefined,
};

/** One resource over native HTTP changes, and the long polls of all clients are answered. */
export const longPollsCase: BenchCase = {
  name: "long-polls",
  deadlineSeconds: 300,
  connections: 10_000,
  async run({ quick, signal, say }) {
    const scenario: PollScenario = {
      protocol: "native",
      ending: "change-while-waiting",
      clients: quick ? 1_000 : 10_000,
      resources: 1,
      warmUpRounds: 6,
      rounds: 15,
    };
    const comparison = await compare(measurePolls, scenario, { runs: quick ? 1 : 3, signal, say });
    return rowsOf(
      `${scenario.clients.toLocaleString("en")} long polls over HTTP/1.1`,
      comparison,
      wanted,
    );
  },
};
