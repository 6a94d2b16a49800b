import { expect, it } from "vitest";

import { runTour } from "./run-tour.ts";

it("answers the polls of a script and of a client, and knows what the script rejects", async () => {
  const lines: string[] = [];
  await runTour((line) => {
    lines.push(line);
  });
  expect(lines).toEqual([
    "script: 200 web",
    "script: 304, nothing new",
    "client: web 1 s",
    "-- web: 2 s",
    "client: web 2 s",
    "script rejects: 2 s is too long for this script",
  ]);
});
