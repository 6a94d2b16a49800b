import { expect, it } from "vitest";

import { startPageServer } from "./page-server.ts";
import { runTour } from "./run-tour.ts";

it("shows a change, the last state while the server is away, and the next one when it is back", async () => {
  const lines: string[] = [];
  await runTour((line) => {
    lines.push(line);
  });
  expect(lines).toEqual([
    "page: current 10 %",
    "-- new-cart.yaml: percent: 25",
    "page: current 25 %",
    "-- the server is stopped, and the page is opened again",
    "page: stored 25 %",
    "-- new-cart.yaml: percent: 50",
    "-- the server starts again",
    "page: current 50 %",
  ]);
});

it("bundles the page without anything of Node", async () => {
  await using pages = await startPageServer();
  const script = await (await fetch(`${pages.url}page.js`)).text();
  expect(script).toContain("as of your last visit");
  expect(script).not.toMatch(/["']node:/);
  expect(await (await fetch(pages.url)).text()).toContain('src="page.js"');
});
