import type { Topic } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createExchange } from "../delivery/exchange.ts";
import { createSmallSet } from "../subscription/small-set.ts";
import { NO_HOLDS, type Holds } from "./hold.ts";
import { type AcceptingOwner, noteAccepted, noteNothingSent } from "./note-accepted.ts";

const topics = ["sent", "unsettled", "unanswered", "taken"].map(
  (name) => ({ interest: { name } }) as unknown as Topic,
);
const [, unsettled, unanswered, taken] = topics;

/**
 * A type that was read up to revision 9, with four topics of which the client has accepted nothing
 * yet.
 */
function useOwner(heldBack: Holds = NO_HOLDS): AcceptingOwner {
  const unaccepted = createSmallSet<Topic>();
  for (const topic of topics) unaccepted.add(topic);
  return {
    exchange: createExchange(),
    sent: 9,
    heldBack,
    unaccepted,
    unsettled: { has: (topic) => topic === unsettled },
    unanswered: { has: (topic) => topic === unanswered },
    taken: {
      gathered: {
        origin: { answered: new Set(taken && [taken]), changed: new Set(), named: new Set() },
      },
    },
  };
}

const namesIn = ({ unaccepted }: AcceptingOwner): readonly string[] =>
  [...unaccepted].map(({ interest: { name } }) => name);

describe("noteAccepted()", () => {
  it("keeps topics that were not sent: unsettled, unanswered, and of a response that waits [S-ORD-2]", () => {
    const owner = useOwner();
    noteAccepted(owner);
    expect(namesIn(owner)).toEqual(["unsettled", "unanswered", "taken"]);
  });
});

describe("noteNothingSent()", () => {
  it("counts what was read as accepted", () => {
    const owner = useOwner();
    noteNothingSent(owner);
    expect(owner.exchange.accepted).toBe(9);
    expect(namesIn(owner)).not.toContain("sent");
  });

  it.each([
    ["names wait", useOwner(new Map([["r", {} as never]]))],
    [
      "a response is unanswered",
      { ...useOwner(), exchange: { ...createExchange(), inFlight: {} as never } },
    ],
    [
      "content is rejected",
      { ...useOwner(), exchange: { ...createExchange(), rejected: {} as never } },
    ],
  ])("counts nothing as accepted while %s", (_, owner) => {
    noteNothingSent(owner);
    expect(owner.exchange.accepted).toBe(0);
    expect(namesIn(owner)).toContain("sent");
  });
});
