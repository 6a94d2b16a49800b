import { InterestMap } from "@xdstp/core";
import { expect, it } from "vitest";

import { Owing } from "./owing.ts";
import type { Ask, FollowedRedirect } from "./route.ts";
import type { ServerLink } from "./server-link.ts";

it("looks once at each member of a collection, however many come to be known one by one [S-LIM-6]", () => {
  const count = 1_000;
  let looks = 0;
  const settled: unknown[] = [];
  const states = Array.from({ length: count }, () => "pending");
  const redirects = new InterestMap<FollowedRedirect>();
  for (let n = 0; n < count; n++) {
    const key = `xdstp://a/t.T/ns/${n}`;
    redirects.set("T", { name: key }, key, {
      key,
      follower: {
        get outcome() {
          looks++;
          return { state: states[n] };
        },
      },
    } as unknown as FollowedRedirect);
  }
  const route = {
    redirects,
    redirect: (typeUrl: string, key: string) => redirects.ofName(typeUrl, key)[0],
    uses: () => true,
  };
  const ask = {
    typeUrl: "T",
    kind: "glob",
    key: "xdstp://a/t.T/ns/*",
    interest: { name: "xdstp://a/t.T/ns/*" },
    direct: true,
    route,
  } as unknown as Ask;
  const link = {
    part: {
      commit: (transaction: unknown) => {
        settled.push(transaction);
      },
    },
  } as unknown as ServerLink;
  const owing = new Owing();
  owing.add([ask], link);
  for (let n = 0; n < count; n++) {
    owing.pay();
    states[n] = "held";
    if (n === 500) redirects.delete("T", { name: "" }, "xdstp://a/t.T/ns/700");
  }
  expect([settled.length, looks < 4 * count]).toEqual([0, true]);
  states[0] = "pending";
  owing.pay();
  expect(settled).toEqual([]);
  states[0] = "held";
  owing.pay();
  owing.pay();
  expect(settled).toHaveLength(1);
});
