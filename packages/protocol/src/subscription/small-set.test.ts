import { describe, expect, it } from "vitest";
import { createRandom, scaled, seed } from "../../test/random.ts";
import { createSmallMap } from "./small-map.ts";
import { createSmallSet } from "./small-set.ts";

const steps = scaled(200_000);
const names = ["a", "b", "c"] as const;

describe("createSmallSet()", () => {
  it("is a Set, whatever is done to it", () => {
    const random = createRandom(seed);
    const small = createSmallSet<string>();
    const model = new Set<string>();
    for (let step = 0; step < steps; step++) {
      const name = names[random.int(3)] ?? "a";
      const what = random.int(8);
      const shown = `seed ${seed}, step ${step}`;
      if (what < 4) {
        small.add(name);
        model.add(name);
      } else if (what < 7) expect(small.delete(name), shown).toBe(model.delete(name));
      else {
        small.clear();
        model.clear();
      }
      expect([small.size, ...small], shown).toEqual([model.size, ...model]);
      for (const one of names) expect(small.has(one), shown).toBe(model.has(one));
    }
  });

  it("goes on with what is added while it is read, as a Set does", () => {
    const small = createSmallSet<string>();
    small.add("a");
    small.add("b");
    const seen: string[] = [];
    for (const name of small) {
      seen.push(name);
      if (name === "a") small.add("c");
    }
    expect(seen).toEqual(["a", "b", "c"]);
  });
});

describe("createSmallMap()", () => {
  it("is a Map, whatever is done to it", () => {
    const random = createRandom(seed);
    const small = createSmallMap<string, number>();
    const model = new Map<string, number>();
    for (let step = 0; step < steps; step++) {
      const name = names[random.int(3)] ?? "a";
      const what = random.int(8);
      const shown = `seed ${seed}, step ${step}`;
      if (what < 4) {
        small.set(name, step);
        model.set(name, step);
      } else if (what < 7) expect(small.delete(name), shown).toBe(model.delete(name));
      else {
        small.clear();
        model.clear();
      }
      expect([small.size, ...small], shown).toEqual([model.size, ...model]);
      expect([[...small.keys()], [...small.values()]], shown).toEqual([
        [...model.keys()],
        [...model.values()],
      ]);
      for (const one of names)
        expect([small.has(one), small.get(one)], shown).toEqual([model.has(one), model.get(one)]);
    }
  });
});
