import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import type { CliEvent } from "./cli-event.ts";
import { createLineReporter, createLogOutput } from "./line-reporter.ts";

const warning = (message: string): CliEvent => ({
  from: "serve",
  event: { kind: "warning", message },
});

function start(json: boolean): {
  readonly written: string[];
  readonly reporter: ReturnType<typeof createLineReporter>;
} {
  const written: string[] = [];
  return {
    written,
    reporter: createLineReporter({
      output: { write: (text) => written.push(text) },
      clock: createFakeClock({ start: 1_000 }),
      json,
    }),
  };
}

describe("createLineReporter()", () => {
  it("writes the events of one turn at once, each as a line", async () => {
    const { written, reporter } = start(false);
    reporter.event(warning("a"));
    reporter.event(warning("b"));
    expect(written).toEqual([]);
    await Promise.resolve();
    expect(written).toEqual([
      "1970-01-01T00:00:01.000Z warning     a\n1970-01-01T00:00:01.000Z warning     b\n",
    ]);
    reporter.event(warning("c"));
    await Promise.resolve();
    expect(written).toHaveLength(2);
  });

  it("writes each event as one JSON object, with time, origin and kind", async () => {
    const { written, reporter } = start(true);
    reporter.event(warning("a\nb"));
    await Promise.resolve();
    expect(written).toEqual([
      '{"schema":1,"time":"1970-01-01T00:00:01.000Z","level":"warning","from":"serve","event":"warning","message":"a\\nb"}\n',
    ]);
  });

  it("holds nothing back at the end", async () => {
    const { written, reporter } = start(false);
    reporter.event(warning("a"));
    reporter.close();
    expect(written).toHaveLength(1);
    await Promise.resolve();
    expect(written).toHaveLength(1);
  });
});

interface FailingOutput {
  full: boolean;
  writableLength: number;
  destroyed: boolean;
  readonly written: string[];
  write(text: string): void;
}

function useOutput(): FailingOutput {
  const written: string[] = [];
  const output: FailingOutput = {
    full: false,
    writableLength: 0,
    destroyed: false,
    written,
    write(text) {
      if (output.full) throw new Error("ENOSPC");
      written.push(text);
    },
  };
  return output;
}

const lostLine = (lines: number): string => `lost ${lines}`;

describe("createLogOutput()", () => {
  it("counts lines as lost while the disk is full, tries again a second later, and says how many were lost", () => {
    const [output, clock] = [useOutput(), createFakeClock()];
    const losses: number[] = [];
    const log = createLogOutput({
      output,
      clock,
      lostLine,
      onLost: (lines) => {
        losses.push(lines);
      },
    });
    log.write(["a"]);
    output.full = true;
    log.write(["b", "c"]);
    output.full = false;
    log.write(["d"]);
    clock.advance(1_000);
    log.write(["e"]);
    log.write(["f"]);
    expect(output.written).toEqual(["a\n", "lost 3\ne\n", "f\n"]);
    expect(losses).toEqual([2, 1]);
  });

  it("keeps no more than some megabytes for a slow reader", () => {
    const output = useOutput();
    const log = createLogOutput({
      output,
      clock: createFakeClock(),
      lostLine,
      mostWaitingBytes: 100,
    });
    output.writableLength = 101;
    log.write(["a"]);
    output.writableLength = 100;
    log.write(["b"]);
    expect(output.written).toEqual(["lost 1\nb\n"]);
  });

  it("counts lines whose reader has gone, and goes on a second later where another reader has come", () => {
    const clock = createFakeClock();
    const written: string[] = [];
    const losses: number[] = [];
    let isRead = false;
    const output = {
      write(text: string, done?: (error?: Error | null) => void): void {
        if (isRead) written.push(text);
        done?.(isRead ? null : new Error("EPIPE"));
      },
    };
    const queued: (() => void)[] = [];
    const late = {
      write: (text: string, done?: (error?: Error | null) => void): void => {
        output.write(text, (error) => {
          queued.push(() => {
            done?.(error);
          });
        });
      },
    };
    const settle = (): void => {
      for (const one of queued.splice(0)) one();
    };
    const log = createLogOutput({
      output: late,
      clock,
      lostLine,
      onLost: (lines) => {
        losses.push(lines);
      },
    });
    log.write(["a", "b"]);
    settle();
    log.write(["c"]);
    clock.advance(1_000);
    log.write(["d"]);
    settle();
    isRead = true;
    clock.advance(1_000);
    log.write(["e"]);
    settle();
    expect(written).toEqual(["lost 4\ne\n"]);
    expect(losses).toEqual([2, 1, 1]);
  });

  it("writes nothing to an output that has gone", () => {
    const output = useOutput();
    const log = createLogOutput({ output, clock: createFakeClock(), lostLine });
    output.destroyed = true;
    log.write(["a"]);
    expect(output.written).toEqual([]);
  });
});
