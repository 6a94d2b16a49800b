import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { CliEvent } from "./cli-event.ts";
import { isShown } from "./create-reporter.ts";

type Kinds<From extends CliEvent["from"]> = Readonly<
  Record<Extract<CliEvent, { readonly from: From }>["event"]["kind"], "shown" | "json" | "hidden">
>;

/** Each event that there is: a new one does not compile before it stands here. */
const kinds: { readonly [From in CliEvent["from"]]: Kinds<From> } = {
  serve: {
    warning: "shown",
    listening: "shown",
    certificate: "shown",
    policy: "shown",
    versions: "shown",
    stopping: "shown",
    stopped: "shown",
  },
  relay: {
    warning: "shown",
    listening: "shown",
    certificate: "shown",
    policy: "shown",
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
