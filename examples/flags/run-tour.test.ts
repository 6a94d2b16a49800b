import { expect, it } from "vitest";

import { runTour } from "./run-tour.ts";

it("gives a feature to more and more users, applies no edit that breaks a rule, and says which process rejects a flag", async () => {
  const lines: string[] = [];
  await runTour((line) => {
    lines.push(line);
  });
  const counts = lines.flatMap((line) => {
    const [, web1, web2] =
      /^new cart for (\d+) of 1000 users in web-1, (\d+) in web-2$/.exec(line) ?? [];
    return web1 === undefined ? [] : [[Number(web1), Number(web2)] as const];
  });
  const [tenth = [0, 0], quarter = [0, 0], afterFault = [0, 0], half = [0, 0], off] = counts;
  for (const [found, percent] of [
    [tenth, 10],
    [quarter, 25],
  ] as const) {
    expect(found[0]).toBe(found[1]);
    expect(Math.abs(found[0] / 10 - percent)).toBeLessThan(5);
  }
  expect(afterFault).toEqual(quarter);
  expect(half[0]).toBe(quarter[0]);
  expect(Math.abs(half[1] / 10 - 50)).toBeLessThan(5);
  expect(off).toEqual([0, 0]);
  expect(lines).toContain(
    "flags.example/flags.v1.Flag/checkout/new-cart.yaml:2:1: percent must be less than or equal to 100 [uint32.lte]",
  );
  expect(lines).toContain(
    'web-1 rejects "xdstp://flags.example/flags.v1.Flag/checkout/new-cart": web-1 does not know the group beta',
  );
  expect(lines).toContain("new cart for a user of the group beta in a page: on");
  expect(lines.at(-1)).toBe("processes that reject a flag: 0");
});
