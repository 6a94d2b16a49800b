import { expect, it } from "vitest";

import type { ListMember } from "./list-member.ts";
import type { ListPart } from "./list-part.ts";
import { Roster } from "./roster.ts";

interface Fake extends ListPart {
  put(state: ListMember["state"]): void;
}

/** Parts that count how often they are looked at. */
function useParts(count: number): {
  readonly parts: readonly Fake[];
  readonly looks: () => number;
} {
  let looks = 0;
  const parts = Array.from({ length: count }, (_, place): Fake => {
    let member: ListMember = { name: String(place), state: "pending", version: "" };
    return {
      get member() {
        looks++;
        return member;
      },
      get settled() {
        looks++;
        return member.state !== "pending";
      },
      put(state) {
        member = { ...member, state };
      },
      end: () => undefined,
    };
  });
  return { parts, looks: () => looks };
}

it("looks at the one member that has changed, however many there are", () => {
  const { parts, looks } = useParts(10_000);
  const [part] = parts.slice(5_000);
  const roster = new Roster();
  roster.replace(parts);
  const { members } = roster;
  roster.changedSince(members);
  const before = looks();
  part?.put("held");
  if (part !== undefined) roster.wake(part);
  roster.look();
  expect([
    roster.members === members,
    roster.members[5_000]?.state,
    roster.members[4_999] === members[4_999],
    roster.changedSince(members),
  ]).toEqual([false, "held", true, [5_000]]);
  expect(looks() - before).toBe(2);
});

it("is settled when each is, and has the same array while nothing changes", () => {
  const { parts } = useParts(2);
  const roster = new Roster();
  expect(roster.settled).toBe(true);
  roster.replace(parts);
  const { members } = roster;
  for (const part of parts) {
    expect(roster.settled).toBe(false);
    part.put("held");
    roster.wake(part);
    roster.look();
  }
  expect([roster.settled, roster.members === members]).toEqual([true, false]);
  const held = roster.members;
  for (const part of parts) roster.wake(part);
  roster.look();
  roster.replace([...parts]);
  expect(roster.members).toBe(held);
});

it("tells places of several changes in their order, and none of what it does not know", () => {
  const [one, two, three] = [useParts(1), useParts(2), useParts(3)].map(({ parts }) =>
    parts.at(-1),
  ) as [Fake, Fake, Fake];
  const roster = new Roster();
  roster.replace([one, two, three]);
  const { members } = roster;
  expect(roster.changedSince([])).toBeUndefined();
  for (const part of [three, one, three]) {
    part.put("held");
    roster.wake(part);
    roster.look();
  }
  expect([
    roster.changedSince(members),
    roster.changedSince(members),
    roster.changedSince(roster.members),
  ]).toEqual([[0, 2], undefined, []]);
  const { members: held } = roster;
  roster.replace([two, one]);
  expect([roster.changedSince(held), roster.members.map(({ name }) => name)]).toEqual([
    undefined,
    ["1", "0"],
  ]);
  roster.wake(three);
  roster.look();
  expect(roster.members.length).toBe(2);
});
