import { defaultServerLimits } from "@xdstp/server";
import { expect, it } from "vitest";
import { defaultNamedLimits, groupLimits } from "./named-limits.ts";

it("puts each limit into its group, and no limit has the name of another", () => {
  expect(groupLimits({ subscriptions: 5, pingMs: 6 })).toEqual({
    stream: { subscriptions: 5 },
    admission: {},
    access: {},
    answers: {},
    wire: { pingMs: 6 },
  });
  expect(groupLimits(defaultNamedLimits)).toEqual(defaultServerLimits);
});
