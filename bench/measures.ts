import type { IntakeMeasurement } from "./polls/measure-intake.ts";
import type { PollMeasurement } from "./polls/measure-polls.ts";
import type { Comparison } from "./run/compare.ts";
import type { ChurnMeasurement } from "./run/measure-churn.ts";
import type { StormMeasurement } from "./run/measure-storm.ts";
import type { Measurement } from "./run/measure.ts";
import { judged, type Row, type Target } from "./row.ts";

interface Measure {
  readonly text: string;
  readonly unit: string;
  /** From the unit of the measurement to that of the table. */
  readonly scale: number;
}

type Key =
  | keyof Measurement
  | keyof StormMeasurement
  | keyof ChurnMeasurement
  | keyof PollMeasurement
  | keyof IntakeMeasurement;

const measures: Readonly<Record<Key, Measure>> = {
  cpuPerPush: { text: "server CPU per push with its ACK", unit: "us", scale: 1 },
  cpuPerPoll: { text: "server CPU per answer with the next poll", unit: "us", scale: 1 },
  cpuPerTaken: { text: "client CPU per poll", unit: "us", scale: 1 },
  p50: { text: "change to read, p50", unit: "ms", scale: 1 },
  p99: { text: "change to read, p99", unit: "ms", scale: 1 },
  rssPerClient: { text: "RSS per idle client", unit: "KB", scale: 1 / 1024 },
  heapPerClient: { text: "heap per idle client", unit: "KB", scale: 1 / 1024 },
  pushBytes: { text: "size of a push", unit: "B", scale: 1 },
  startBytes: { text: "first answer to a client", unit: "KB", scale: 1 / 1024 },
  cpu: { text: "server CPU until all are in sync", unit: "s", scale: 1e-6 },
  ms: { text: "until all are in sync", unit: "s", scale: 1e-3 },
  peakRss: { text: "peak RSS of the server", unit: "MB", scale: 1 / 1024 ** 2 },
  late: { text: "changes not taken in by the end", unit: "%", scale: 100 },
  settled: { text: "newest everywhere after the end", unit: "ms", scale: 1 },
  heapGrowth: { text: "heap afterwards, of that before", unit: "x", scale: 1 },
  rssGrowth: { text: "RSS afterwards, of that before", unit: "x", scale: 1 },
};

/** Targets by measure; a measure with `undefined` is shown without one. */
export type Wanted<K extends Key = keyof Measurement> = Readonly<
  Partial<Record<K, Target | undefined>>
>;

/** A row for each measure that is wanted. */
export function rowsOf<K extends Key>(
  name: string,
  comparison: Comparison<Readonly<Record<K, number>>>,
  wanted: Wanted<K>,
  note?: string,
): readonly Row[] {
  const { floor, connect, xdstp } = comparison;
  return (Object.entries(wanted) as [K, Target | undefined][]).map(([of, target], index) => {
    const { text, unit, scale } = measures[of];
    const ratio = comparison.ratio(of);
    return judged({
      case: name,
      measure: text,
      unit,
      floor: floor[of] * scale,
      ...(connect === undefined ? {} : { connect: connect[of] * scale }),
      xdstp: xdstp[of] * scale,
      // A measure that is zero at the floor cannot be compared.
      ...(Number.isFinite(ratio) ? { ratio } : {}),
      ...(target === undefined ? {} : { target }),
      ...(note === undefined || index > 0 ? {} : { note }),
    });
  });
}

/** At most so many times the floor. */
export function atMostTimes(atMost: number): Target {
  return { of: "ratio", atMost };
}

/** At most this value, in the unit of the row. */
export function atMost(value: number): Target {
  return { of: "value", atMost: value };
}
