import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { shortNameOf } from "@xdstp/resource-types";
import { parseName } from "@xdstp/uri";
import type { TestResource } from "./resources.ts";
import { type Process, startProcess } from "./start-process.ts";
import { until } from "./until.ts";

const bin = resolve(import.meta.dirname, "../../cli/src/bin.ts");
const flags = ["--conditions=@xdstp/source", bin];

/** A running `xdstp serve --json` or `xdstp relay --json`. */
export interface ServeProcess extends Process {
  readonly port: number;
  /** Its events so far, as it printed them. */
  events(): readonly CliLine[];
}

/** The fields of a line of `--json` that suites read. */
export interface CliLine {
  readonly event: string;
  readonly type?: string;
  readonly address?: { readonly port: number };
  readonly reason?: string;
}

/**
 * Starts `xdstp serve` for the time of the test; resolves when it serves what the folder holds. Before that it turns streams away,
 * after which grpcio 1.85 never makes the calls that wait for the channel to be ready.
 */
export async function startServe(
  dir: string,
  port = 0,
  more: readonly string[] = [],
): Promise<ServeProcess> {
  const serve = await startListening(["serve", dir, ...more], port);
  await until(
    "xdstp serve has read the folder",
    () => serve.ended !== undefined || serve.events().some(({ event }) => event === "ready"),
    () => serve.lines,
  );
  return serve;
}

/** Starts `xdstp relay` of a server on this port of the loopback, for the time of the test; resolves when it listens. */
export function startRelay(
  upstream: number,
  port = 0,
  more: readonly string[] = [],
): Promise<ServeProcess> {
  return startListening(["relay", "--server", `127.0.0.1:${upstream}`, ...more], port);
}

async function startListening(
  [command = "", ...args]: readonly string[],
  port: number,
): Promise<ServeProcess> {
  const child = startProcess(process.execPath, [
    ...flags,
    command,
    ...args,
    "--listen",
    `127.0.0.1:${port}`,
    "--json",
  ]);
  const events = (): readonly CliLine[] =>
    child.lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as CliLine);
  const address = await until(
    `xdstp ${command} listens`,
    () => child.ended ?? events().find(({ event }) => event === "listening")?.address,
    () => child.lines,
  );
  if (typeof address === "string")
    throw new Error(`xdstp ${command} ${address}: ${child.lines.join("\n")}`);
  return {
    ...child,
    get ended() {
      return child.ended;
    },
    port: address.port,
    events,
  };
}

/** Starts `xdstp export DIR --watch` of a server on this port of the loopback, for the time of the test; resolves when the first state is written. */
export async function startExport(dir: string, server: number): Promise<Process> {
  const args = ["export", dir, "--server", `127.0.0.1:${server}`, "--watch", "--json"];
  const child = startProcess(process.execPath, [...flags, ...args]);
  await until(
    "xdstp export has written the files",
    () => child.ended !== undefined || existsSync(join(dir, "bootstrap.json")),
    () => child.lines,
  );
  return child;
}

/** Returns the output of `xdstp bootstrap ARGS`. */
export function printBootstrap(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, "bootstrap", ...args], {
    encoding: "utf8",
  });
  if (status !== 0)
    throw new Error(`xdstp bootstrap ${args.join(" ")} ended with ${String(status)}: ${stderr}`);
  return stdout;
}

/** The file that holds a resource in a served folder, and its text. */
export function fileOf({
  typeUrl,
  name,
  body,
}: TestResource): readonly [file: string, text: string] {
  const read = parseName(name);
  const [folder, id] = read.ok ? [read.value.authority, read.value.id] : ["_opaque", name];
  return [`${folder}/${shortNameOf(typeUrl) ?? ""}/${id}.json`, JSON.stringify(body, undefined, 2)];
}
