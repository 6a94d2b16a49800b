import { join } from "node:path";
import { readFileSync } from "node:fs";
import { configSourceReader, readEnvoyBootstrap } from "@xdstp/bootstrap/envoy";
import { createChannels, createClient } from "@xdstp/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import {
  type ClusterLoadAssignment,
  ClusterLoadAssignmentSchema,
} from "@xdstp/protos/envoy/endpoint";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";
import { RouteConfigurationSchema } from "@xdstp/protos/envoy/route";
import type { ResourceType } from "@xdstp/core";
import { envoyTypes, referencesOf } from "@xdstp/resource-types";
import { createFileTransport } from "@xdstp/transport-file/client";
import { expect, it, onTestFinished } from "vitest";

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
  /** The bootstrap of Envoy, which names the files. */
  readonly bootstrap: string;
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
  return { blue, green, envoy, server, bootstrap, traffic };
}

/** Returns a type whose references to files a walk follows. */
function withFiles(type: ResourceType): ResourceType {
  const { references, typeUrl } = type;
  return references === undefined
    ? type
    : { ...type, references: (payload) => referencesOf(typeUrl, payload, { files: true }) };
}

/** Returns the port of the first endpoint. */
function portOf({ endpoints: [locality] }: ClusterLoadAssignment): number | undefined {
  const host = locality?.lbEndpoints[0]?.hostIdentifier;
  const address = host?.case === "endpoint" ? host.value.address?.address : undefined;
  const port = address?.case === "socketAddress" ? address.value.portSpecifier : undefined;
  return port?.case === "portValue" ? port.value : undefined;
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

  it("are read by our client too, with the same bootstrap, from the listener to the endpoints [C-FILE-1] [C-FILE-2] [C-AUTH-6]", async () => {
    const { blue, green, envoy, server, bootstrap, traffic } = await useWorld(command);
    const read = readEnvoyBootstrap(bootstrap);
    const { listeners: source, clusters } = read.configSources;
    if (source?.kind !== "servers" || clusters?.kind !== "servers")
      throw new Error("lds_config and cds_config are not files");
    const client = createClient({
      // All clusters are in the file of cds_config.
      bootstrap: { ...read, sources: [{ servers: clusters.servers }] },
      channels: createChannels({
        transports: { file: createFileTransport({ registry: envoyRegistry() }) },
      }),
      sourceOf: configSourceReader({ files: true }),
      types: envoyTypes.map(withFiles),
    });
    onTestFinished(() => client.close());
    const types = {
      routes: RouteConfigurationSchema,
      clusters: ClusterSchema,
      endpoints: ClusterLoadAssignmentSchema,
    };
    const walk = client.walk(ListenerSchema, "l", { types, source });
    const states = walk[Symbol.asyncIterator]();
    const portOfClient = async (port: number): Promise<void> => {
      for (;;) {
        const { value } = await states.next();
        if (value === undefined) throw new Error("the walk has ended");
        const ports = [...value.parts.endpoints.values()].map((member) => portOf(member.value));
        if (value.pending.length === 0 && ports.join() === String(port)) return;
      }
    };
    await portOfClient(blue);
    server.publish([endpoints("c/endpoints", green)]);
    await portOfClient(green);
    await traffic.answeredBy("green");
    server.publish([cluster("d", "d"), endpoints("d", blue), route("r", "d")]);
    await portOfClient(blue);
    await traffic.answeredBy("blue");
    expect(await envoy.clusters()).toContain("d");
    expect(traffic.failures).toEqual([]);
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
