import { expect, it } from "vitest";

import { expectSame } from "../test/expect-same.ts";
import { chooseSeed, createRandom, scaled } from "../test/random.ts";
import { AliasIndex } from "./alias-index.ts";
import { NameRecord } from "./name-record.ts";

const records = Array.from(
  { length: 60 },
  (_, n) => new NameRecord(`n${String(n).padStart(2, "0")}`, undefined, true),
);

it("leads to the first by name of those that have an alias, whoever comes and goes [S-ALIAS-1]", () => {
  const seed = chooseSeed();
  for (let run = 0; run < scaled(5_000); run++) {
    const random = createRandom(seed + run);
    const index = new AliasIndex();
    const having = new Set<NameRecord>();
    for (let step = 0; step < 400; step++) {
      const record = random.pick(records);
      const has = having.has(record);
      index.replace(record, has ? ["alias"] : [], random.chance(0.3) || !has ? ["alias"] : []);
      const stays = [...index.all("alias")].includes(record);
      if (stays) having.add(record);
      else having.delete(record);
      const [first] = [...having].map(({ key }) => key).sort();
      expectSame(index.first("alias")?.key, first, () => `XDSTP_SEED=${seed + run}`);
    }
  }
});

it("finds it in a few steps, however many have an alias [S-LIM-6]", () => {
  let reads = 0;
  const many = Array.from({ length: 2_000 }, (_, n) => {
    const record = new NameRecord("", undefined, true);
    return Object.defineProperty(record, "key", {
      get: () => {
        reads++;
        return `n${String(n).padStart(6, "0")}`;
      },
    });
  });
  const index = new AliasIndex();
  for (const record of many) {
    index.replace(record, [], ["alias"]);
    index.first("alias");
  }
  for (const record of many) {
    index.replace(record, ["alias"], []);
    index.first("alias");
  }
  expect(index.first("alias")).toBeUndefined();
  expect(reads / many.length).toBeLessThan(60);
});
