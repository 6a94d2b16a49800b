import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkBootstrap } from "@xdstp/folder";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createSeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";
import { readConfigurations, useConfigurations } from "../src/configurations.ts";
import { describeProgram } from "../src/describe-program.ts";
import { envoyVerdict } from "../src/envoy-verdict.ts";
import { makeMistakes, type Mistake } from "../src/make-mistakes.ts";

const seed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);
/** The number of mistakes of each kind. */
const each = Number(process.env.XDSTP_MISTAKES ?? 4);
/** Processes of Envoy at a time. */
const parallel = 2;

/** The outcomes of the mistakes of one kind that Envoy rejects. */
interface Row {
  rejected: number;
  found: number;
  line: number;
}

describeProgram("envoy", "configurations with and without mistakes", (command) => {
  const registry = envoyRegistry();

  it("accepts at least 100 configurations in which validate finds nothing", async () => {
    const dir = useConfigurations();
    const names = readConfigurations().map(({ name }) => name);
    const rejected = await mapParallel(names, async (name) => {
      const verdict = await envoyVerdict(command, join(dir, name), dir);
      const { problems } = await checkBootstrap({ file: join(dir, name), registry });
      return verdict === undefined && problems.length === 0 ? [] : [{ name, verdict, problems }];
    });
    expect(rejected.flat()).toEqual([]);
    expect(names.length).toBeGreaterThanOrEqual(100);
  });

  it("rejects mistakes of which validate finds 95 %, on the right line 90 %", async () => {
    const dir = useConfigurations();
    const mistakes = makeMistakes(readConfigurations(), createSeededRandom(seed), each);
    const rows = new Map<string, Row>();
    const missed: string[] = [];
    const falseAlarms: string[] = [];
    await mapParallel(mistakes, async (mistake, index) => {
      const file = join(dir, `mistake-${index}.yaml`);
      writeFileSync(file, mistake.text);
      const verdict = await envoyVerdict(command, file, dir);
      const { problems } = await checkBootstrap({ file, registry });
      const [first] = problems;
      if (verdict === undefined) {
        // Envoy's parser reads some texts that are not YAML, such as one whose quote does not end.
        const isText = mistake.kind.startsWith("YAML:");
        if (first !== undefined && !isText) falseAlarms.push(`${shown(mistake)}: ${first.message}`);
        return;
      }
      const row = rows.get(mistake.kind) ?? { rejected: 0, found: 0, line: 0 };
      rows.set(mistake.kind, row);
      row.rejected++;
      if (first === undefined) missed.push(`${shown(mistake)}: ${verdict.slice(0, 200)}`);
      else row.found++;
      if (problems.some(({ line }) => line !== undefined && mistake.lines.has(line))) row.line++;
    });
    const sum = sumOf([...rows.values()]);
    console.log(
      [
        `seed ${seed}: ${mistakes.length} mistakes; by kind: rejected by Envoy, found, on the right line`,
        ...[...rows].map(([kind, row]) => `${kind.padEnd(52)} ${shownRow(row)}`),
        `${"all".padEnd(52)} ${shownRow(sum)}`,
        ...missed.map((one) => `missed: ${one}`),
      ].join("\n"),
    );
    expect(falseAlarms).toEqual([]);
    expect(sum.rejected).toBeGreaterThanOrEqual(100 * each);
    expect(rows.size).toBeGreaterThanOrEqual(100);
    expect(sum.found / sum.rejected).toBeGreaterThanOrEqual(0.95);
    expect(sum.line / sum.rejected).toBeGreaterThanOrEqual(0.9);
  }, 300_000);
});

function shown({ kind, from, lines }: Mistake): string {
  return `${kind} (${from}, line ${[...lines].slice(0, 3).join(" or ")})`;
}

function shownRow({ rejected, found, line }: Row): string {
  return [rejected, found, line].map((count) => String(count).padStart(4)).join("");
}

function sumOf(rows: readonly Row[]): Row {
  const sum: Row = { rejected: 0, found: 0, line: 0 };
  for (const { rejected, found, line } of rows) {
    sum.rejected += rejected;
    sum.found += found;
    sum.line += line;
  }
  return sum;
}

async function mapParallel<T, R>(
  items: readonly T[],
  run: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await run(items[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return results;
}
