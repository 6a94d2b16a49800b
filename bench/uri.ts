import { pathToFileURL } from "node:url";
import { globMatches, globOf, nameKey, parseLocator, parseName, printName } from "@xdstp/uri";

/** One line of the bench table. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The ratio to the floor of the same input, `new URL()`. Absent on the floor itself. */
  readonly ratio?: number;
}

const distinctNames = 1000;
const cluster = "envoy.config.endpoint.v3.ClusterLoadAssignment";

/** The names that clients ask for: a plain name, one with parameters in canonical order, the same in another order, one with escapes. */
const inputs: Readonly<Record<string, readonly string[]>> = {
  plain: makeNames((index) => `ns-${index % 50}/service-${index}`),
  parameters: makeNames(
    (index) => `ns-${index % 50}/service-${index}?direction=inbound&zone=z${index % 3}`,
  ),
  "parameters, unsorted": makeNames(
    (index) => `ns-${index % 50}/service-${index}?zone=z${index % 3}&direction=inbound`,
  ),
  escapes: makeNames((index) => `ns-${index % 50}/service%20${index}`),
};

/** Times parse, print and match next to `new URL()`, which understands less of a name and breaks some (xdstp-names.md section 13). */
export function benchUri(options: { readonly quick: boolean }): readonly Row[] {
  const rounds = options.quick ? 100 : 1000;
  return Object.entries(inputs).flatMap(([label, names]) => rowsOf(label, names, rounds));
}

function rowsOf(label: string, names: readonly string[], rounds: number): readonly Row[] {
  const parsed = names
    .map((name) => parseName(name))
    .flatMap((result) => (result.ok ? [result.value] : []));
  const globs = names.map((name) => globOf(name) ?? "");
  const floor = nanosecondsPerCall((index) => new URL(names[index] ?? ""), names.length, rounds);
  const row = (name: string, call: (index: number) => unknown): Row => {
    const value = nanosecondsPerCall(call, names.length, rounds);
    return { name: `uri ${name} (${label})`, value, unit: "ns", ratio: value / floor };
  };
  return [
    { name: `uri floor: new URL() (${label})`, value: floor, unit: "ns" },
    row("parseName", (index) => parseName(names[index] ?? "")),
    row("parseLocator", (index) => parseLocator(names[index] ?? "")),
    row("printName", (index) => parsed[index] && printName(parsed[index])),
    row("nameKey", (index) => nameKey(names[index] ?? "")),
    row("globOf", (index) => globOf(names[index] ?? "")),
    row("globMatches", (index) => globMatches(globs[index] ?? "", names[index] ?? "")),
  ];
}

/** The best of many rounds, each over all inputs: what the machine can do when nothing else runs on it. */
function nanosecondsPerCall(
  call: (index: number) => unknown,
  count: number,
  rounds: number,
): number {
  let best = Number.POSITIVE_INFINITY;
  let kept: unknown;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    for (let index = 0; index < count; index++) kept = call(index);
    best = Math.min(best, performance.now() - start);
  }
  if (kept === undefined) throw new Error("a bench that does nothing measures nothing");
  return (best * 1e6) / count;
}

/** Flat strings, as a decoder gives them; the engine keeps those from a template in pieces. */
function makeNames(idOf: (index: number) => string): readonly string[] {
  const make = (index: number): string =>
    `xdstp://authority-${index % 7}.example.com/${cluster}/${idOf(index)}`;
  return Array.from({ length: distinctNames }, (_, index) => Buffer.from(make(index)).toString());
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const { name, value, unit, ratio } of benchUri({
    quick: process.argv.includes("--quick"),
  })) {
    console.log(
      `${name.padEnd(50)} ${value.toFixed(0).padStart(6)} ${unit}${ratio === undefined ? "" : `  ${ratio.toFixed(2)} x`}`,
    );
  }
}
