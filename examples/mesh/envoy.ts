import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { envoyBootstrap } from "./envoy-bootstrap.ts";
import { waitUntil } from "./wait-until.ts";

/** An Envoy that was started here. */
export interface Envoy {
  /** Its admin page. */
  readonly admin: string;
  /** Where its listener answers. It may have been 0 in the configuration. */
  readonly edge: string;
  /** Calls once through the listener and gives the name of the backend that answered. */
  call(): Promise<string>;
  close(): Promise<void>;
}

/** Starts Envoy in front of the control plane on `port`; resolves when calls through it are answered. */
export async function startEnvoy(binary: string, port: number, signal: AbortSignal): Promise<Envoy> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-envoy-"));
  const child = await spawnEnvoy(binary, dir, port);
  const close = async (): Promise<void> => {
    await end(child.process);
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const admin = await waitUntil("Envoy has no admin page", () => adminOf(dir, child), signal);
    const edge = await waitUntil("Envoy has no listener", () => edgeOf(admin, child), signal);
    // A listener is named before its port takes connections.
    await waitUntil("Envoy does not answer", () => callOnce(edge).catch(() => undefined), signal);
    return { admin, edge, call: () => callOnce(edge), close };
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

async function spawnEnvoy(binary: string, dir: string, port: number): Promise<Child> {
  const file = join(dir, "bootstrap.json");
  await writeFile(file, JSON.stringify(envoyBootstrap(port)));
  const options = ["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"];
  const child = spawn(binary, ["-c", file, "--admin-address-path", join(dir, "admin"), ...options], { cwd: dir, stdio: ["ignore", "ignore", "pipe"], detached: true });
  let said = "";
  let failure: string | undefined;
  child.stderr.on("data", (text: Buffer) => { said = (said + text.toString()).slice(-2000); });
  child.on("error", (error) => { failure = error.message; });
  child.on("close", (code) => { failure ??= `it ended with ${String(code)}: ${said.trim()}`; });
  return { process: child, failure: () => failure };
}

async function adminOf(dir: string, child: Child): Promise<string | undefined> {
  assertRuns(child);
  const address = await readFile(join(dir, "admin"), "utf8").catch(() => "");
  return address.includes(":") ? `http://${address.trim()}` : undefined;
}

interface Listeners {
  readonly listener_statuses?: readonly { readonly local_address?: { readonly socket_address?: { readonly address: string; readonly port_value: number } } }[];
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

async function callOnce(edge: string): Promise<string> {
  const response = await fetch(edge, { signal: AbortSignal.timeout(20_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text}`);
  return text;
}

/** Its own process group keeps Ctrl-C away from it, so that it is ended here, in order. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  const late = setTimeout(() => { child.kill("SIGKILL"); }, 3000);
  await closed;
  clearTimeout(late);
}
