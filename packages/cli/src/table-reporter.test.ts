import type { StreamStatus } from "@xdstp/protocol/server";
import type { ServerEvent } from "@xdstp/server";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { streamStatus, typeStatus } from "../test/status-of.ts";
import type { CliEvent } from "./cli-event.ts";
import type { CliIo, TerminalSize } from "./cli-io.ts";
import { createReporter } from "./create-reporter.ts";
import type { Reporter } from "./reporter.ts";
import { leaveScreen, takeScreen } from "./style.ts";

interface Shown {
  readonly reporter: Reporter;
  readonly clock: FakeClock;
  /** Returns what was written since the last call. */
  readonly take: () => string[];
  readonly cache: { ready: boolean };
}

function start({
  env = { NO_COLOR: "1" },
  status = [streamStatus(1, [typeStatus()])],
  size = { columns: 80, rows: 24 },
}: { env?: CliIo["env"]; status?: readonly StreamStatus[]; size?: TerminalSize } = {}): Shown {
  const clock = createFakeClock({ start: 1_000_000 });
  let written: string[] = [];
  const io: Partial<CliIo> = {
    stdout: { write: (text) => written.push(text) },
    clock,
    env,
    terminal: () => size,
  };
  const cache = { ready: true, revision: 1, resources: 4 };
  const reporter = createReporter({
    from: "serve",
    what: { dir: "c" },
    address: { host: "127.0.0.1", port: 1 },
    held: () => cache,
    server: { status: () => status },
    json: false,
    io: io as CliIo,
  });
  return {
    reporter,
    clock,
    cache,
    take: () => {
      const taken = written;
      written = [];
      return taken;
    },
  };
}

const loaded: CliEvent = {
  from: "folder",
  event: {
    kind: "loaded",
    files: 1,
    resources: 1,
    older: 0,
    revision: 1,
    put: 1,
    removed: 0,
    problems: [],
    warnings: [],
  },
};
const rejected: CliEvent = {
  from: "folder",
  event: {
    kind: "rejected",
    serving: true,
    problems: [
      { file: "c/a.yaml", line: 3, column: 5, code: "syntax", message: "bad indentation" },
    ],
  },
};

function onStream(kind: "ack" | "connect" | "disconnect"): CliEvent {
  const stream = streamStatus(1, []);
  const typeUrl = typeStatus().typeUrl;
  const event = {
    ack: { kind: "ack", stream, typeUrl, version: "2", nonce: "2" },
    connect: { kind: "connect", stream },
    disconnect: { kind: "disconnect", stream, code: 0, message: "" },
  } as const;
  return { from: "server", event: event[kind] satisfies ServerEvent };
}

describe("createReporter() on a terminal", () => {
  it("takes the screen, draws, and gives it back with the last events on it", () => {
    const { reporter, clock, take } = start();
    expect(take()).toEqual([takeScreen]);
    clock.advance(0);
    expect(take().join("")).toContain(
      "xdstp serve c on 127.0.0.1:1  4 resources, revision 1, 1 stream",
    );
    reporter.event(loaded);
    reporter.event(rejected);
    reporter.close();
    expect(take()).toEqual([
      leaveScreen,
      "1970-01-01T00:16:40.000Z loaded      1 resource from 1 file, revision 1: 1 put, 0 removed\n",
      "1970-01-01T00:16:40.000Z broken      c/a.yaml:3:5: bad indentation\n",
      "1970-01-01T00:16:40.000Z rejected    1 problem; nothing of these edits is applied; the last good state is still served\n",
    ]);
    clock.advance(10_000);
    expect(take()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("draws at most four times a second, however much happens", () => {
    const { reporter, clock, take } = start();
    clock.advance(0);
    take();
    for (let ms = 0; ms < 1_000; ms++) {
      for (let count = 0; count < 3; count++) reporter.event(onStream("ack"));
      clock.advance(1);
    }
    expect(take().length).toBeGreaterThanOrEqual(3);
    clock.advance(2_000);
    for (let ms = 0; ms < 10_000; ms++) {
      reporter.event(onStream("ack"));
      clock.advance(1);
    }
    expect(take().length).toBeLessThanOrEqual(4 * 12);
  });

  it("draws less often with many streams", () => {
    const { reporter, clock, take } = start({
      status: Array.from({ length: 10_000 }, (_, index) => streamStatus(index, [])),
    });
    clock.advance(0);
    take();
    for (let ms = 0; ms < 10_000; ms++) {
      reporter.event(onStream("ack"));
      clock.advance(1);
    }
    expect(take().length).toBeLessThanOrEqual(8);
  });

  it("draws once a second without events, because ages move on", () => {
    const { clock, take } = start();
    clock.advance(0);
    take();
    clock.advance(5_000);
    expect(take()).toHaveLength(5);
  });

  it("counts the age of a row from what happened last on its stream and type", () => {
    const { reporter, clock, take } = start();
    reporter.event(onStream("connect"));
    reporter.event(onStream("ack"));
    clock.advance(65_000);
    expect(take().at(-1)).toMatch(/n1 +clusters +SYNCED +2 +1m/);
    reporter.event(onStream("ack"));
    clock.advance(300);
    expect(take().at(-1)).toMatch(/n1 +clusters +SYNCED +2 +0s/);
    reporter.event(onStream("disconnect"));
    reporter.event(onStream("connect"));
    clock.advance(300);
    expect(take().at(-1)).toMatch(/n1 +clusters +SYNCED +2 +17m/);
  });

  it("keeps a broken file in sight until it is mended", () => {
    const { reporter, clock, take } = start();
    reporter.event(rejected);
    for (let count = 0; count < 500; count++) reporter.event(onStream("ack"));
    clock.advance(1_000);
    expect(take().at(-1)).toContain("c/a.yaml:3:5: bad indentation");
    reporter.event(loaded);
    for (let count = 0; count < 500; count++) reporter.event(onStream("ack"));
    clock.advance(1_000);
    expect(take().at(-1)).not.toContain("bad indentation");
  });

  it("shows that nothing is ready yet [S-STREAM-9]", () => {
    const { cache, clock, take } = start();
    cache.ready = false;
    clock.advance(0);
    expect(take().at(-1)).toContain("NOT READY");
  });

  it.each([
    [{}, true],
    [{ NO_COLOR: "" }, true],
    [{ NO_COLOR: "1" }, false],
  ])("with %j has colours: %s", (env, isColoured) => {
    const { clock, take } = start({ env });
    clock.advance(0);
    expect(take().join("").includes("\u001b[32mSYNCED")).toBe(isColoured);
  });

  it("leaves out what only repeats others", () => {
    const { reporter, take } = start();
    take();
    reporter.event({ from: "server", event: { kind: "connection-opened", peer: "p" } });
    reporter.event({
      from: "server",
      event: { kind: "stream-closed", peer: "p", path: "/a/b", status: { code: 0, message: "" } },
    });
    reporter.close();
    expect(take()).toEqual([leaveScreen]);
  });
});
