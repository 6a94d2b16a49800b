import { expect, it } from "vitest";
import { cluster as clusterType, listener as listenerType } from "@xdstp/resource-types";
import { useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { startEnvoy } from "../src/envoy.ts";
import { sourceOf, wildcardBootstrap } from "../src/envoy-bootstrap.ts";
import { useGrpcBackend } from "../src/grpc-backend.ts";
import { grpcBootstrap } from "../src/grpc-bootstrap.ts";
import { startGrpcClient } from "../src/grpc-client.ts";
import { useHttpBackend } from "../src/http-backend.ts";
import {
  type Source,
  type TestResource,
  apiListener,
  cluster,
  endpoints,
  listener,
  route,
} from "../src/resources.ts";
import { get, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";

/** A listener with its routes in it: Envoy rejects it where it does not know their cluster. */
function listenerTo(name: string, to: string): TestResource {
  const { body } = route(name, to);
  const { body: whole } = listener(name, name);
  const manager = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "edge",
    route_config: { ...body, validate_clusters: true },
    http_filters: [
      {
        name: "router",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
        },
      },
    ],
  };
  return {
    typeUrl: listenerType.typeUrl,
    name,
    body: {
      ...whole,
      filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }],
    },
  };
}

/** A cluster that Envoy waits for as long as the test lasts: its endpoints never come. */
function slowCluster(name: string, source: Source): TestResource {
  return cluster(name, `${name}-endpoints`, {
    eds_cluster_config: {
      service_name: `${name}-endpoints`,
      eds_config: { ...source, initial_fetch_timeout: "60s" },
    },
  });
}

for (const kind of ["delta/ads", "sotw/ads"] as const) {
  describeProgram("envoy", `references (${kind})`, (command) => {
    const source = sourceOf(kind);

    it("gets routes at once while another cluster warms, without a failed request [S-ORD-4]", async () => {
      const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
      const controlPlane = await useControlPlane(
        listener("l", "r", source),
        route("r", "c"),
        cluster("c", "c-endpoints", {}, source),
        endpoints("c-endpoints", blue),
        cluster("d", "d-endpoints", {}, source),
        endpoints("d-endpoints", green),
      );
      const envoy = await startEnvoy(command, wildcardBootstrap(kind, controlPlane.port));
      const url = await envoy.url("l");
      await until("the first answer", async () => (await get(url)) === "blue");
      const traffic = useTraffic(() => get(url));
      await traffic.answeredBy("blue");
      controlPlane.publish([slowCluster("slow", source)]);
      for (const [to, answer] of [
        ["d", "green"],
        ["c", "blue"],
        ["d", "green"],
        ["c", "blue"],
      ] as const) {
        const begin = performance.now();
        controlPlane.publish([route("r", to)]);
        await traffic.answeredBy(answer);
        expect(performance.now() - begin).toBeLessThan(5_000);
      }
      expect(traffic.failures).toEqual([]);
      expect(controlPlane.events.filter((event) => event.kind === "order-expired")).toEqual([]);
    });

    it("gets a listener that it rejected again when the cluster comes that it lacked [S-ACK-8]", async () => {
      const controlPlane = await useControlPlane(
        listenerTo("l", "apii"),
        cluster("c", "c-endpoints", {}, source),
      );
      await startEnvoy(command, wildcardBootstrap(kind, controlPlane.port));
      const listeners = () =>
        controlPlane
          .status()
          .flatMap(({ types }) => types)
          .find(({ typeUrl }) => typeUrl === listenerType.typeUrl);
      await until(
        "the rejection",
        () => listeners()?.state === "NACKED",
        () => controlPlane.trace(),
      );
      expect(listeners()?.missing).toEqual([
        { name: "l", for: "apii", typeUrl: clusterType.typeUrl },
      ]);
      controlPlane.publish([
        {
          typeUrl: clusterType.typeUrl,
          name: "apii",
          body: { name: "apii", type: "STATIC", connect_timeout: "1s" },
        },
      ]);
      await until(
        "the listener",
        () => listeners()?.state === "SYNCED",
        () => controlPlane.trace(),
      );
      expect(listeners()?.nacks).toBe(1);
    });
  });
}

describeProgram("grpc-go", "references (sotw/ads)", (command) => {
  it("follows a route while the answer of nothing else is waited for, without a failed call [S-ORD-4]", async () => {
    const [blue, green] = [await useGrpcBackend("blue"), await useGrpcBackend("green")];
    const controlPlane = await useControlPlane(
      apiListener("svc", "r"),
      route("r", "c"),
      cluster("c", "c-endpoints"),
      endpoints("c-endpoints", blue),
    );
    const bootstrap = grpcBootstrap(controlPlane.port);
    const client = startGrpcClient("grpc-go", command, bootstrap, "xds:///svc");
    const traffic = useTraffic(() => client.call());
    await traffic.answeredBy("blue");
    controlPlane.publish([
      cluster("d", "d-endpoints"),
      endpoints("d-endpoints", green),
      route("r", "d"),
    ]);
    await traffic.answeredBy("green");
    controlPlane.publish([route("r", "c")]);
    await traffic.answeredBy("blue");
    expect(traffic.failures).toEqual([]);
    expect(controlPlane.events.filter((event) => event.kind === "order-expired")).toEqual([]);
  });
});
