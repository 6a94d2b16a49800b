import { expect, it } from "vitest";

import { type Committed, whenDecided } from "./feed.ts";

it("goes on at once with a commit on which nobody votes", () => {
  const seen: Committed[] = [];
  const committed = whenDecided({ revision: 1 }, (decided) => {
    seen.push(decided);
    return { ...decided, refused: [] };
  });
  expect(seen).toEqual([{ revision: 1 }]);
  expect(committed).toEqual({ revision: 1, refused: [] });
});

it("goes on with what the votes decide, and changes that", async () => {
  const committed = whenDecided(
    { revision: 1, decided: Promise.resolve({ revision: 2 }) },
    (decided) => ({ ...decided, revision: decided.revision + 10 }),
  );
  expect(committed.revision).toBe(1);
  expect(await committed.decided).toEqual({ revision: 12 });
});
