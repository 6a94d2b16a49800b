import type { FollowedList } from "@xdstp/federation";
import { createSeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { compareMembers, type ShownMembers } from "./list-member.ts";

const runs = Math.max(2_000, Math.round(200_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

type FollowedMember = FollowedList["members"][number];

const followed = (name: string, version: string): FollowedMember => ({
  name,
  version,
  state: "held",
});
const show = ({ name, version, state }: FollowedMember) => ({
  name,
  version,
  state,
  value: version,
});
const versions = (
  members: readonly { readonly name: string; readonly version: string }[],
): readonly string[] => members.map(({ name, version }) => `${name}@${version}`).sort();

describe("compareMembers()", () => {
  it(`says of ${runs} random changes what was added, updated and removed, and shows what has not changed as it was [C-LIST-6]`, () => {
    const random = createSeededRandom(firstSeed);
    let before: ShownMembers<string> = { followed: [], members: [] };
    for (let run = 0; run < runs; run++) {
      const kept = before.followed.filter(() => !random.once(4));
      const changed = kept.map((one) => (random.once(3) ? followed(one.name, `v${run}`) : one));
      const names = new Set(changed.map(({ name }) => name));
      const more = ["", "a", "b", "c", "d"]
        .filter((name) => (name === "" || !names.has(name)) && random.once(3))
        .map((name) => followed(name, `v${run}`));
      const now = random.once(3) ? [...more, ...changed].reverse() : [...changed, ...more];
      const changes = compareMembers(before, now, show);
      const members = changes?.members ?? before.members;
      const fresh = now.filter((one) => !before.followed.includes(one));
      const gone = before.followed.filter((one) => !now.includes(one));
      const isIn = (some: readonly FollowedMember[], name: string): boolean =>
        name !== "" && some.some((one) => one.name === name);
      expect(
        [
          versions(changes?.added ?? []),
          versions(changes?.updated ?? []),
          versions(changes?.removed ?? []),
        ],
        `seed ${firstSeed}, run ${run}`,
      ).toEqual([
        versions(fresh.filter(({ name }) => !isIn(before.followed, name))),
        versions(fresh.filter(({ name }) => isIn(before.followed, name))),
        versions(gone.filter(({ name }) => !isIn(now, name))),
      ]);
      expect(
        members.map(({ name, version }) => [name, version]),
        `seed ${firstSeed}, run ${run}`,
      ).toEqual(now.map(({ name, version }) => [name, version]));
      for (const [index, one] of now.entries())
        if (before.followed.includes(one))
          expect(members[index]).toBe(before.members[before.followed.indexOf(one)]);
      before = { followed: now, members };
    }
  });

  it("looks at the members alone that are said to have changed, however many there are", () => {
    const were = Array.from({ length: 10_000 }, (_, place) => followed(String(place), "1"));
    const now = were.with(7, followed("7", "2"));
    let looks = 0;
    const counting = (members: readonly FollowedMember[]): readonly FollowedMember[] =>
      new Proxy(members, {
        get(target, key) {
          looks++;
          return Reflect.get(target, key) as unknown;
        },
      });
    const before = { followed: counting(were), members: were.map(show) };
    const changes = compareMembers(before, counting(now), show, [7]);
    expect([changes?.added, changes?.updated, changes?.removed, looks]).toEqual([
      [],
      [{ name: "7", version: "2", state: "held", value: "2" }],
      [],
      2,
    ]);
    expect([
      changes?.members.length,
      changes?.members[6] === before.members[6],
      changes?.members[7] === changes?.updated[0],
    ]).toEqual([10_000, true, true]);
    expect(compareMembers(before, now, show)).toEqual(changes);
  });

  it("finds nothing where the members are the same array", () => {
    const same = [followed("a", "1")];
    expect(compareMembers({ followed: same, members: same.map(show) }, same, show)).toBeUndefined();
  });
});
