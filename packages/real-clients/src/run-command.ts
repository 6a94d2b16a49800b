import { once } from "node:events";
import { createServer } from "node:net";
import { runCli } from "@xdstp/cli";
import { onTestFinished } from "vitest";
import { until } from "./until.ts";

/** Runs a command of xdstp in this process to its end. */
export async function runCommand(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly text: string }> {
  const output = collectedOutput();
  const code = await runCli(args, { stdout: output, stderr: output });
  return { code, text: output.text() };
}

/** Serves a folder in this process until the test ends, or until the returned function is called. Resolves when clients can connect. */
export async function serveFolder(folder: string, port: number): Promise<() => Promise<unknown>> {
  const output = collectedOutput();
  const listeners = new Set<(signal: "SIGTERM") => void>();
  const end = runCli(["serve", folder, "--listen", `127.0.0.1:${port}`, "--json"], {
    stdout: output,
    stderr: output,
    onSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const stop = (): Promise<unknown> => {
    for (const listener of listeners) listener("SIGTERM");
    return end;
  };
  onTestFinished(async () => {
    await stop();
  });
  await until(
    "xdstp serve is ready",
    () => output.text().includes('"event":"ready"'),
    () => output.text(),
  );
  return stop;
}

/**
 * Returns a port of the loopback that nothing listens on. The system gives the ports above these to
 * outgoing connections, so that one that it chose may be in use before a program listens on it.
 */
export async function freePort(): Promise<number> {
  const port = 15_000 + Math.floor(Math.random() * 15_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once("error", () => {
      resolve(false);
    });
    server.listen(port, "127.0.0.1", () => {
      resolve(true);
    });
  });
  if (!isFree) return freePort();
  server.close();
  await once(server, "close");
  return port;
}

function collectedOutput(): { write(part: string): void; text(): string } {
  let text = "";
  return {
    write(part) {
      text += part;
    },
    text: () => text,
  };
}
