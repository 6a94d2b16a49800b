import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "@xdstp/testing";
import type { CliEvent } from "./cli-event.ts";
import { createCalmReporter, isShown } from "./create-reporter.ts";

type Kinds<From extends CliEvent["from"]> = Readonly<
  Record<Extract<CliEvent, { readonly from: From }>["event"]["kind"], "shown" | "json" | "hidden">
>;

/** All events. A new event does not compile until it is listed here. */
const kinds: { readonly [From in CliEvent["from"]]: Kinds<From> } = {
  serve: {
    warning: "shown",
    listening: "shown",
    certificate: "shown",
    policy: "shown",
    "flags-rejected": "shown",
    versions: "shown",
    stopping: "shown",
    stopped: "shown",
  },
  relay: {
    warning: "shown",
    listening: "shown",
    certificate: "shown",
    policy: "shown",
    "flags-rejected": "shown",
    versions: "shown",
    stopping: "shown",
    stopped: "shown",
    "worker-started": "shown",
    "worker-ended": "shown",
  },
  upstream: {
    opened: "shown",
    closed: "shown",
    idle: "shown",
    accepted: "shown",
    rejected: "shown",
    ignored: "shown",
    timeout: "shown",
    foreign: "shown",
    "credentials-replaced": "shown",
    "credentials-rejected": "shown",
    "opaque-rejected": "shown",
    "upstream-full": "shown",
    "tenant-rejected": "shown",
    "resource-rejected": "json",
    "snapshot-opened": "shown",
    "snapshot-set-aside": "shown",
    "snapshot-lost": "shown",
    "snapshot-locked": "shown",
    "snapshot-trouble": "shown",
    "snapshot-well": "shown",
    "snapshot-evicted": "shown",
  },
  folder: {
    loaded: "shown",
    rejected: "shown",
    kept: "shown",
    unreadable: "shown",
    polling: "shown",
    "foreign-reference": "shown",
  },
  log: { "lines-lost": "shown" },
  cache: {
    ready: "shown",
    "aliases-ignored": "shown",
    "version-reused": "shown",
    "variants-overlap": "shown",
    "feed-failed": "shown",
    dangling: "shown",
    resolved: "shown",
  },
  server: {
    connect: "shown",
    subscribe: "shown",
    push: "shown",
    heartbeat: "json",
    ack: "shown",
    nack: "shown",
    "order-expired": "shown",
    "stale-nonce": "shown",
    "not-sent": "shown",
    disconnect: "shown",
    rejected: "shown",
    fetch: "shown",
    "connection-cut": "shown",
    "stream-cut": "shown",
    warning: "shown",
    fault: "shown",
    "connection-opened": "hidden",
    "connection-closed": "hidden",
    "stream-opened": "hidden",
    "stream-closed": "hidden",
  },
};
const all = Object.entries(kinds).flatMap(([from, rows]) =>
  Object.entries(rows).map(([kind, who]) => ({ from, kind, who })),
);

describe("isShown()", () => {
  it.each(all)("$from $kind: $who", ({ from, kind, who }) => {
    const event = { from, event: { kind } } as CliEvent;
    expect([isShown(event, false), isShown(event, true)]).toEqual([
      who === "shown",
      who !== "hidden",
    ]);
  });

  it("shows what the README lists, and nothing else", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const listed = Object.keys(kinds).map((from) => {
      const [, row = ""] = new RegExp(`^\\| \`${from}\` \\| (.*) \\|$`, "m").exec(readme) ?? [];
      return [
        from,
        [...row.replaceAll(/\([^)]*\)/g, "").matchAll(/`([a-z-]+)`/g)]
          .map(([, kind]) => kind)
          .sort(),
      ];
    });
    expect(listed).toEqual(
      Object.keys(kinds).map((from) => [
        from,
        all
          .filter((one) => one.from === from && one.who !== "hidden")
          .map(({ kind }) => kind)
          .sort(),
      ]),
    );
  });
});

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
