import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
} from "node:http";
import type { AddressInfo } from "node:net";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { RouteConfigurationSchema } from "@xdstp/protos/envoy/route";
import { findRoute, type FoundRoute } from "@xdstp/routes";
import { createSeededRandom } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";
import { describeProgram } from "../src/describe-program.ts";
import { startEnvoy } from "../src/envoy.ts";
import { type RandomRequest, randomRequest, randomRoutes } from "../src/random-routes.ts";

const registry = envoyRegistry();
const configurations = 150;
const requests = 60;
const seed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

describeProgram("envoy", "routes of random requests", (command) => {
  it(`takes ${configurations * requests} requests by the routes that @xdstp/routes finds`, async () => {
    const random = createSeededRandom(seed);
    const configs = Array.from({ length: configurations }, () => randomRoutes(random));
    const envoy = await startEnvoy(command, bootstrap(configs, await useEchoes()));
    const outcomes = new Map<string, number>();
    for (const [place, json] of configs.entries()) {
      const url = new URL(await envoy.url(`l${place}`));
      const config = fromJson(RouteConfigurationSchema, json, { registry });
      const sent = Array.from({ length: requests }, () => randomRequest(random));
      const answers = await Promise.all(sent.map((request) => call(Number(url.port), request)));
      for (const [index, request] of sent.entries()) {
        const found = findRoute(config, request);
        expect(answers[index], explain(json, request)).toBeOneOf(answersOf(found, request));
        const kind = found.redirect?.kind ?? found.route?.outcome?.kind ?? "none";
        outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
      }
    }
    // A generator that reaches one kind of outcome only would show little.
    for (const kind of ["none", "cluster", "redirect", "direct-response"])
      expect(outcomes.get(kind), kind).toBeGreaterThan(200);
  });
});

/** The content of an answer: the route that matched, and the outcome of the request. */
interface Answer {
  readonly status: number;
  readonly route?: string;
  readonly location?: string;
  readonly cluster?: string;
  readonly path?: string;
  readonly host?: string;
}

function explain(json: JsonObject, request: RandomRequest): string {
  return `seed ${seed}: ${JSON.stringify(request)} ${JSON.stringify(json, undefined, 1)}`;
}

/** The answers that may be: one for each cluster that has a weight. */
function answersOf(
  { redirect, route, virtualHost }: FoundRoute,
  { headers }: RandomRequest,
): readonly Answer[] {
  const outcome = redirect ?? route?.outcome;
  // Envoy answers a gRPC request with 200, and says the status in a header.
  const isGrpc = /^application\/grpc($|\+)/.test(String(headers["content-type"]));
  const statusOf = (status: number): number => (isGrpc ? 200 : status);
  if (outcome === undefined) return [{ status: statusOf(404) }];
  const name =
    route === undefined ? {} : { route: `${virtualHost?.name.slice(1) ?? ""}.${route.index}` };
  switch (outcome.kind) {
    case "redirect":
      return [{ status: statusOf(outcome.status), ...name, location: outcome.location ?? "?" }];
    case "direct-response":
      return [{ status: statusOf(outcome.status), ...name }];
    case "other":
      return [];
    case "cluster":
      return outcome.clusters.map((cluster) => ({
        status: 200,
        ...name,
        cluster: cluster.name,
        path: outcome.path ?? "?",
        host: outcome.host ?? "?",
      }));
  }
}

async function call(
  port: number,
  { method, authority, path, headers }: RandomRequest,
): Promise<Answer> {
  const request = httpRequest({
    host: "127.0.0.1",
    port,
    method,
    path,
    headers: { ...headers, host: authority } as OutgoingHttpHeaders,
  });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const text = (await response.toArray()).map(String).join("");
  const route = response.headers["x-route"];
  return {
    status: response.statusCode ?? 0,
    ...(typeof route === "string" && { route }),
    ...(response.headers.location !== undefined && { location: response.headers.location }),
    ...(text.startsWith("{") && (JSON.parse(text) as Pick<Answer, "cluster" | "path" | "host">)),
  };
}

/** Starts a backend for each cluster, which says what it got; resolves with their ports by cluster. */
async function useEchoes(): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  for (const cluster of ["a", "b", "c"]) {
    const server = createServer(({ url: path, headers: { host } }, response) => {
      response.end(JSON.stringify({ cluster, path, host }));
    });
    server.keepAliveTimeout = 600_000;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    ports.set(cluster, (server.address() as AddressInfo).port);
  }
  return ports;
}

function bootstrap(configs: readonly JsonObject[], ports: ReadonlyMap<string, number>): JsonObject {
  const address = (port: number) => ({
    socket_address: { address: "127.0.0.1", port_value: port },
  });
  return {
    node: { id: "routes", cluster: "routes" },
    admin: { address: address(0) },
    static_resources: {
      listeners: configs.map((config, place) => ({
        name: `l${place}`,
        address: address(0),
        filter_chains: [{ filters: [{ name: "http", typed_config: connectionManager(config) }] }],
      })),
      clusters: [...ports].map(([name, port]) => ({
        name,
        load_assignment: {
          cluster_name: name,
          endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
        },
      })),
    },
  };
}

function connectionManager(config: JsonObject): JsonObject {
  return {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "h",
    route_config: config,
    http_filters: [
      {
        name: "router",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
        },
      },
    ],
  };
}
