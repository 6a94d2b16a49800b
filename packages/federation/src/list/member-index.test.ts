import { expect, it } from "vitest";

import type { ListMember, ListPart } from "./list-member.ts";
import { MemberIndex } from "./member-index.ts";

interface Fake extends ListPart {
  put(state: ListMember["state"]): void;
}

/** Parts that count how often they are read. */
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
  const memberIndex = new MemberIndex();
  memberIndex.replace(parts);
  const { members } = memberIndex;
  memberIndex.changedSince(members);
  const before = looks();
  part?.put("held");
  if (part !== undefined) memberIndex.wake(part);
  memberIndex.look();
  expect([
    memberIndex.members === members,
    memberIndex.members[5_000]?.state,
    memberIndex.members[4_999] === members[4_999],
    memberIndex.changedSince(members),
  ]).toEqual([false, "held", true, [5_000]]);
  expect(looks() - before).toBe(2);
});

it("is settled when each is, and has the same array while nothing changes", () => {
  const { parts } = useParts(2);
  const memberIndex = new MemberIndex();
  expect(memberIndex.settled).toBe(true);
  memberIndex.replace(parts);
  const { members } = memberIndex;
  for (const part of parts) {
    expect(memberIndex.settled).toBe(false);
    part.put("held");
    memberIndex.wake(part);
    memberIndex.look();
  }
  expect([memberIndex.settled, memberIndex.members === members]).toEqual([true, false]);
  const held = memberIndex.members;
  for (const part of parts) memberIndex.wake(part);
  memberIndex.look();
  memberIndex.replace([...parts]);
  expect(memberIndex.members).toBe(held);
});

it("tells places of several changes in their order, and none of what it does not know", () => {
  const [one, two, three] = [useParts(1), useParts(2), useParts(3)].map(({ parts }) =>
    parts.at(-1),
  ) as [Fake, Fake, Fake];
  const memberIndex = new MemberIndex();
  memberIndex.replace([one, two, three]);
  const { members } = memberIndex;
  expect(memberIndex.changedSince([])).toBeUndefined();
  for (const part of [three, one, three]) {
    part.put("held");
    memberIndex.wake(part);
    memberIndex.look();
  }
  expect([
    memberIndex.changedSince(members),
    memberIndex.changedSince(members),
    memberIndex.changedSince(memberIndex.members),
  ]).toEqual([[0, 2], undefined, []]);
  const { members: held } = memberIndex;
  memberIndex.replace([two, one]);
  expect([memberIndex.changedSince(held), memberIndex.members.map(({ name }) => name)]).toEqual([
    undefined,
    ["1", "0"],
  ]);
  memberIndex.wake(three);
  memberIndex.look();
  expect(memberIndex.members.length).toBe(2);
});
