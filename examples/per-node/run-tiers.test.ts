import { expect, it } from "vitest";

import { runTiers } from "./run-tiers.ts";

it("gives two tiers of clients other content under the same name, and waits for the ACKs of whom it concerns [S-NODE-10] [S-ACK-9]", async () => {
  const lines: string[] = [];
  await runTiers((line) => {
    lines.push(line);
  });
  expect(lines).toEqual([
    "gold has web of gold-1, basic has web of shared-1",
    "accepted by gold-1: web of gold-2",
    "accepted by basic-1: web of shared-2",
    "accepted by gold-1: the end of web of gold",
    "gold has web of shared-2 again",
    "accepted by basic-1 and gold-1: web of shared-3",
  ]);
});
