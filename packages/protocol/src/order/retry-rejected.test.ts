import type { Entry, ResourceType } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { added, removed, storedResource } from "../../test/entries.ts";
import { createExchange, type Exchange, type Rejected } from "../delivery/exchange.ts";
import type { MissedReference } from "../stream/stream-event.ts";
import type { TypeHost } from "../stream/type-machine.ts";
import { missedBy, retryRejected } from "./retry-rejected.ts";

const CLUSTER = "cluster";

/** A route whose payload lists clusters. */
const type: ResourceType = {
  typeUrl: "route",
  references: (payload) =>
    new TextDecoder()
      .decode(payload)
      .split(" ")
      .map((name) => ({ typeUrl: CLUSTER, name })),
};

function route(name: string, ...clusters: readonly string[]): Entry {
  const resource = storedResource(name, new TextEncoder().encode(clusters.join(" ")));
  return { ...added(name), resource };
}

/**
 * A client that has accepted these clusters. `served` lists further clusters that exist; `asked`
 * collects the names that were looked up.
 */
function useClient(accepted: readonly string[] = [], served: readonly string[] = []) {
  const asked: string[] = [];
  const known = new Set(accepted);
  const clusters = {
    hasAccepted(name: string) {
      asked.push(name);
      return known.has(name);
    },
    misses: (name: string) => !served.includes(name),
  };
  const host = {
    sibling: (typeUrl: string) => (typeUrl === CLUSTER ? clusters : undefined),
  } as unknown as Pick<TypeHost, "sibling">;
  return { host, asked, known };
}

function missed(...names: readonly string[]): readonly MissedReference[] {
  return names.map((name) => ({ typeUrl: CLUSTER, name, served: false }));
}

function exchangeThatRejects(...names: readonly string[]): Exchange {
  const rejected: Rejected = {
    answered: new Set(),
    changed: new Set(),
    named: new Set(),
    base: 0,
    asked: false,
    entries: [],
    newestEntries: [],
    missed: missed(...names),
    phase: "kept",
  };
  return { ...createExchange(), rejected };
}

describe("missedBy()", () => {
  it("names each reference once that the client has not accepted, and whether it is served [S-ACK-21]", () => {
    const { host } = useClient(["a"], ["c"]);
    expect(
      missedBy(type, host, [route("r", "a", "b"), removed("s"), route("t", "b", "c")]),
    ).toEqual([
      { typeUrl: CLUSTER, name: "b", served: false },
      { typeUrl: CLUSTER, name: "c", served: true },
    ]);
  });

  it("names references of types that the client does not subscribe to", () => {
    const host = { sibling: () => undefined };
    expect(missedBy(type, host, [route("r", "a")])).toEqual(missed("a"));
  });

  it("is empty where references are not known", () => {
    const { host, asked } = useClient();
    expect(missedBy({ typeUrl: "route" }, host, [route("r", "a")])).toEqual([]);
    expect(missedBy(undefined, host, [route("r", "a")])).toEqual([]);
    expect(asked).toEqual([]);
  });

  it("keeps 100 names [S-ACK-21] [S-LIM-4]", () => {
    const { host } = useClient();
    const names = Array.from({ length: 150 }, (_, n) => `c${n}`);
    expect(missedBy(type, host, [route("r", ...names)])).toEqual(missed(...names.slice(0, 100)));
  });

  it("looks at 10,000 references [S-ACK-21]", () => {
    const { host, asked } = useClient(["a"]);
    const many = route("r", ...Array.from({ length: 9_999 }, () => "a"), "b", "c");
    expect(missedBy(type, host, [many])).toEqual(missed("b"));
    expect(asked).toHaveLength(10_000);
  });
});

describe("retryRejected()", () => {
  it("marks rejected content for a retry once for each name that the client accepts [S-ACK-21]", () => {
    const { host, known } = useClient();
    const exchange = exchangeThatRejects("a", "b");
    retryRejected({ exchange, host });
    expect(exchange).toMatchObject({ rejected: { phase: "kept" }, retriedFor: undefined });
    known.add("a");
    retryRejected({ exchange, host });
    expect(exchange.rejected).toMatchObject({
      phase: "retried",
      missed: missed("b"),
    });
    expect(exchange.retriedFor).toEqual(new Set([`${CLUSTER}\na`]));
  });

  it("does nothing for a client that has not rejected anything", () => {
    const { host, asked } = useClient(["a"]);
    retryRejected({ exchange: createExchange(), host });
    expect(asked).toEqual([]);
  });

  it("remembers the newest 100 names of retries", () => {
    const names = Array.from({ length: 60 }, (_, n) => `c${n}`);
    const more = Array.from({ length: 60 }, (_, n) => `d${n}`);
    const { host } = useClient([...names, ...more]);
    const exchange = exchangeThatRejects(...names);
    retryRejected({ exchange, host });
    exchange.rejected = exchangeThatRejects(...more).rejected;
    retryRejected({ exchange, host });
    expect(exchange.retriedFor?.size).toBe(100);
    expect(exchange.retriedFor?.has(`${CLUSTER}\nd59`)).toBe(true);
  });
});
