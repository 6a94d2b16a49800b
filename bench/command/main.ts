/*
 * Times calls of the built `xdstp`: `node --conditions=@xdstp/source bench/command/main.ts [CHECKOUT...]`.
 *
 * Several checkouts, each built, take their turns, so that they are compared on the same machine at the same time. Default: this one.
 * `RUNS=20` sets the number of runs of each call, of which the first one is not counted.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { dump } from "js-yaml";
import { median } from "../run/percentile.ts";

const runs = Number(process.env.RUNS ?? 11);
const given = process.argv.slice(2).map((path) => resolve(path));
const checkouts = given.length === 0 ? [join(import.meta.dirname, "../..")] : given;
const files = 10_000;
/** Loaded before the command, also by the floor: writes the CPU time of the process when it ends. */
const usageHook = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from "node:fs";
  process.on("exit", () => writeSync(3, JSON.stringify(process.cpuUsage())));
`)}`;

/** The times of one call, in milliseconds. */
interface Cost {
  readonly elapsed: number;
  readonly user: number;
  readonly system: number;
}

const folder = mkdtempSync(join(tmpdir(), "xdstp-command-"));
try {
  writeFolder("yaml", (name) => dump(clusterOf(name)));
  writeFolder("json", (name) => JSON.stringify(clusterOf(name), undefined, 2));
  const one = join(folder, "yaml/_opaque/clusters/cluster-0.yaml");
  await compare("node -e 0, the floor", [[process.execPath, "-e", "0"]]);
  await compare("--version", commands("--version"));
  await compare("--help", commands("--help"));
  await compare("validate, one file", commands("validate", one));
  for (const form of ["yaml", "json"])
    await compare(
      `validate, ${files.toLocaleString("en")} files of ${form}`,
      commands("validate", join(folder, form)),
    );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function commands(...args: readonly string[]): readonly (readonly string[])[] {
  return checkouts.map((path) => [
    process.execPath,
    join(path, "packages/cli/dist/bin.js"),
    ...args,
  ]);
}

/** Prints the medians of each command. They take turns. */
async function compare(title: string, calls: readonly (readonly string[])[]): Promise<void> {
  const costs = calls.map((): Cost[] => []);
  for (let run = 0; run < runs; run++)
    for (const [at, call] of calls.entries()) {
      const cost = await costOf(call);
      if (run > 0) costs[at]?.push(cost);
    }
  console.log(title);
  for (const [at, measured] of costs.entries()) {
    const of = (name: keyof Cost): string =>
      `${name} ${median(measured.map((cost) => cost[name])).toFixed(0)} ms`;
    const where = calls.length === 1 ? "" : `  ${checkouts[at] ?? ""}`;
    console.log(`  ${of("elapsed")}, ${of("user")}, ${of("system")}${where}`);
  }
}

async function costOf([program = "", ...args]: readonly string[]): Promise<Cost> {
  const start = performance.now();
  const child = spawn(program, ["--import", usageHook, ...args], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const pipe = child.stdio[3];
  let usage = "";
  pipe?.on("data", (text: Buffer) => {
    usage += text.toString();
  });
  const [code] = (await once(child, "close")) as [number | null];
  const elapsed = performance.now() - start;
  if (code !== 0) throw new Error(`${args.join(" ")} has ended with exit code ${String(code)}`);
  const { user, system } = JSON.parse(usage) as NodeJS.CpuUsage;
  return { elapsed, user: user / 1_000, system: system / 1_000 };
}

function writeFolder(form: string, textOf: (name: string) => string): void {
  const clusters = join(folder, form, "_opaque/clusters");
  mkdirSync(clusters, { recursive: true });
  for (let index = 0; index < files; index++)
    writeFileSync(join(clusters, `cluster-${index}.${form}`), textOf(`cluster-${index}`));
}

function clusterOf(name: string): object {
  const address = { socket_address: { address: "127.0.0.1", port_value: 8080 } };
  return {
    connect_timeout: "1s",
    type: "STRICT_DNS",
    lb_policy: "ROUND_ROBIN",
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  };
}
