import { join } from "node:path";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

import { type ControlPlane, useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import { useHttpBackend } from "../src/http-backend.ts";
import { cluster, endpoints, listener, route } from "../src/resources.ts";
import { get, type Traffic, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";
import { startExport } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";

interface World {
  readonly blue: number;
  readonly green: number;
  readonly envoy: Envoy;
  readonly server: ControlPlane;
  /** Through listener, routes, cluster and endpoints; at the beginning answered by blue. */
  readonly traffic: Traffic;
}

/** A server, `xdstp export --watch` of it, and an Envoy that reads the files and knows no server. */
async function useWorld(command: string): Promise<World> {
  const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
  const server = await useControlPlane(
    listener("l", "r"),
    route("r", "c"),
    cluster("c", "c/endpoints"),
    endpoints("c/endpoints", blue),
  );
  const dir = useFolder();
  await startExport(dir, server.port);
  const bootstrap = readFileSync(join(dir, "bootstrap.json"), "utf8");
  const envoy = await startEnvoy(command, JSON.parse(bootstrap) as object);
  const url = await envoy.url("l");
  await until("the first answer", async () => (await get(url)) === "blue");
  const traffic = useTraffic(() => get(url));
  await traffic.answeredBy("blue");
  return { blue, green, envoy, server, traffic };
}

describeProgram("envoy", "files of xdstp export", (command) => {
  it("reads listeners, routes, clusters and endpoints, and takes an edit of each without a failed request [C-FILE-1] [B-FILE-6]", async () => {
    const { blue, green, envoy, server, traffic } = await useWorld(command);
    server.publish([endpoints("c/endpoints", green)]);
    await traffic.answeredBy("green");
    server.publish([cluster("d", "d"), endpoints("d", blue)]);
    await until("cluster d", async () => (await envoy.clusters()).includes("d"));
    server.publish([route("r", "d")]);
    await traffic.answeredBy("blue");
    server.publish([], [cluster("c", "c/endpoints"), endpoints("c/endpoints")]);
    await until("cluster c is gone", async () => (await envoy.clusters()).join() === "d");
    await traffic.more(20);
    expect(traffic.failures).toEqual([]);
    expect(await envoy.timeouts()).toEqual([]);
  });

  it("keeps its old state while it rejects a cluster, and takes the correction [C-FILE-3]", async () => {
    const { green, envoy, server, traffic } = await useWorld(command);
    server.publish([cluster("c", "c/endpoints", { connect_timeout: "0s" })]);
    await until(
      "Envoy has rejected it",
      async () => Number(await envoy.stat("cluster_manager.cds.update_rejected")) > 0,
    );
    await traffic.more(20);
    server.publish([cluster("c", "c/endpoints", { connect_timeout: "2s" })]);
    await until("Envoy has taken the correction", async () =>
      (await envoy.dump()).includes('"connect_timeout": "2s"'),
    );
    server.publish([endpoints("c/endpoints", green)]);
    await traffic.answeredBy("green");
    expect(traffic.failures).toEqual([]);
  });
});
