import { systemClock } from "@xdstp/core";
import { expect, it } from "vitest";

import { LinkUsers, Route } from "./route.ts";

it("keeps a subscription that begins again in the turn in which the last one lost its users", async () => {
  const { asks } = new Route(
    {
      users: new LinkUsers(),
      clock: systemClock,
      recall: () => undefined,
      changed: () => undefined,
      part: {
        commit: () => ({ revision: 0 }),
        held: () => [],
        unavailable: () => undefined,
      },
    },
    { links: [], reachabilityOnly: false },
  );
  const follower = { member: undefined, touch: () => undefined };
  const first = asks.open("t", { name: "a" }, null);
  asks.follow(first, follower);
  asks.unfollow(first, follower);
  asks.direct(first, false);
  const second = asks.open("t", { name: "a" }, null);
  asks.direct(second, true);
  await Promise.resolve();
  expect([...asks]).toEqual([second]);
  asks.direct(second, false);
  expect(asks.size).toBe(0);
});
