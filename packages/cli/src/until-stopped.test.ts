import { describe, expect, it } from "vitest";
import type { CliIo, StopSignal } from "./cli-io.ts";
import { untilStopped } from "./until-stopped.ts";

interface Run {
  readonly exit: Promise<0 | 1>;
  readonly said: string[];
  readonly signal: (signal: StopSignal) => void;
  readonly listens: () => boolean;
}

function start(
  close: () => Promise<void>,
  failed: Promise<unknown> = never(),
  interactive = true,
): Run {
  const said: string[] = [];
  let listener: ((signal: StopSignal) => void) | undefined;
  const io = {
    interactive,
    onSignal: (added: (signal: StopSignal) => void) => {
      listener = added;
      return () => {
        listener = undefined;
      };
    },
  } as Partial<CliIo> as CliIo;
  const exit = untilStopped({
    io,
    failed,
    close,
    streams: () => 3,
    say: ({ kind }) => {
      said.push(kind);
    },
  });
  return {
    exit,
    said,
    signal: (signal) => {
      listener?.(signal);
    },
    listens: () => listener !== undefined,
  };
}

const never = async (): Promise<never> => new Promise(() => undefined);

describe("untilStopped()", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "closes in order on %s, and is done",
    async (signal) => {
      const order: string[] = [];
      const run = start(async () => {
        order.push("closed");
        return Promise.resolve();
      });
      expect(order).toEqual([]);
      run.signal(signal);
      expect(await run.exit).toBe(0);
      expect({ order, said: run.said, listens: run.listens() }).toEqual({
        order: ["closed"],
        said: ["stopping", "stopped"],
        listens: false,
      });
    },
  );

  it("does not wait for the end after a second signal, and has failed", async () => {
    const run = start(never);
    run.signal("SIGINT");
    run.signal("SIGINT");
    expect(await run.exit).toBe(1);
    expect(run.said).toEqual(["stopping"]);
  });

  it("takes a closed terminal, which sends a signal and reads no more, as one wish", async () => {
    const run = start(async () => {
      await Promise.resolve();
      run.signal("SIGPIPE");
      await new Promise(setImmediate);
    });
    run.signal("SIGHUP");
    expect(await run.exit).toBe(0);
    expect(run.said).toEqual(["stopping", "stopped"]);
  });

  it("goes on when the reader of its log has gone and nobody looks on", async () => {
    const run = start(async () => Promise.resolve(), never(), false);
    run.signal("SIGPIPE");
    run.signal("SIGTERM");
    expect(await run.exit).toBe(0);
  });

  it("fails in order when nobody reads what it shows to somebody at a terminal", async () => {
    const run = start(async () => Promise.resolve());
    run.signal("SIGPIPE");
    expect(await run.exit).toBe(1);
    expect(run.said).toEqual(["stopping", "stopped"]);
  });

  it("fails in order when edits are not followed any more", async () => {
    const run = start(async () => Promise.resolve(), Promise.resolve(new Error("no")));
    expect(await run.exit).toBe(1);
    expect(run.said).toEqual(["stopped"]);
  });
});
