import { cpus } from "node:os";
import { allCases } from "./cases/all-cases.ts";
import { formatRows } from "./format-rows.ts";
import { parseOptions, usage, type Options } from "./options.ts";
import type { Row } from "./row.ts";
import { runCase } from "./run/run-case.ts";

const names = allCases.map(({ name }) => name);
const say = (text: string): void => {
  console.error(text);
};

try {
  const options = parseOptions(process.argv.slice(2), names);
  if (options.help) console.log(usage(names));
  else await bench(options);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  say(usage(names));
  process.exitCode = 2;
}

async function bench({ json, quick, cases }: Options): Promise<void> {
  const chosen = allCases.filter(({ name, fullOnly = false }) =>
    cases.length === 0 ? !(quick && fullOnly) : cases.some((one) => name.startsWith(one)),
  );
  const rows: Row[] = [];
  for (const one of chosen) {
    const result = await runCase(one, quick, say);
    rows.push(...result.rows);
    if (result.failed) process.exitCode = 1;
  }
  console.log(
    json ? JSON.stringify(rows, undefined, 2) : `${formatRows(rows)}\n\n${footer(quick)}`,
  );
}

function footer(quick: boolean): string {
  const processors = cpus();
  return `Node ${process.versions.node}, ${processors.length} x ${processors[0]?.model ?? "unknown processor"}, loopback, ${quick ? "one run" : "medians of 3 runs"}. Only ratios count: see bench/README.md.`;
}
