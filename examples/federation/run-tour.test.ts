import { expect, it, onTestFinished } from "vitest";

import { type Plane, startPlane } from "./plane.ts";
import { runTour } from "./run-tour.ts";

async function usePlane(authority: string): Promise<Plane> {
  const plane = await startPlane(authority);
  onTestFinished(() => plane[Symbol.asyncDispose]());
  return plane;
}

it("reads a list of two authorities, and stays up when one of their control planes is gone [C-LIST-5] [C-ALT-3] [C-ALT-4]", async () => {
  const lines: string[] = [];
  await runTour(
    { cloud: await usePlane("cloud"), premises: await usePlane("premises") },
    (line) => {
      lines.push(line);
    },
  );
  expect(lines).toEqual([
    "checkout from cloud, search from premises",
    "-- the control plane of cloud dies",
    "checkout from premises, search from premises",
    "   checkout -> alt xdstp://premises/envoy.config.cluster.v3.Cluster/checkout-copy",
    "-- it is back",
    "checkout from cloud, search from premises",
  ]);
});
