import type { BenchCase, CaseContext } from "../bench-case.ts";
import { atMostTimes, rowsOf, type Wanted } from "../measures.ts";
import { measureIntake } from "../polls/measure-intake.ts";
import { measurePolls, type PollMeasurement } from "../polls/measure-polls.ts";
import type { PollScenario, RestProtocol } from "../polls/poll-scenario.ts";
import type { Row } from "../row.ts";
import { compare } from "../run/compare.ts";

const resources = 10;
const forms: Readonly<Record<RestProtocol, string>> = {
  "rest-json": "JSON",
  "rest-protobuf": "protobuf",
};

/** The rows of each way in which polls end. */
const endings: readonly {
  readonly ending: PollScenario["ending"];
  readonly text: string;
  readonly wanted: Wanted<keyof PollMeasurement>;
}[] = [
  { ending: "unchanged", text: "that end with 304", wanted: { cpuPerPoll: atMostTimes(4) } },
  {
    ending: "change",
    text: "that bring a change",
    wanted: { cpuPerPoll: atMostTimes(4), pushBytes: undefined },
  },
  {
    ending: "change-while-waiting",
    text: "that wait for a change",
    wanted: {
      cpuPerPoll: atMostTimes(4),
      p50: undefined,
      p99: undefined,
      rssPerClient: atMostTimes(4),
      heapPerClient: undefined,
    },
  },
];

/** Polls for ten clusters over REST: the server under the polls of many clients, and one client that polls without a pause. */
export const restPollsCase: BenchCase = {
  name: "rest-polls",
  deadlineSeconds: 1_200,
  connections: 1_000,
  async run(context) {
    const rows: Row[] = [];
    for (const protocol of ["rest-json", "rest-protobuf"] as const) {
      for (const one of endings) rows.push(...(await serverRows(protocol, one, context)));
      rows.push(...(await clientRows(protocol, context)));
    }
    return rows;
  },
};

async function serverRows(
  protocol: RestProtocol,
  { ending, text, wanted }: (typeof endings)[number],
  { quick, signal, say }: CaseContext,
): Promise<readonly Row[]> {
  const clients = quick ? 200 : 1_000;
  const name = `${clients.toLocaleString("en")} polls over REST in ${forms[protocol]} ${text}`;
  say(name);
  const scenario = { protocol, ending, clients, resources, warmUpRounds: 6, rounds: 15 };
  const comparison = await compare(measurePolls, scenario, { runs: quick ? 1 : 3, signal, say });
  return rowsOf(name, comparison, wanted);
}

async function clientRows(
  protocol: RestProtocol,
  { quick, signal, say }: CaseContext,
): Promise<readonly Row[]> {
  const name = `a client over REST in ${forms[protocol]}, each poll brings a change`;
  say(name);
  const polls = quick ? 2_000 : 10_000;
  const scenario = { protocol, clients: 1, resources, warmUp: 1_000, polls } as const;
  const comparison = await compare(measureIntake, scenario, { runs: quick ? 1 : 3, signal, say });
  return rowsOf(name, comparison, { cpuPerTaken: undefined });
}
