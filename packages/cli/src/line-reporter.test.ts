import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import type { CliEvent } from "./cli-event.ts";
import { createLineReporter } from "./line-reporter.ts";

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
