import { expect, it } from "vitest";

import { StateEntry } from "./state-entry.ts";

it("is the same array until the entry is superseded, so that responses are shared and then forgotten, under another spelling too", () => {
  const entry = new StateEntry({ revision: 1, name: "a" });
  const spelled = entry.spelled("A");
  const arrays = [entry.alone(), spelled.alone()];
  expect([entry.alone(), spelled.alone()].every((array, index) => array === arrays[index])).toBe(
    true,
  );
  entry.supersede();
  expect([entry.alone(), spelled.alone()].some((array, index) => array === arrays[index])).toBe(
    false,
  );
  expect(spelled.superseded).toBe(true);
});
