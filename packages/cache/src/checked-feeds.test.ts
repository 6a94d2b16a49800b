import { createFakeClock, checkFeed, type TestedFeed } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createPollFeed } from "./index.ts";

const T = "type.googleapis.com/t.T";

/** A feed that polls a map, as complete states or as changes. */
function makePollFeed(isComplete: boolean): TestedFeed {
  const clock = createFakeClock();
  const states = new Map<string, number>();
  let isCut = false;
  let changed = new Set<string>();
  const putOf = (name: string) => {
    const payload = { typeUrl: T, value: Uint8Array.of(states.get(name) ?? 0) };
    return { typeUrl: T, resource: { name, version: "", payload } };
  };
  const read = () => {
    if (isCut) return Promise.reject(new Error("the map is out of reach"));
    if (isComplete) return Promise.resolve({ all: Array.from(states.keys(), putOf) });
    const names = [...changed];
    changed = new Set();
    return Promise.resolve({
      put: names.filter((name) => states.has(name)).map(putOf),
      remove: names.flatMap((name) => (states.has(name) ? [] : [{ typeUrl: T, name }])),
    });
  };
  return {
    feed: createPollFeed({ everyMs: 1_000, clock, read }),
    typeUrl: T,
    nameOf: (id) => id,
    stateOf: ({ payload }) => payload.value[0] ?? -1,
    put: (id, state) => {
      states.set(id, state);
      changed.add(id);
    },
    remove: (id) => {
      states.delete(id);
      changed.add(id);
    },
    cut: () => {
      isCut = true;
    },
    restore: () => {
      isCut = false;
    },
    step: async () => {
      clock.advance(500);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const pushes = {
  kind: "skipped",
  reason: "the feed has no subscriptions: it supplies everything that it has",
};
const atomic = {
  kind: "skipped",
  reason: "the transactions of the feed are atomic: one rejection rejects the others",
};
const skipped: Readonly<Record<string, unknown>> = {
  "subscriptions from before run() count": pushes,
  "an interest that covers several names is settled with all its members": pushes,
  "an interest without members is settled too, and gets those that come later": pushes,
  "an invalid name is reported as missing or unavailable, and does not stop the others": pushes,
  "an unsubscribed name is not supplied any more": pushes,
};
const skippedIfAtomic: Readonly<Record<string, unknown>> = {
  ...skipped,
  "a rejected resource does not stop the others": atomic,
};

describe("createPollFeed() with complete states, as a feed:", () => {
  it.each(checkFeed(() => makePollFeed(true)))("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skippedIfAtomic[name] ?? { kind: "passed" });
  });
});

describe("createPollFeed() with changes, as a feed:", () => {
  it.each(checkFeed(() => makePollFeed(false)))("$title", async ({ name, check }) => {
    expect(await check()).toEqual(skipped[name] ?? { kind: "passed" });
  });
});
