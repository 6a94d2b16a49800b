import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createCalmReporter } from "./calm-reporter.ts";
import type { CliEvent } from "./cli-event.ts";

const cut = (peer: string, reason: "compressed" | "malformed" = "compressed"): CliEvent => ({
  from: "server",
  event: { kind: "stream-cut", peer, path: "/x", reason, status: { code: 12, message: "" } },
});

function start(): {
  readonly shown: CliEvent[];
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly reporter: ReturnType<typeof createCalmReporter>;
} {
  const [shown, clock] = [[] as CliEvent[], createFakeClock()];
  return {
    shown,
    clock,
    reporter: createCalmReporter(
      {
        event: (event) => {
          shown.push(event);
        },
        close: () => undefined,
      },
      clock,
    ),
  };
}

describe("createCalmReporter()", () => {
  it("shows the first event of a peer at once, and once a second how many more there were, from whatever ports", () => {
    const { shown, clock, reporter } = start();
    for (let port = 0; port < 5_000; port += 1) reporter.event(cut(`10.0.0.1:${port}`));
    expect(shown).toEqual([cut("10.0.0.1:0")]);
    clock.advance(1_000);
    expect(shown).toEqual([cut("10.0.0.1:0"), { ...cut("10.0.0.1:4999"), more: 4_998 }]);
    clock.advance(10_000);
    reporter.event(cut("10.0.0.1:1"));
    expect(shown).toHaveLength(3);
    expect(clock.pending).toBe(1);
  });

  it("tells peers and reasons apart", () => {
    const { shown, reporter } = start();
    for (const event of [
      cut("10.0.0.1:1"),
      cut("10.0.0.2:1"),
      cut("10.0.0.1:1", "malformed"),
      cut("[::1]:9"),
    ])
      reporter.event(event);
    expect(shown).toHaveLength(4);
  });

  it("shows 100 events of a kind per second on the streams of one peer, and then the number of the others", () => {
    const { shown, clock, reporter } = start();
    const connect = (id: number, host = "10.0.0.1"): CliEvent => ({
      from: "server",
      event: {
        kind: "connect",
        stream: { id, variant: "delta", peer: `${host}:${id}`, node: undefined },
      },
    });
    for (let id = 0; id < 5_000; id += 1) reporter.event(connect(id));
    reporter.event(connect(0, "10.0.0.2"));
    expect(shown).toHaveLength(101);
    clock.advance(1_000);
    expect(shown.slice(101)).toEqual([{ ...connect(4_999), more: 4_899 }]);
  });

  it("shows each event that no peer can repeat as it likes", () => {
    const { shown, reporter } = start();
    const event: CliEvent = { from: "serve", event: { kind: "warning", message: "x" } };
    for (let n = 0; n < 10; n += 1) reporter.event(event);
    expect(shown).toHaveLength(10);
  });

  it("shows 20 references per second to what is not served, and then the number of the others", () => {
    const { shown, clock, reporter } = start();
    const dangling = (n: number): CliEvent => ({
      from: "cache",
      event: {
        kind: "dangling",
        typeUrl: "t/E",
        name: `e${n}`,
        by: { typeUrl: "t/C", name: `c${n}` },
        others: 0,
      },
    });
    for (let n = 0; n < 20_000; n += 1) reporter.event(dangling(n));
    expect(shown).toHaveLength(20);
    clock.advance(1_000);
    expect(shown).toHaveLength(21);
    expect(shown.at(-1)).toEqual({ ...dangling(19_999), more: 19_979 });
  });

  it("keeps a bounded number of peers, and counts the others together", () => {
    const { shown, clock, reporter } = start();
    for (let peer = 0; peer < 3_000; peer += 1)
      reporter.event(cut(`10.0.${peer >> 8}.${peer & 255}:1`));
    expect(shown).toHaveLength(1_001);
    clock.advance(1_000);
    expect(shown.at(-1)).toMatchObject({ more: 1_998 });
  });

  it("holds nothing back at the end", () => {
    const { shown, clock, reporter } = start();
    reporter.event(cut("10.0.0.1:1"));
    reporter.event(cut("10.0.0.1:2"));
    reporter.close();
    expect(shown).toEqual([cut("10.0.0.1:1"), cut("10.0.0.1:2")]);
    expect(clock.pending).toBe(0);
  });
});
