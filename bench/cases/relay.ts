import type { BenchCase } from "../bench-case.ts";
import { measureCrowd, measureHop, measureStart } from "../relay/measure-relay.ts";
import { judged, type Row } from "../row.ts";

/** A relay between an origin and its clients. The floor of the hop is a client of the origin itself, in the same run. */
export const relayCase: BenchCase = {
  name: "relay",
  deadlineSeconds: 240,
  connections: 200,
  async run({ quick, signal, say }) {
    say("1,000 changes a second, directly and through a relay");
    const { direct, relayed, cpu } = await measureHop(quick ? 2_000 : 10_000, signal);
    const hop = "1,000 changes/s through a relay";
    const rows: Row[] = [
      judged({
        case: hop,
        measure: "added to change to read, p50",
        unit: "ms",
        xdstp: relayed - direct,
        target: { of: "value", atMost: 1 },
      }),
      {
        case: hop,
        measure: "change to read, p50",
        unit: "ms",
        floor: direct,
        xdstp: relayed,
        ratio: relayed / direct,
      },
      { case: hop, measure: "relay CPU per change", unit: "us", xdstp: cpu },
    ];
    const [few, many] = quick ? ([200, 2_000] as const) : ([1_000, 10_000] as const);
    say(`${few} and ${many} clients with equal interest`);
    const [small, large] = [await measureCrowd(few, signal), await measureCrowd(many, signal)];
    const crowd = `${many.toLocaleString("en")} clients of a relay with equal interest`;
    rows.push(
      judged({
        case: crowd,
        measure: `messages upstream, floor: with ${few.toLocaleString("en")}`,
        unit: "",
        floor: small.upstream,
        xdstp: large.upstream,
        ratio: large.upstream / small.upstream,
        target: { of: "ratio", atMost: 1 },
      }),
      {
        case: crowd,
        measure: "heap per idle client, 100 on a connection",
        unit: "KB",
        xdstp: large.heap / 1024,
      },
    );
    const members = quick ? 20_000 : 100_000;
    say(`a start from a snapshot of ${members} resources`);
    const { listens, served } = await measureStart(members, signal);
    const start = `start from a snapshot of ${members.toLocaleString("en")}`;
    return [
      ...rows,
      { case: start, measure: "until it listens", unit: "s", xdstp: listens / 1_000 },
      {
        case: start,
        measure: "from then until a client has all, without upstream",
        unit: "s",
        xdstp: served / 1_000,
      },
    ];
  },
};
