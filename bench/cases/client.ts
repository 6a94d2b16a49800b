import type { BenchCase } from "../bench-case.ts";
import {
  measureIngest,
  measureNames,
  type Decode,
  type IngestMeasurement,
} from "../ingest/measure-ingest.ts";
import { judged, type Row } from "../row.ts";

const [few, many] = [1_000, 100_000];

/** The client without a wire: what comes in, what changes, what is asked for. The floor decodes the same bytes and does nothing with them. */
export const clientCase: BenchCase = {
  name: "client",
  deadlineSeconds: 180,
  connections: 0,
  async run({ quick, say }) {
    const rows: Row[] = [];
    for (const decode of ["on-demand", "on-arrival"] as const)
      rows.push(...(await ingestRows(decode, quick, say)));
    say("client: 10,000 names at once");
    const { requests, bytes } = await measureNames(10_000);
    rows.push(
      judged({
        case: "10,000 names watched at once",
        measure: "requests",
        unit: "",
        xdstp: requests,
        target: { of: "value", atMost: 1 },
      }),
    );
    rows.push({
      case: "10,000 names watched at once",
      measure: "size of the request",
      unit: "KB",
      xdstp: bytes / 1_000,
    });
    return rows;
  },
};

async function ingestRows(
  decode: Decode,
  quick: boolean,
  say: (text: string) => void,
): Promise<readonly Row[]> {
  const count = quick ? many / 5 : many;
  await measureIngest(5_000, decode); // compiled by then
  const small = await best(few, decode, quick, say);
  const large = await best(count, decode, quick, say);
  const name = `${count.toLocaleString("en")} members of a glob, decoded ${decode.replace("-", " ")}`;
  return [
    {
      case: name,
      measure: "client CPU per resource taken in",
      unit: "us",
      floor: large.floor,
      xdstp: large.xdstp,
      ratio: large.xdstp / large.floor,
    },
    {
      case: name,
      measure: "resources per second of CPU",
      unit: "",
      xdstp: 1e6 / large.xdstp,
      note: "grpc-go by name, over SotW, on the machine of performance-limits.md: 160,000 to 240,000",
    },
    judged({
      case: name,
      measure: `one change, of that among ${few.toLocaleString("en")}`,
      unit: "x",
      floor: 1,
      xdstp: large.change / small.change,
      ratio: large.change / small.change,
      target: { of: "ratio", atMost: 1.3 },
    }),
  ];
}

/** The least of several runs: what disturbs a run only adds to it. */
async function best(
  count: number,
  decode: Decode,
  quick: boolean,
  say: (text: string) => void,
): Promise<IngestMeasurement> {
  say(`client: ${count} members, ${decode}`);
  const runs: IngestMeasurement[] = [];
  for (let run = 0; run < (quick ? 1 : 3); run++) runs.push(await measureIngest(count, decode));
  const least = (of: keyof IngestMeasurement): number => Math.min(...runs.map((run) => run[of]));
  return { floor: least("floor"), xdstp: least("xdstp"), change: least("change") };
}
