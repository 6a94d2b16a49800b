import { expect, it } from "vitest";

import { startPageServer } from "./page-server.ts";
import { runTour } from "./run-tour.ts";

it.each(["http", "websocket"] as const)(
  "shows a change, the last state while the server is away, and the next one when it is back, over %s",
  async (connection) => {
    const lines: string[] = [];
    await runTour((line) => {
      lines.push(line);
    }, connection);
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
  },
);

it.each([
  ["", "page.js"],
  ["websocket", "websocket.js"],
])("bundles the page /%s without anything of Node", async (path, name) => {
  await using pages = await startPageServer();
  const script = await (await fetch(`${pages.url}${name}`)).text();
  expect(script).toContain("as of your last visit");
  expect(script).not.toMatch(/["']node:/);
  expect(await (await fetch(`${pages.url}${path}`)).text()).toContain(`src="${name}"`);
});
