import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { createCache } from "@xdstp/cache";
import { createServer } from "@xdstp/server";
import { expect, it, onTestFinished } from "vitest";

/** A running program. */
interface Program {
  /** Resolves with the next line that it prints. */
  line(): Promise<string | undefined>;
  kill(): Promise<void>;
}

function start(uri: string, dir: string): Program {
  const child = spawn(
    process.execPath,
    ["--conditions=@xdstp/source", join(import.meta.dirname, "survive-outage.ts"), uri, dir],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exit = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exit;
  };
  onTestFinished(kill);
  return {
    line: async () => {
      const next = await lines.next();
      return next.done === true ? undefined : next.value;
    },
    kill,
  };
}

/** Serves one theme. @param port - 0: any */
async function serve(
  theme: string,
  port = 0,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const cache = createCache();
  cache.put({
    typeUrl: "type.googleapis.com/acme.v1.Flag",
    name: "theme",
    value: Buffer.from(theme),
  });
  const server = createServer({ source: cache });
  const listening = await server.listen({ host: "127.0.0.1", port });
  const close = async (): Promise<void> => {
    await server.close({ graceMs: 0 });
    await cache.close();
  };
  onTestFinished(close);
  return { port: listening.port, close };
}

async function linesOf(program: Program, count: number): Promise<readonly (string | undefined)[]> {
  const lines: (string | undefined)[] = [];
  while (lines.length < count) lines.push(await program.line());
  return lines;
}

it("starts with the default, and after kill -9 with the last known value, while its control plane is down [B-RELAY-9]", async () => {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-example-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const reserved = await serve("none");
  const { port } = reserved;
  await reserved.close();
  const uri = `127.0.0.1:${String(port)}`;

  // 1. Nothing is known, and no server answers. Then the control plane starts.
  const first = start(uri, dir);
  expect(await linesOf(first, 2)).toEqual(["theme light (default)", "stored"]);
  const plane = await serve("dark", port);
  const came = await nextThat(first, "current");
  expect(came).toBe("theme dark (current)");
  expect(await first.line()).toBe("stored");

  // 2. The program is killed, the control plane has ended, and the program starts again.
  await first.kill();
  await plane.close();
  const second = start(uri, dir);
  expect(await linesOf(second, 2)).toEqual(["theme dark (last known)", "stored"]);

  // 3. The control plane returns with another value.
  await serve("blue", port);
  expect(await nextThat(second, "current")).toBe("theme blue (current)");
});

/** Returns the next line with this text. Each attempt to connect may print one before. */
async function nextThat(program: Program, text: string): Promise<string | undefined> {
  for (;;) {
    const line = await program.line();
    if (line === undefined || line.includes(text)) return line;
  }
}
