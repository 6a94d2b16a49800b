import { fromBinary } from "@bufbuild/protobuf";
import { createGrpcServer } from "@xdstp/grpc/server";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { envoyRegistry, unknownTypes } from "@xdstp/protos/envoy";
import { routeConfiguration } from "@xdstp/resource-types";
import { expect, it, onTestFinished } from "vitest";
import { useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { startEnvoy } from "../src/envoy.ts";
import { wildcardBootstrap } from "../src/envoy-bootstrap.ts";
import { useHttpBackend } from "../src/http-backend.ts";
import { ads, cluster, endpoints, listener, route } from "../src/resources.ts";
import { get, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";

for (const variant of ["sotw", "delta"] as const) {
  describeProgram("envoy", `start without routes (${variant}/ads)`, (command) => {
    it("starts and answers 404 while its routes do not exist, and takes them when they do [S-MISS-1]", async () => {
      const port = await useHttpBackend("blue");
      // Envoy's own timer is 15 s.
      const impatient = { ...ads, initial_fetch_timeout: "0.5s" };
      const controlPlane = await useControlPlane(
        listener("l", "r", impatient),
        cluster("c", "e"),
        endpoints("e", port),
      );
      const envoy = await startEnvoy(
        command,
        wildcardBootstrap(`${variant}/ads`, controlPlane.port),
      );
      await envoy.untilStat("listener_manager.workers_started", "1");
      const url = await envoy.url("l");
      await until("a 404", async () => (await fetch(url)).status === 404);
      controlPlane.publish([route("r", "c")]);
      await until("routes", async () => (await fetch(url)).status === 200);
      await useTraffic(() => get(url)).answeredBy("blue");
      expect(
        controlPlane
          .status()[0]
          ?.types.find(({ typeUrl }) => typeUrl === routeConfiguration.typeUrl)?.state,
      ).toBe("SYNCED");
    });
  });
}

describeProgram("envoy", "types of extensions", (command) => {
  it("announces no type that @xdstp/protos does not know", async () => {
    const messages: Uint8Array[] = [];
    const server = createGrpcServer({
      isStreaming: () => true,
      accept: () => ({
        onMessage: (bytes) => {
          messages.push(bytes.slice());
        },
        onDrained: () => undefined,
        onClosed: () => undefined,
      }),
    });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const { port } = await server.listen({ port: 0 });
    await startEnvoy(command, wildcardBootstrap("sotw/ads", port));
    const { node } = fromBinary(
      DiscoveryRequestSchema,
      await until("the first message", () => messages[0]),
    );
    const announced = new Set(node?.extensions.flatMap(({ typeUrls }) => typeUrls));
    expect(announced.size).toBeGreaterThan(300);
    expect(unknownTypes(announced, envoyRegistry())).toEqual([]);
  });
});
