import type { MetricsMeter } from "@xdstp/server";

/** A meter whose measurements are read as text for Prometheus. */
export interface PrometheusMeter {
  readonly meter: MetricsMeter;
  /** Returns the current measurements in the text format 0.0.4 of Prometheus. */
  text(): string;
}

type Labels = Readonly<Record<string, unknown>>;

/** One metric. `lines` returns a line for each of its series. */
interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  lines(): Iterable<string>;
}

type Read = (result: { observe(value: number, labels?: Labels): void }) => unknown;

/** Creates an empty meter. It keeps a series for each set of labels that was measured. */
export function createPrometheusMeter(): PrometheusMeter {
  const families: Family[] = [];
  const meter = {
    createCounter: (name: string, options: Options) => counter(name, options, families),
    createHistogram: (name: string, options: Options) => histogram(name, options, families),
    createObservableCounter: (name: string, options: Options) =>
      observable("counter", name, options, families),
    createObservableGauge: (name: string, options: Options) =>
      observable("gauge", name, options, families),
  };
  return {
    meter: meter as unknown as MetricsMeter,
    text: () =>
      families
        .map((family) =>
          [
            `# HELP ${family.name} ${family.help}`,
            `# TYPE ${family.name} ${family.type}`,
            ...family.lines(),
            "",
          ].join("\n"),
        )
        .join(""),
  };
}

interface Options {
  readonly description?: string;
  readonly advice?: { readonly explicitBucketBoundaries?: readonly number[] };
}

function counter(name: string, { description = "" }: Options, families: Family[]): object {
  const series = new Map<string, number>();
  families.push({
    name,
    type: "counter",
    help: description,
    lines: () => series.entries().map(([labels, value]) => `${name}${labels} ${value}`),
  });
  return {
    add(value: number, labels: Labels = {}) {
      const key = labelText(labels);
      series.set(key, (series.get(key) ?? 0) + value);
    },
  };
}

function observable(
  type: "counter" | "gauge",
  name: string,
  { description = "" }: Options,
  families: Family[],
): object {
  const reads = new Set<Read>();
  const lines = (): readonly string[] => {
    const found: string[] = [];
    for (const read of reads)
      void read({
        observe: (value, labels = {}) => {
          found.push(`${name}${labelText(labels)} ${value}`);
        },
      });
    return found;
  };
  families.push({ name, type, help: description, lines });
  return {
    addCallback: (read: Read) => {
      reads.add(read);
    },
    removeCallback: (read: Read) => {
      reads.delete(read);
    },
  };
}

interface Series {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
}

function histogram(
  name: string,
  { description = "", advice }: Options,
  families: Family[],
): object {
  const bounds = advice?.explicitBucketBoundaries ?? [0.01, 0.1, 1, 10];
  const series = new Map<string, Series>();
  families.push({
    name,
    type: "histogram",
    help: description,
    lines: () => series.values().flatMap((one) => histogramLines(name, bounds, one)),
  });
  return {
    record(value: number, labels: Labels = {}) {
      const key = labelText(labels);
      const one = series.get(key) ?? { labels, counts: [...bounds, Infinity].map(() => 0), sum: 0 };
      series.set(key, one);
      const bucket = bounds.findIndex((bound) => value <= bound);
      const at = bucket === -1 ? bounds.length : bucket;
      one.counts[at] = (one.counts[at] ?? 0) + 1;
      one.sum += value;
    },
  };
}

/** Returns the lines of a histogram. Each bucket counts all values up to its bound, so the counts are cumulative. */
function histogramLines(
  name: string,
  bounds: readonly number[],
  { labels, counts, sum }: Series,
): readonly string[] {
  let total = 0;
  const buckets = counts.map(
    (count, index) =>
      `${name}_bucket${labelText({ ...labels, le: bounds[index] ?? "+Inf" })} ${(total += count)}`,
  );
  return [
    ...buckets,
    `${name}_sum${labelText(labels)} ${sum}`,
    `${name}_count${labelText(labels)} ${total}`,
  ];
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escapeLabel(String(value))}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function escapeLabel(text: string): string {
  return text.replaceAll(/[\\"\n]/g, (character) => escapes[character] ?? character);
}
