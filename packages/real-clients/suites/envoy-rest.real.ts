import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type XdsServer } from "@xdstp/server";
import { createRestHandler, createRestListener } from "@xdstp/transport-rest/server";
import { expect, it, onTestFinished } from "vitest";

import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import { useHttpBackend } from "../src/http-backend.ts";
import { cluster, endpoints, listener, route, type TestResource } from "../src/resources.ts";
import { get, type Traffic, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";
import { fileOf, printBootstrap, startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";

/** The source of each resource: polls of a cluster each 100 to 200 ms. */
function sourceAt(clusterName: string): JsonObject {
  return {
    resource_api_version: "V3",
    api_config_source: {
      api_type: "REST",
      transport_api_version: "V3",
      cluster_names: [clusterName],
      refresh_delay: "0.1s",
      request_timeout: "1s",
    },
  };
}

const source = sourceAt("xds");

interface RestServer {
  readonly port: number;
  readonly server: XdsServer;
  /** The status of each answer, by path; it grows. */
  readonly answers: readonly string[];
  publish(put: readonly TestResource[], remove?: readonly TestResource[]): number;
  down(): Promise<void>;
  up(): Promise<void>;
}

/** A management server that is reached by HTTP/1.1 only, on a free port of the loopback. */
async function useRestServer(...first: readonly TestResource[]): Promise<RestServer> {
  const cache = createCache({ types: envoyTypes });
  const registry = envoyRegistry();
  const answers: string[] = [];
  const publish: RestServer["publish"] = (put, remove = []) =>
    cache.transaction((write) => {
      for (const { typeUrl, name, body } of put)
        write.put({
          typeUrl,
          name,
          value: anyFromJson({ "@type": typeUrl, ...body }, registry).value,
        });
      for (const { typeUrl, name } of remove) write.remove(typeUrl, name);
    }).revision;
  publish(first);
  const open = async (
    port: number,
  ): Promise<{ readonly server: XdsServer; readonly port: number; close(): Promise<void> }> => {
    const server = createServer({ source: cache });
    const handler = createRestHandler({ accept: server.accept.bind(server), registry });
    const http = createHttpServer(
      createRestListener({
        ...handler,
        handle: async (request) => {
          const answer = await handler.handle(request);
          answers.push(`${request.path} ${String(answer.status)}`);
          return answer;
        },
      }),
    );
    await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
    return {
      server,
      port: (http.address() as AddressInfo).port,
      async close() {
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
        handler.close();
        await server.close({ graceMs: 0 });
      },
    };
  };
  let now = await open(0);
  onTestFinished(async () => {
    await now.close();
    await cache.close();
  });
  return {
    port: now.port,
    get server() {
      return now.server;
    },
    answers,
    publish,
    down: async () => now.close(),
    up: async () => {
      now = await open(now.port);
    },
  };
}

function bootstrap(port: number): JsonObject {
  const address = { socket_address: { address: "127.0.0.1", port_value: port } };
  return {
    node: { id: "real-envoy", cluster: "suites" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    static_resources: {
      clusters: [
        {
          name: "xds",
          type: "STATIC",
          connect_timeout: "1s",
          load_assignment: {
            cluster_name: "xds",
            endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
          },
        },
      ],
    },
    dynamic_resources: { lds_config: source, cds_config: source },
  };
}

interface World {
  readonly blue: number;
  readonly green: number;
  readonly rest: RestServer;
  readonly envoy: Envoy;
  /** Through listener, routes, cluster and endpoints; at the beginning answered by blue. */
  readonly traffic: Traffic;
}

async function useWorld(command: string): Promise<World> {
  const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
  const rest = await useRestServer(
    listener("l", "r", source),
    route("r", "c"),
    cluster("c", "c-endpoints", {}, source),
    endpoints("c-endpoints", blue),
  );
  const envoy = await startEnvoy(command, bootstrap(rest.port));
  const url = await envoy.url("l");
  await until("the first answer", async () => (await get(url)) === "blue");
  const traffic = useTraffic(() => get(url));
  await traffic.answeredBy("blue");
  return { blue, green, rest, envoy, traffic };
}

describeProgram("envoy", "REST-JSON", (command) => {
  it("takes all types by polling, acknowledges each, and gets 304 while nothing changes [S-REST-1] [S-REST-3] [S-REST-5]", async () => {
    const { rest } = await useWorld(command);
    await until(
      "all is SYNCED",
      () => {
        const types = rest.server.status().flatMap((stream) => stream.types);
        return types.length === 4 && types.every(({ state }) => state === "SYNCED");
      },
      () => rest.server.status(),
    );
    expect(rest.server.status().map(({ node }) => node?.id)).toEqual(
      Array.from({ length: 4 }, () => "real-envoy"),
    );
    const { length } = rest.answers;
    await until("40 more polls", () => rest.answers.length >= length + 40);
    expect(new Set(rest.answers.slice(length))).toEqual(
      new Set(
        ["listeners", "clusters", "routes", "endpoints"].map((type) => `/v3/discovery:${type} 304`),
      ),
    );
  });

  it("takes an edit of endpoints, of routes to another cluster, and a removal, without a failed request [S-REST-3]", async () => {
    const { blue, green, rest, envoy, traffic } = await useWorld(command);
    rest.publish([endpoints("c-endpoints", green)]);
    await traffic.answeredBy("green");
    rest.publish([cluster("d", "d-endpoints", {}, source), endpoints("d-endpoints", blue)]);
    await until("cluster d", async () => (await envoy.clusters()).includes("d"));
    rest.publish([route("r", "d")]);
    await traffic.answeredBy("blue");
    rest.publish([], [cluster("c", "c-endpoints"), endpoints("c-endpoints")]);
    await until("cluster c is gone", async () => (await envoy.clusters()).join() === "d");
    await traffic.more(20);
    expect(traffic.failures).toEqual([]);
  });

  it("rejects a bad cluster: the status says so, the state is not sent again with each poll, and the correction is taken [S-REST-4]", async () => {
    const { rest, envoy, traffic } = await useWorld(command);
    rest.publish([cluster("bad", "bad-endpoints", { connect_timeout: "0s" }, source)]);
    const rejected = (): boolean =>
      rest.server
        .status()
        .some(({ types }) =>
          types.some(
            ({ state, lastError }) =>
              state === "NACKED" && lastError?.message.includes("without an error") === true,
          ),
        );
    await until("a NACK", rejected, () => rest.server.status());
    const { length } = rest.answers;
    await until("20 more polls", () => rest.answers.length >= length + 20);
    expect(rest.answers.slice(length).filter((answer) => answer.endsWith(":clusters 200"))).toEqual(
      [],
    );
    rest.publish([cluster("bad", "c-endpoints", {}, source)]);
    await until("both clusters", async () => (await envoy.clusters()).join() === "bad,c");
    expect(traffic.failures).toEqual([]);
  });

  it("serves on while the server is away, and takes what has changed meanwhile; what has not changed is not sent again [C-REST-7] [S-REST-3]", async () => {
    const { green, rest, envoy, traffic } = await useWorld(command);
    await rest.down();
    await until(
      "Envoy has noticed",
      async () => Number(await envoy.stat("cluster_manager.cds.update_failure")) > 1,
    );
    rest.publish([endpoints("c-endpoints", green)]);
    const { length } = rest.answers;
    await rest.up();
    await traffic.answeredBy("green");
    expect(rest.answers.slice(length)).not.toContain("/v3/discovery:clusters 200");
    expect(traffic.failures).toEqual([]);
  });
});

describeProgram(
  "envoy",
  "xdstp serve --rest and xdstp bootstrap envoy --variant rest",
  (command) => {
    it("serves all types to polls on the port of gRPC, and an edit is taken without a failed request [S-REST-1] [S-REST-3]", async () => {
      const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
      const own = sourceAt("xdstp_server");
      const chain = [
        listener("l", "r", own),
        route("r", "c"),
        cluster("c", "e", {}, own),
        endpoints("e", blue),
      ];
      const dir = useFolder(Object.fromEntries(chain.map(fileOf)));
      const serve = await startServe(dir, 0, ["--rest"]);
      const server = `127.0.0.1:${serve.port}`;
      const envoy = await startEnvoy(
        command,
        printBootstrap("envoy", "--server", server, "--variant", "rest"),
      );
      const url = await envoy.url("l");
      await until("the first answer", async () => (await get(url)) === "blue");
      const traffic = useTraffic(() => get(url));
      const file = join(dir, "_opaque/endpoints/e.json");
      writeFileSync(file, readFileSync(file, "utf8").replace(String(blue), String(green)));
      await traffic.answeredBy("green");
      expect(traffic.failures).toEqual([]);
      const rejected = serve.events().filter(({ event }) => event === "nack");
      expect(rejected).toEqual([]);
    });
  },
);
