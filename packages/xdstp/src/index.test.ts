import type { AckReport } from "@xdstp/server";
import { expect, it, onTestFinished } from "vitest";
import { ClusterSchema, clusters } from "./envoy.ts";
import { createControlPlane, createXdsClient } from "./index.ts";

it("serves what is put, to a client that knows an address alone, and reports its ACK", async () => {
  const controlPlane = createControlPlane();
  onTestFinished(() => controlPlane.close());
  const { host, port } = await controlPlane.listen({ port: 0 });
  controlPlane.put(clusters, { name: "web", connectTimeout: { seconds: 1n } });

  const client = createXdsClient({ server: `${host}:${port}`, nodeId: "n1" });
  onTestFinished(() => client.close());
  const reports: Promise<AckReport>[] = [];
  const seconds: (bigint | undefined)[] = [];
  for await (const { value } of client.watch(ClusterSchema, "web")) {
    if (seconds.push(value?.connectTimeout?.seconds) === 2) break;
    const { revision } = controlPlane.put(clusters, {
      name: "web",
      connectTimeout: { seconds: 2n },
    });
    reports.push(controlPlane.waitForAck(revision));
  }
  expect(seconds).toEqual([1n, 2n]);
  expect(await Promise.all(reports)).toMatchObject([{ accepted: [{ node: "n1" }] }]);
  controlPlane.remove(clusters.typeUrl, "web");
  expect(controlPlane.cache.counters.resources).toBe(0);
});

it("knows Envoy's types, or those it is given", () => {
  const typeOf = (plane: ReturnType<typeof createControlPlane>): boolean | undefined =>
    plane.cache.descriptor(clusters.typeUrl)?.fullStateInSotw;
  expect(typeOf(createControlPlane())).toBe(true);
  expect(typeOf(createControlPlane({ cache: { types: [] } }))).toBeUndefined();
});

it("closes server, cache and feeds", async () => {
  const controlPlane = createControlPlane();
  const handle = controlPlane.addFeed({
    run: (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          resolve();
        });
      }),
  });
  await controlPlane[Symbol.asyncDispose]();
  await expect(handle.ended).resolves.toBeUndefined();
  await expect(controlPlane.listen({ port: 0 })).rejects.toMatchObject({
    code: "FAILED_PRECONDITION",
  });
});
