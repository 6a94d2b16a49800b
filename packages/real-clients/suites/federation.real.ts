import { fromBinary, toJson, type JsonObject } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { expect, it, onTestFinished } from "vitest";

import { type Plane, type PlaneResource, startPlane } from "../../../examples/federation/plane.ts";
import { runTour } from "../../../examples/federation/run-tour.ts";
import { describeProgram } from "../src/describe-program.ts";
import { startGoControlPlane } from "../src/go-control-plane.ts";

/** The control plane of an authority, in Go: its names are texts to it, and that is enough. */
async function startGoPlane(command: string): Promise<Plane> {
  const server = await startGoControlPlane(command, "linear");
  const bodyOf = ({
    typeUrl,
    name,
    value,
  }: PlaneResource): Parameters<typeof server.change>[0][number] => ({
    typeUrl,
    name,
    body: toJson(ClusterSchema, fromBinary(ClusterSchema, value)) as JsonObject,
  });
  return {
    uri: server.uri,
    put: (...resources) => server.change(resources.map(bodyOf)),
    stop: () => server.stop(),
    start: () => server.start(),
  };
}

async function startOurs(authority: string): Promise<Plane> {
  const plane = await startPlane(authority);
  onTestFinished(() => plane[Symbol.asyncDispose]());
  return plane;
}

describeProgram("go-control-plane", "as one authority of two", (command) => {
  it("gives members of a list of ours; its alternative stands in for it while it is gone [C-LIST-5] [C-ALT-3] [C-ALT-4]", async () => {
    const lines: string[] = [];
    await runTour(
      { cloud: await startGoPlane(command), premises: await startOurs("premises") },
      (line) => {
        lines.push(line);
      },
    );
    expect(lines.filter((line) => !line.startsWith(" "))).toEqual([
      "checkout from cloud, search from premises",
      "-- the control plane of cloud dies",
      "checkout from premises, search from premises",
      "-- it is back",
      "checkout from cloud, search from premises",
    ]);
  });
});
