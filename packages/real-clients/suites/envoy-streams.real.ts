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
import { cluster, endpoints, listener, route } from "../src/resources.ts";
import { type Traffic, get, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";

interface World {
  readonly blue: number;
  readonly green: number;
  readonly controlPlane: ControlPlane;
  readonly envoy: Envoy;
  /** Through listener, routes and cluster; at the beginning answered by blue. */
  readonly traffic: Traffic;
}

async function useWorld(command: string, kind: StreamKind): Promise<World> {
  const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
  const source = sourceOf(kind);
  const controlPlane = await useControlPlane(
    listener("l", "r", source),
    route("r", "c"),
    cluster("c", "c-endpoints", {}, source),
    endpoints("c-endpoints", blue),
  );
  const envoy = await startEnvoy(command, wildcardBootstrap(kind, controlPlane.port));
  const url = await envoy.url("l");
  await until("the first answer", async () => (await get(url)) === "blue");
  const traffic = useTraffic(() => get(url));
  await traffic.answeredBy("blue");
  return { blue, green, controlPlane, envoy, traffic };
}

for (const kind of streamKinds) {
  describeProgram("envoy", `streams (${kind})`, (command) => {
    const source = sourceOf(kind);

    it("takes listener, routes, cluster and endpoints, and acknowledges each", async () => {
      const { controlPlane } = await useWorld(command, kind);
      await until(
        "all is SYNCED",
        () => {
          const types = controlPlane.status().flatMap((stream) => stream.types);
          return types.length >= 4 && types.every(({ state }) => state === "SYNCED");
        },
        () => controlPlane.status(),
      );
      const [stream] = controlPlane.status();
      expect(stream?.node).toMatchObject({
        id: "real-envoy",
        cluster: "suites",
        userAgentName: "envoy",
      });
      expect(new Set(controlPlane.status().map(({ variant }) => variant))).toEqual(
        new Set([kind.startsWith("delta") ? "delta" : "sotw"]),
      );
      expect(controlPlane.status().some(({ service }) => service !== undefined)).toBe(
        kind.endsWith("per-type"),
      );
    });

    it("follows endpoints, routes to another cluster and the removal of the old one, without a failed request [S-ORD-1] [S-ORD-3]", async () => {
      const { blue, green, controlPlane, envoy, traffic } = await useWorld(command, kind);
      controlPlane.publish([endpoints("c-endpoints", green)]);
      await traffic.answeredBy("green");
      const made = [cluster("d", "d-endpoints", {}, source), endpoints("d-endpoints", blue)];
      const gone = [cluster("c", "c-endpoints"), endpoints("c-endpoints")];
      if (kind.endsWith("/ads")) controlPlane.publish([...made, route("r", "d")], gone);
      else {
        // Streams of their own are in no order to each other: there the author of the change has to wait.
        controlPlane.publish(made);
        await until("cluster d", async () => (await envoy.clusters()).includes("d"));
        controlPlane.publish([route("r", "d")]);
        await traffic.answeredBy("blue");
        controlPlane.publish([], gone);
      }
      await traffic.answeredBy("blue");
      await until("cluster c is gone", async () => (await envoy.clusters()).join() === "d");
      await traffic.more(20);
      expect(traffic.failures).toEqual([]);
    });

    it("warms a cluster that was edited while its endpoints were not, without waiting for a timeout [S-WARM-1]", async () => {
      const { controlPlane, envoy, traffic } = await useWorld(command, kind);
      const before = await envoy.stat("cluster_manager.cluster_modified");
      controlPlane.publish([cluster("c", "c-endpoints", { connect_timeout: "2s" }, source)]);
      await until(
        "the cluster is modified",
        async () => (await envoy.stat("cluster_manager.cluster_modified")) !== before,
      );
      await envoy.untilWarm();
      await traffic.more(20);
      expect(await envoy.timeouts()).toEqual([]);
      expect(traffic.failures).toEqual([]);
    });
  });

  describeProgram("envoy", `rejection and absence (${kind})`, (command) => {
    const source = sourceOf(kind);

    it("rejects a bad cluster with a reason that the status shows, and takes all of that response with the correction [S-ACK-8] [S-ACK-9]", async () => {
      const { green, controlPlane, envoy, traffic } = await useWorld(command, kind);
      const more = [
        cluster("good", "good-endpoints", {}, source),
        endpoints("good-endpoints", green),
        endpoints("bad-endpoints", green),
      ];
      controlPlane.publish([
        ...more,
        cluster("bad", "bad-endpoints", { connect_timeout: "0s" }, source),
      ]);
      await until(
        "a NACK",
        () => controlPlane.nacks().some((text) => text.includes("ConnectTimeout")),
        () => controlPlane.status(),
      );
      await traffic.more(10);
      controlPlane.publish([cluster("bad", "bad-endpoints", {}, source)]);
      await until(
        "all three clusters",
        async () => (await envoy.clusters()).join() === "bad,c,good",
        () => envoy.clusters(),
      );
      await until(
        "no NACK any more",
        () => controlPlane.nacks().length === 0,
        () => controlPlane.nacks(),
      );
      expect(traffic.failures).toEqual([]);
    });

    it("serves on while the server is away, and takes from it what has changed meanwhile, without a failed request or a timeout", async () => {
      const { green, controlPlane, envoy, traffic } = await useWorld(command, kind);
      await controlPlane.down();
      await until("Envoy has noticed", async () =>
        [...(await envoy.stats(/control_plane\.connected_state/)).values()].includes("0"),
      );
      controlPlane.publish([
        endpoints("c-endpoints", green),
        cluster("c", "c-endpoints", { connect_timeout: "2s" }, source),
        cluster("d", "c-endpoints", {}, source),
      ]);
      await traffic.more(20);
      await controlPlane.up();
      await traffic.answeredBy("green");
      await until("the new cluster", async () => (await envoy.clusters()).join() === "c,d");
      await envoy.untilWarm();
      await traffic.more(20);
      expect(await envoy.timeouts()).toEqual([]);
      expect(traffic.failures).toEqual([]);
    });
  });
}
