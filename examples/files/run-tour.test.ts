import { expect, it } from "vitest";

import { followResponse } from "./follow-response.ts";
import { runTour } from "./run-tour.ts";

it("reads the file of a bootstrap of Envoy, and follows an edit", async () => {
  const lines: string[] = [];
  await followResponse((line) => {
    lines.push(line);
  });
  expect(lines).toEqual(["web in cds.yaml: 1 s", "-- cds.yaml: 2s", "web in cds.yaml: 2 s"]);
});

it("reads the files of a directory, follows edits, keeps what an edit breaks, and reads nothing outside", async () => {
  const lines: string[] = [];
  await runTour((line) => {
    lines.push(line);
  });
  const expected = [
    "api.yaml 1 s, web.yaml 1 s",
    "-- web.yaml: 2s",
    "api.yaml 1 s, web.yaml 2 s",
    "-- web.yaml: twos",
    "-- web.yaml: 3s, and api.yaml is removed",
    "web.yaml 3 s",
    '[PERMISSION_DENIED] "file:///etc/passwd" leads out of DIR, the directory of file names (node "example")',
  ];
  // The two edits of the last step may be seen one by one.
  const known = new Set(expected);
  expect(lines.filter((line, at) => known.has(line) && line !== lines[at - 1])).toEqual(expected);
  expect(lines.find((line) => line.includes(";"))).toMatch(
    /^api\.yaml 1 s, web\.yaml 2 s; DIR\/web\.yaml:1:\d+: .*twos/,
  );
});
