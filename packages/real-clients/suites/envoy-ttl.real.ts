import { expect, it } from "vitest";
import { useControlPlane, type ControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import {
  type StreamKind,
  sourceOf,
  streamKinds,
  wildcardBootstrap,
} from "../src/envoy-bootstrap.ts";
import { useHttpBackend } from "../src/http-backend.ts";
import { cluster, endpoints, listener, route, type TestResource } from "../src/resources.ts";
import { get, type Traffic, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";

const ttlMs = 1_500;

/** Everything that Envoy has bears a TTL. */
async function useWorld(
  command: string,
  kind: StreamKind,
): Promise<{
  readonly controlPlane: ControlPlane;
  readonly envoy: Envoy;
  readonly traffic: Traffic;
}> {
  const backend = await useHttpBackend("blue");
  const source = sourceOf(kind);
  const timed: readonly TestResource[] = [
    listener("l", "r", source),
    route("r", "c"),
    cluster("c", "c-endpoints", {}, source),
    endpoints("c-endpoints", backend),
  ];
  const controlPlane = await useControlPlane(...timed.map((resource) => ({ ...resource, ttlMs })));
  const envoy = await startEnvoy(command, wildcardBootstrap(kind, controlPlane.port));
  const url = await envoy.url("l");
  await until("the first answer", async () => (await get(url)) === "blue");
  return { controlPlane, envoy, traffic: useTraffic(() => get(url)) };
}

const beats = ({ events }: ControlPlane): number =>
  events.filter(({ kind }) => kind === "heartbeat").length;

for (const kind of streamKinds) {
  describeProgram("envoy", `TTL (${kind})`, (command) => {
    const isDelta = kind.startsWith("delta");

    if (isDelta)
      it("keeps what has a TTL as long as there are heartbeats, and drops it without them [S-TTL-1] [S-TTL-2]", async () => {
        const { controlPlane, envoy, traffic } = await useWorld(command, kind);
        await until("40 heartbeats", () => beats(controlPlane) >= 40);
        await traffic.more(5);
        expect(traffic.failures).toEqual([]);
        expect(controlPlane.nacks()).toEqual([]);
        expect(controlPlane.events.filter(({ kind: what }) => what === "nack")).toEqual([]);
        await traffic.stop();
        await controlPlane.down();
        await until(
          "the end of cluster and listener",
          async () =>
            !(await envoy.clusters()).includes("c") && !(await envoy.listeners()).includes("l"),
        );
        await controlPlane.up();
        await until(
          "cluster and listener",
          async () =>
            (await envoy.clusters()).includes("c") && (await envoy.listeners()).includes("l"),
        );
      });
    else
      it("goes on past every TTL, since it is sent none [S-TTL-1]", async () => {
        const { controlPlane, traffic } = await useWorld(command, kind);
        const start = Date.now();
        await until("three TTLs", () => Date.now() - start > 3 * ttlMs);
        await traffic.more(5);
        expect(traffic.failures).toEqual([]);
        expect([beats(controlPlane), controlPlane.nacks()]).toEqual([0, []]);
      });
  });
}
