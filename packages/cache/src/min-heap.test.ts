import { expect, it } from "vitest";

import { expectSame, expectSameItems } from "../test/expect-same.ts";
import { chooseSeed, createRandom, scaled } from "../test/random.ts";
import { MinHeap } from "./min-heap.ts";

interface Item {
  readonly at: number;
}

it("takes out what a sorted array has first, whatever is put in and let go of in between", () => {
  const seed = chooseSeed();
  for (let run = 0; run < scaled(20_000); run++) {
    const random = createRandom(seed + run);
    const where = (): string => `XDSTP_SEED=${seed + run}`;
    const heap = new MinHeap<Item>((one, other) => one.at < other.at);
    let sorted: Item[] = [];
    for (let step = 0; step < 100; step++) {
      const action = random.int(10);
      if (action < 6) {
        const item = { at: random.int(20) };
        heap.push(item);
        sorted = [...sorted, item].sort((a, b) => a.at - b.at);
      } else if (action < 9) {
        expectSame(heap.first?.at, sorted[0]?.at, where);
        const taken = heap.pop();
        expectSame(taken?.at, sorted[0]?.at, where);
        sorted = sorted.filter((item) => item !== taken);
      } else {
        const rest = random.int(3);
        heap.keep(({ at }) => at % 3 !== rest);
        sorted = sorted.filter(({ at }) => at % 3 !== rest);
      }
      expectSame(heap.size, sorted.length, where);
    }
    const left = Array.from({ length: heap.size }, () => heap.pop()?.at);
    expectSameItems(
      left,
      sorted.map(({ at }) => at),
      where,
    );
    expect([heap.first, heap.pop(), heap.size]).toEqual([undefined, undefined, 0]);
  }
});

it("puts in with one step what is not before the others, and takes out in as many as the number of items has digits", () => {
  const heap = new MinHeap<number>((one, other) => one < other);
  const count = 1 << 16;
  for (let n = 0; n < count; n++) heap.push(n);
  expect(heap.work).toBeLessThan(count);
  heap.work = 0;
  for (let n = 0; n < count; n++) expect(heap.pop()).toBe(n);
  expect(heap.work / count).toBeLessThan(2 * 16);
});
