import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runCli } from "@xdstp/cli";
import { checkByteStream } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { runTour } from "./run-tour.ts";
import { listen } from "./websocket-server.ts";
import { streamOver } from "./websocket-stream.ts";

const cases = checkByteStream(
  async (accept) => {
    const listener = await listen({ host: "127.0.0.1", port: 0 }, (_path, _peer, out) =>
      accept(out),
    );
    return {
      open: (handler) => streamOver(new WebSocket(`${listener.url}/x`), handler),
      cut: () => {
        for (const socket of listener.sockets) socket.terminate();
      },
      close: () => listener.close(),
    };
  },
  { largeBytes: 4 << 20, unreadBytes: 16 << 20 },
);

// The `WebSocket` of browsers has neither.
const noPause = { kind: "skipped", reason: "the wire cannot pause" };
const noProbe = { kind: "skipped", reason: "the wire cannot probe" };
const skipped: Readonly<Record<string, unknown>> = {
  "nothing is read between pause and resume, and nothing is lost": noPause,
  "a server whose peer does not read is asked to wait, and continues when it reads": noPause,
  "a client whose peer does not read is asked to wait, and continues when it reads": noPause,
  "a probe is answered at most once, and says whether the peer is idle": noProbe,
};

describe("a byte stream over WebSocket", () => {
  it.each(cases)("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skipped[name] ?? { kind: "passed" });
  });
});

it("carries the delta variant between a server and a client, over a loss of the connection", async () => {
  const lines: string[] = [];
  await runTour((line) => {
    lines.push(line);
  });
  expect(lines).toEqual(["web: 1 s", "web: 2 s", "-- the connection is lost", "web: 3 s"]);
});

it("is loaded by the command, for both ends", async () => {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-websocket-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, "config/_opaque/clusters"), { recursive: true });
  await writeFile(join(dir, "config/_opaque/clusters/web.yaml"), "connect_timeout: 7s\n");
  const transport = join(import.meta.dirname, "index.ts");
  const stop = new AbortController();
  const listening = Promise.withResolvers<string>();
  const serving = run(
    ["serve", join(dir, "config"), "--listen", "0", "--transport", `${transport}=0`],
    (line) => {
      const url = /also at (ws:\S+)/.exec(line)?.[1];
      if (url !== undefined) listening.resolve(url);
    },
    stop.signal,
  );
  const lines: string[] = [];
  const ask = ["get", "web", "--type", "clusters", "--transport", transport];
  const code = await run([...ask, "--server", await listening.promise], (line) => {
    lines.push(line);
  });
  stop.abort();
  expect([code, await serving]).toEqual([0, 0]);
  expect(lines.join("")).toContain("connect_timeout: 7s\n");
});

async function run(
  args: readonly string[],
  write: (text: string) => void,
  signal?: AbortSignal,
): Promise<number> {
  return runCli(args, {
    stdout: { write },
    terminal: () => undefined,
    onSignal: (listener) => {
      signal?.addEventListener("abort", () => {
        listener("SIGINT");
      });
      return () => undefined;
    },
  });
}
