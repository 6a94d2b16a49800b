import { expect, it } from "vitest";

import { show, useList, useScene, type Scene } from "../../test/follow.ts";
import { inline, located } from "../../test/lists.ts";
import { turn } from "../../test/turn.ts";

const L = "xdstp://a/acme.v1.FlagCollection/l";
const at = (id: number): string => `xdstp://a/acme.v1.Flag/${id}`;
const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);
const flags = (from: number, to: number): readonly Uint8Array[] =>
  range(from, to).map((id) => located(at(id)));

/** Returns the subscribed names without the list itself. */
const wanted = ({ wanted: all }: Scene): readonly string[] =>
  [...all]
    .filter((name) => name !== L)
    .map((name) => name.slice(name.lastIndexOf("/") + 1))
    .sort((one, other) => Number(one) - Number(other));

/** Creates a scene that counts the opened topics. */
async function useCounting(): Promise<{ readonly scene: Scene; readonly topics: () => number }> {
  const scene = await useScene();
  let topics = 0;
  const cache = new Proxy(scene.cache, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]): unknown => {
        if (key === "topic") topics++;
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { scene: { ...scene, cache }, topics: () => topics };
}

it("asks for some thousand members of a long list in one turn, and shows it when all of it is taken", async () => {
  const { scene, topics } = await useCounting();
  const list = useList(scene, L);
  expect(topics()).toBe(1);
  scene.putList(L, ...flags(0, 10_000));
  expect([list.holding.state, list.members.length, list.settled, topics()]).toEqual([
    "pending",
    0,
    false,
    1,
  ]);
  await turn();
  expect([list.holding.state, list.members.length, list.settled, topics()]).toEqual([
    "pending",
    0,
    false,
    1 + 4_000,
  ]);
  await turn();
  expect([list.holding.state, list.members.length, list.settled, topics()]).toEqual([
    "pending",
    0,
    false,
    1 + 8_000,
  ]);
  await turn();
  expect([list.holding.state, list.members.length, list.settled, topics()]).toEqual([
    "held",
    10_000,
    false,
    1 + 10_000,
  ]);
  expect(list.wakes).toBeGreaterThan(1);
});

it("shows the list before, with what becomes of its members, until all of the next one is taken", async () => {
  const scene = await useScene();
  const list = useList(scene, L, { slice: 2 });
  scene.putList(L, ...flags(0, 2));
  expect(list.members.length).toBe(2);
  scene.put(at(0), "a");
  scene.putList(L, ...flags(1, 6));
  scene.put(at(1), "b");
  expect([list.holding.version, list.members.map(show), list.settled]).toEqual([
    "list 1",
    ["0=a@1", "1=b@1"],
    false,
  ]);
  for (let turns = 0; turns < 3; turns++) await turn();
  expect([list.holding.version, list.members.map(show)]).toEqual([
    "list 2",
    ["1=b@1", "2 pending", "3 pending", "4 pending", "5 pending"],
  ]);
  await turn();
  expect(wanted(scene)).toEqual(["1", "2", "3", "4", "5"]);
  for (const id of range(2, 6)) scene.put(at(id), "c");
  expect(list.settled).toBe(true);
});

it("takes only the newest of lists that come faster, and leaves nothing behind of the others", async () => {
  const scene = await useScene();
  const list = useList(scene, L, { slice: 2 });
  scene.putList(L, ...flags(0, 9));
  await turn();
  scene.putList(L, ...flags(3, 12));
  await turn();
  scene.putList(L, inline("x", "on"), located(at(4)), located(at(20)));
  for (let turns = 0; turns < 8; turns++) await turn();
  expect([list.members.map(show), list.holding.version, wanted(scene)]).toEqual([
    ["x=on@1", "4 pending", "20 pending"],
    "list 3",
    ["4", "20"],
  ]);
});

it("goes on with a list that is rejected or gone while another one is taken", async () => {
  const scene = await useScene();
  const list = useList(scene, L, { slice: 2, maxEntries: 5 });
  scene.putList(L, ...flags(0, 5));
  await turn();
  scene.putList(L, ...flags(0, 6));
  for (let turns = 0; turns < 4; turns++) await turn();
  expect([
    list.holding.state,
    list.holding.version,
    list.holding.error?.code,
    list.members.length,
  ]).toEqual(["held", "list 1", "INVALID_ARGUMENT", 5]);
  scene.putList(L, ...flags(5, 10));
  void scene.sink.commit({
    remove: [{ typeUrl: `type.googleapis.com/acme.v1.FlagCollection`, name: L }],
  });
  for (let turns = 0; turns < 8; turns++) await turn();
  expect([list.holding.state, list.members.length, wanted(scene)]).toEqual(["missing", 0, []]);
});

it("lets go of all in slices when it is closed, also in the middle of a list", async () => {
  const scene = await useScene();
  const list = useList(scene, L, { slice: 2 });
  scene.putList(L, ...flags(0, 9));
  await turn();
  const { wakes } = list;
  list.close();
  await turn();
  expect(scene.wanted.size).toBeLessThan(5);
  scene.put(at(1), "late");
  for (let turns = 0; turns < 4; turns++) await turn();
  expect([[...scene.wanted], list.wakes]).toEqual([[], wakes]);
});
