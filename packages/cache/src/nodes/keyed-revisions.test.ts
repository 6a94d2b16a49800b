import { expect, it } from "vitest";

import { createKeyedRevisions } from "./keyed-revisions.ts";

it("concerns everyone where a revision is not known, of the shared content, or forgotten", () => {
  const keyed = createKeyedRevisions();
  keyed.note(1, ["gold"]);
  keyed.note(2, ["gold", undefined]);
  const concerned = (revision: number): readonly boolean[] =>
    ["gold", "basic", undefined].map((key) => keyed.concerns(revision, key));
  expect([1, 2, 3].map(concerned)).toEqual([
    [true, false, false],
    [true, true, true],
    [true, true, true],
  ]);
  for (let revision = 3; revision <= 10_000; revision += 1) keyed.note(revision, ["gold"]);
  expect(concerned(1)).toEqual([true, false, false]);
  keyed.note(10_001, ["gold"]);
  expect(concerned(1)).toEqual([true, true, true]);
  expect(concerned(3)).toEqual([true, false, false]);
});
