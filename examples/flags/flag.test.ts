import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";

import { isOn } from "./flag.ts";
import { FlagSchema } from "./gen/flags/v1/flags_pb.ts";

const users = Array.from({ length: 1000 }, (_, at) => ({ id: `user-${String(at)}`, groups: [] }));

it("keeps a feature for who has it while the percentage grows", () => {
  const at = (percent: number) =>
    new Set(users.filter((user) => isOn("x", create(FlagSchema, { on: true, percent }), user)));
  for (let percent = 0; percent < 100; percent += 10)
    expect(at(percent).isSubsetOf(at(percent + 10))).toBe(true);
  expect([at(0).size, at(100).size]).toEqual([0, 1000]);
});

it("gives it to groups, and to no user where the flag is off", () => {
  const user = { id: "a", groups: ["staff"] };
  const flag = create(FlagSchema, { on: true, groups: ["staff"] });
  expect(isOn("x", flag, user)).toBe(true);
  expect(isOn("x", { ...flag, on: false }, user)).toBe(false);
});
