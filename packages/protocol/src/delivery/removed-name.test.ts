import type { Entry, Topic } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import type { Batch } from "./batch.ts";
import { removedName, type RemovedOwner } from "./removed-name.ts";

/** A topic with one removal, of `c`. */
function topicWith(removal: Partial<Entry> & { readonly revision: number }): Topic {
  const entry: Entry = { since: 3, superseded: false, name: "c", ...removal };
  const all = [entry];
  return {
    changes: (after: number) => (after < entry.revision ? all : []),
  } as unknown as Topic;
}

/** A response with an entry of `c`. */
function bringing(resource: boolean): Batch {
  const entry = { revision: 3, since: 3, superseded: false, name: "c" };
  return { entries: [resource ? { ...entry, resource: {} } : entry] } as unknown as Batch;
}

function owner(exchange: RemovedOwner["exchange"], ...unaccepted: readonly Topic[]): RemovedOwner {
  return { exchange, unaccepted: new Set(unaccepted) };
}

describe("removedName()", () => {
  it.each([
    ["accepted", "the client had accepted it", { revision: 9 }, 5, undefined],
    ["never-sent", "it came to exist after that", { revision: 9, since: 7 }, 5, undefined],
    ["never-sent", "nobody knows since when it existed", { revision: 9, since: 0 }, 5, undefined],
    ["in-flight", "it came after that and is on its way", { revision: 9, since: 7 }, 5, true],
    ["never-sent", "its removal is on its way", { revision: 9, since: 7 }, 5, false],
    ["never-sent", "its removal is accepted", { revision: 9 }, 10, undefined],
    ["not-since", "it was gone at that revision already", { revision: 4 }, 2, undefined],
  ] as const)("is %s where %s", (expected, _, removal, accepted, sent) => {
    const inFlight = sent === undefined ? undefined : bringing(sent);
    expect(removedName(owner({ accepted, inFlight }), topicWith(removal), "c", 4)).toBe(expected);
  });

  it("is not-since where the name has not changed, and never-sent where nobody knows", () => {
    const nothing = owner({ accepted: 5, inFlight: undefined });
    expect(removedName(nothing, topicWith({ revision: 9 }), "other", 4)).toBe("not-since");
    expect(removedName(nothing, undefined, "c", 4)).toBe("never-sent");
    const forgotten = { changes: () => undefined } as unknown as Topic;
    expect(removedName(nothing, forgotten, "c", 4)).toBe("never-sent");
  });

  it("is never-sent of a topic of which the client has accepted nothing yet", () => {
    const topic = topicWith({ revision: 9 });
    const nothing = { accepted: 5, inFlight: undefined };
    expect(removedName(owner(nothing, topic), topic, "c", 4)).toBe("never-sent");
  });
});
