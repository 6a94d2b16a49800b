import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

import { runOutage } from "./run-outage.ts";

it("serves the two globs of TP1's example while the origin is gone and the relay starts again [B-RELAY-1] [B-RELAY-9]", async () => {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-relay-"));
  onTestFinished(() => {
    rmSync(dir, { recursive: true });
  });
  const lines: string[] = [];
  await runOutage(dir, (line) => {
    lines.push(line);
  });
  expect(lines).toEqual([
    "client A has bar and foo, client B has baz",
    "the relay has asked the origin for a-listeners/* and b-listeners/*",
    "-- the origin is gone, and the relay starts again",
    "a client that has just come has bar and foo",
    "-- the origin is back, with another bar",
    "all clients have it",
  ]);
});
