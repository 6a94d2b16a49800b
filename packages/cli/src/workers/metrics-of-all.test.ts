import { createFakeClock } from "@xdstp/testing";
import { scriptedChild, type ScriptedChild } from "../../test/scripted-child.ts";
import { describe, expect, it } from "vitest";
import { createMetricsOfAll } from "./metrics-of-all.ts";

const textOf = (pushes: number, streams: number): string =>
  `# HELP pushes p\n# TYPE pushes counter\npushes ${pushes}\n# HELP streams s\n# TYPE streams gauge\nstreams ${streams}\n`;

function useAll(): {
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly children: readonly [ScriptedChild, ScriptedChild, ScriptedChild];
  readonly all: ReturnType<typeof createMetricsOfAll>;
} {
  const clock = createFakeClock();
  const children = [scriptedChild(0), scriptedChild(1), scriptedChild(2)] as const;
  return {
    clock,
    children,
    all: createMetricsOfAll(
      () => children,
      async () => Promise.resolve([]),
      clock,
    ),
  };
}

describe("createMetricsOfAll()", () => {
  it("asks the workers once for all who ask meanwhile, and not the first process", async () => {
    const {
      all,
      children: [first, one, other],
    } = useAll();
    const texts = Promise.all([all.text(), all.text()]);
    all.observe(one, { kind: "metrics", text: textOf(1, 2) });
    all.observe(other, { kind: "metrics", text: textOf(3, 4) });
    expect(await texts).toEqual([textOf(4, 6), textOf(4, 6)]);
    expect([first, one, other].map(({ heard }) => heard.length)).toEqual([0, 1, 1]);
    const later = all.text();
    for (const child of [one, other]) all.observe(child, { kind: "metrics", text: textOf(5, 1) });
    expect(await later).toBe(textOf(10, 2));
    expect([first, one, other].map(({ heard }) => heard.length)).toEqual([0, 2, 2]);
  });

  it("goes on without one that ends, whose counters stay and whose gauges go", async () => {
    const {
      all,
      children: [, one, other],
    } = useAll();
    const text = all.text();
    all.observe(one, { kind: "metrics", text: textOf(1, 2) });
    all.observe(other, { kind: "metrics", text: textOf(3, 4) });
    await text;
    const next = all.text();
    all.observe(other, { kind: "metrics", text: textOf(3, 4) });
    one.isUp = false;
    all.gone(one);
    expect(await next).toBe(textOf(4, 4));
  });

  it("waits 2 s for one that does not answer, and then takes what it said last", async () => {
    const {
      all,
      clock,
      children: [, one, other],
    } = useAll();
    const text = all.text();
    all.observe(one, { kind: "metrics", text: textOf(1, 2) });
    clock.advance(2_000);
    expect([await text, clock.pending]).toEqual([textOf(1, 2), 0]);
    const next = all.text();
    all.observe(other, { kind: "metrics", text: textOf(3, 4) });
    clock.advance(2_000);
    expect(await next).toBe(textOf(4, 6));
  });

  it("has nothing to say while there are none", async () => {
    const {
      all,
      children: [, one, other],
    } = useAll();
    for (const child of [one, other]) child.isUp = false;
    expect([await all.text(), await all.text()]).toEqual(["", ""]);
    one.isUp = true;
    const text = all.text();
    all.observe(one, { kind: "metrics", text: textOf(1, 2) });
    expect(await text).toBe(textOf(1, 2));
  });
});
