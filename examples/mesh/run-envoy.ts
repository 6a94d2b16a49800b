import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "./wait-until.ts";

/** An Envoy that was started here. */
export interface RunningEnvoy {
  /** Its admin page. */
  readonly admin: string;
  /** The port of its listener. It may have been 0 in the configuration. */
  readonly edge: string;
  close(): Promise<void>;
}

/** Starts Envoy; resolves when its first listener is there. A listener is named before its port takes connections. */
export async function runEnvoy(
  binary: string,
  bootstrap: unknown,
  signal: AbortSignal,
): Promise<RunningEnvoy> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-envoy-"));
  const child = await spawnEnvoy(binary, dir, bootstrap);
  const close = async (): Promise<void> => {
    await end(child.process);
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const admin = await waitUntil("Envoy has no admin page", () => adminOf(dir, child), signal);
    const edge = await waitUntil("Envoy has no listener", () => edgeOf(admin, child), signal);
    return { admin, edge, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Child {
  readonly process: ChildProcess;
  /** Why it is no longer there. */
  failure(): string | undefined;
}

async function spawnEnvoy(binary: string, dir: string, bootstrap: unknown): Promise<Child> {
  const file = join(dir, "bootstrap.json");
  await writeFile(file, JSON.stringify(bootstrap));
  const options = ["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"];
  const child = spawn(
    binary,
    ["-c", file, "--admin-address-path", join(dir, "admin"), ...options],
    { cwd: dir, stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  let said = "";
  let failure: string | undefined;
  child.stderr.on("data", (text: Buffer) => {
    said = (said + text.toString()).slice(-2000);
  });
  child.on("error", (error) => {
    failure = error.message;
  });
  child.on("close", (code) => {
    failure ??= `it ended with ${String(code)}: ${said.trim()}`;
  });
  return { process: child, failure: () => failure };
}

async function adminOf(dir: string, child: Child): Promise<string | undefined> {
  assertRuns(child);
  const address = await readFile(join(dir, "admin"), "utf8").catch(() => "");
  return address.includes(":") ? `http://${address.trim()}` : undefined;
}

interface Listeners {
  readonly listener_statuses?: readonly {
    readonly local_address?: {
      readonly socket_address?: { readonly address: string; readonly port_value: number };
    };
  }[];
}

async function edgeOf(admin: string, child: Child): Promise<string | undefined> {
  assertRuns(child);
  const response = await fetch(`${admin}/listeners?format=json`).catch(() => undefined);
  const listeners = (await response?.json()) as Listeners | undefined;
  const address = listeners?.listener_statuses?.[0]?.local_address?.socket_address;
  return address === undefined ? undefined : `http://${address.address}:${address.port_value}/`;
}

function assertRuns(child: Child): void {
  const failure = child.failure();
  if (failure !== undefined) throw new Error(`Envoy does not run: ${failure}`);
}

/** Its own process group keeps Ctrl-C away from it, so that it is ended here, in order. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  const late = setTimeout(() => {
    child.kill("SIGKILL");
  }, 3000);
  await closed;
  clearTimeout(late);
}
