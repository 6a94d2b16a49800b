import type { JsonObject } from "@bufbuild/protobuf";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { expect, it } from "vitest";
import { drainRules, planChange, plannedResource } from "@xdstp/plan";
import { type ControlPlane, useControlPlane } from "../src/control-plane.ts";
import { type CountingBackend, useCountingBackend } from "../src/counting-backend.ts";
import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import { wildcardBootstrap } from "../src/envoy-bootstrap.ts";
import { type OpenConnection, openConnection } from "../src/open-connection.ts";
import { cluster, connectionManager, endpoints, listener, route } from "../src/resources.ts";
import type { TestResource } from "../src/resources.ts";
import { until } from "../src/until.ts";

const [listenerName, routeName, clusterName] = ["l", "r", "c"];

/** The addresses of the clients. Each is served by a filter chain of its own, the last one by the default. */
const addresses = { one: "127.0.0.1", two: "127.0.0.2", other: "127.0.0.3" } as const;
type Client = keyof typeof addresses;

/** The resources of Envoy, by what they are. */
type Config = Readonly<Record<"listener" | "route" | "cluster" | "endpoints", TestResource>>;

/** A change, and what Envoy does with the connections that are open. */
interface Case {
  readonly title: string;
  /** The rule of the plan. undefined: the plan says that no connection is closed. */
  readonly rule: string | undefined;
  /** The resource that changes; `remove`: it is removed. */
  readonly change: (
    config: Config,
    ports: readonly number[],
  ) => TestResource | { readonly remove: TestResource };
  /** The clients whose connections Envoy closes. Absent: none. */
  readonly clients?: readonly Client[];
  /** The endpoints, by number, to which it closes the connections. Absent: none. */
  readonly endpoints?: readonly number[];
}

const everyone: readonly Client[] = ["one", "two", "other"];

const cases: readonly Case[] = [
  {
    title: "a listener is removed",
    rule: "listener-removed",
    change: (config) => ({ remove: config.listener }),
    clients: everyone,
  },
  ...[
    { stat_prefix: "other" },
    { per_connection_buffer_limit_bytes: 65_536 },
    { metadata: { filter_metadata: { a: { b: 1 } } } },
    { listener_filters_timeout: "7s" },
    { traffic_direction: "INBOUND" },
  ].map((more: JsonObject): Case => ({
    title: `a listener changes in ${Object.keys(more).join()}`,
    rule: "listener-replaced",
    change: (config) => withBody(config.listener, more),
    clients: everyone,
  })),
  {
    title: "a filter chain of a listener changes",
    rule: "filter-chains-changed",
    change: (config) =>
      withBody(config.listener, { filter_chains: [chain("one", "edited"), chain("two")] }),
    clients: ["one"],
  },
  {
    title: "a filter chain of a listener is removed",
    rule: "filter-chains-changed",
    change: (config) => withBody(config.listener, { filter_chains: [chain("one")] }),
    clients: ["two"],
  },
  {
    title: "a filter chain is added to a listener",
    rule: "filter-chains-changed",
    change: (config) =>
      withBody(config.listener, {
        filter_chains: [chain("one"), chain("two"), chain("127.0.0.4")],
      }),
  },
  {
    title: "filter chains of a listener change places",
    rule: "filter-chains-changed",
    change: (config) => withBody(config.listener, { filter_chains: [chain("two"), chain("one")] }),
  },
  {
    title: "a listener keeps only its default filter chain",
    rule: "listener-replaced",
    change: (config) => withoutChains(config.listener),
    clients: everyone,
  },
  {
    title: "how a listener chooses filter chains changes",
    rule: "filter-chains-changed",
    change: (config) => withBody(config.listener, { filter_chain_matcher: chooseByAddress }),
  },
  {
    title: "the default filter chain of a listener changes",
    rule: "filter-chains-changed",
    change: (config) =>
      withBody(config.listener, { default_filter_chain: chain(undefined, "edited") }),
    clients: ["other"],
  },
  {
    title: "a cluster changes",
    rule: "cluster-changed",
    change: (config) => withBody(config.cluster, { connect_timeout: "2s" }),
    endpoints: [0, 1],
  },
  {
    title: "a cluster is removed",
    rule: "cluster-removed",
    change: (config) => ({ remove: config.cluster }),
    endpoints: [0, 1],
  },
  {
    title: "an endpoint is removed",
    rule: "endpoints-changed",
    change: (_, [, second = 0]) => endpoints(clusterName, second),
    endpoints: [0],
  },
  {
    title: "weights of endpoints change",
    rule: "endpoints-changed",
    change: (config) => weighted(config.endpoints),
  },
  {
    title: "endpoints are removed and the cluster stays",
    rule: "endpoints-removed",
    change: (config) => ({ remove: config.endpoints }),
  },
  {
    title: "routes change",
    rule: undefined,
    change: (config) =>
      withBody(config.route, {
        virtual_hosts: [
          {
            name: "other",
            domains: ["*"],
            routes: [{ match: { path: "/" }, route: { cluster: clusterName } }],
          },
        ],
      }),
  },
];

describeProgram("envoy", "connections that drain as a plan says", (command) => {
  it("tries each rule of the plan", () => {
    expect(new Set(cases.flatMap(({ rule }) => rule ?? []))).toEqual(
      new Set(drainRules.map(({ id }) => id)),
    );
  });

  for (const { title, rule, change, clients = [], endpoints: closed = [] } of cases)
    it(`${title}: closes ${[...clients, ...closed.map((at) => `endpoint ${at}`)].join(", ") || "nothing"}`, async () => {
      const world = await useWorld(command);
      const step = change(world.config, world.ports);
      expect(await plannedRule(world.config, step)).toBe(rule);
      await world.apply(step);
      await until(
        "the connections that drain are closed",
        () =>
          clients.every((name) => world.clients[name].closed) &&
          closed.every((at) => world.backends[at]?.open === 0),
        () => world.seen(),
      );
      await world.envoy.untilStat("listener_manager.total_listeners_draining", "0");
      await world.envoy.untilStat("listener_manager.total_filter_chains_draining", "0");
      for (const name of everyone.filter((one) => !clients.includes(one)))
        for (let calls = 0; calls < 4; calls++) await world.clients[name].call();
      expect(everyone.filter((name) => world.clients[name].closed)).toEqual(clients);
      if (clients.length < everyone.length)
        expect(
          world.backends.flatMap(({ accepted }, at) =>
            closed.includes(at) || accepted === 1 ? [] : at,
          ),
        ).toEqual([]);
    });

  it.each(cases.filter(({ endpoints: closed = [] }) => closed.length > 0))(
    "$title: a request in progress ends first",
    async ({ change }) => {
      const world = await useWorld(command);
      const release = world.backends.map((backend) => backend.hold());
      const answers = [world.clients.one.call(), world.clients.two.call()];
      await until(
        "requests at both endpoints",
        () => world.backends.every(({ held }) => held === 1),
        () => world.seen(),
      );
      await world.apply(change(world.config, world.ports));
      expect(world.backends.map(({ open }) => open)).toEqual([1, 1]);
      for (const end of release) end();
      expect((await Promise.all(answers)).map(({ body }) => body).sort()).toEqual(["0", "1"]);
    },
  );
});

interface World {
  readonly config: Config;
  readonly ports: readonly number[];
  readonly envoy: Envoy;
  readonly clients: Readonly<Record<Client, OpenConnection>>;
  readonly backends: readonly CountingBackend[];
  /** Publishes a change; resolves when Envoy has accepted it and nothing warms. */
  apply(step: ReturnType<Case["change"]>): Promise<void>;
  seen(): unknown;
}

/** An Envoy with three clients and two endpoints; a connection to each of them is open, and idle. What drains is closed after 1 s. */
async function useWorld(command: string): Promise<World> {
  const backends = [await useCountingBackend("0"), await useCountingBackend("1")];
  const ports = backends.map(({ port }) => port);
  const config: Config = {
    listener: withBody(listener(listenerName, routeName), {
      filter_chains: [chain("one"), chain("two")],
      default_filter_chain: chain(undefined),
    }),
    route: route(routeName, clusterName),
    cluster: cluster(clusterName, clusterName),
    endpoints: endpoints(clusterName, ...ports),
  };
  const plane: ControlPlane = await useControlPlane(...Object.values(config));
  const envoy = await startEnvoy(command, wildcardBootstrap("delta/ads", plane.port), [
    "--drain-time-s",
    "1",
    "--drain-strategy",
    "immediate",
  ]);
  const { port } = new URL(await envoy.url(listenerName));
  await envoy.untilWarm();
  // A connection that comes too early is closed, and is not opened a second time.
  const open = async (name: Client): Promise<OpenConnection> =>
    until(`an answer to ${name}`, async () => {
      const connection = openConnection(Number(port), addresses[name]);
      return (await connection.call()).status === 200 && connection;
    });
  const clients = { one: await open("one"), two: await open("two"), other: await open("other") };
  await until("a connection to each endpoint", async () => {
    await clients.one.call();
    return backends.every(({ accepted }) => accepted === 1);
  });
  return {
    config,
    ports,
    envoy,
    clients,
    backends,
    async apply(step) {
      const revision = "remove" in step ? plane.publish([], [step.remove]) : plane.publish([step]);
      await plane.accepted(revision);
      await envoy.untilWarm();
    },
    seen: () => ({
      closed: everyone.filter((name) => clients[name].closed),
      open: backends.map(({ open: count }) => count),
    }),
  };
}

/** The rule that the plan gives for a change. */
async function plannedRule(
  config: Config,
  step: ReturnType<Case["change"]>,
): Promise<string | undefined> {
  const before = Object.values(config);
  const changed = "remove" in step ? step.remove : step;
  const after = before.flatMap((one) =>
    one.typeUrl !== changed.typeUrl ? one : "remove" in step ? [] : step,
  );
  const plan = await planChange({
    served: { resources: before.map(planned), groups: [], hiddenStreams: 0 },
    next: after.map(planned),
    registry: envoyRegistry(),
  });
  expect(plan.changes).toHaveLength(1);
  return plan.changes[0]?.drains?.rule;
}

function planned({ typeUrl, name, body }: TestResource): ReturnType<typeof plannedResource> {
  const payload = anyFromJson({ "@type": typeUrl, ...body }, envoyRegistry());
  return plannedResource({ typeUrl, resource: { name, version: "", payload } });
}

function withBody(resource: TestResource, more: JsonObject): TestResource {
  return { ...resource, body: { ...resource.body, ...more } };
}

/** A filter chain for the connections of one client, or of all others. `prefix`: a part of its statistics, which makes it another chain. */
function chain(client: Client | "127.0.0.4" | undefined, prefix = "chain"): JsonObject {
  const address = client === undefined || client === "127.0.0.4" ? client : addresses[client];
  const manager = { ...connectionManager(routeName), stat_prefix: prefix };
  return {
    name: client ?? "default",
    ...(address !== undefined && {
      filter_chain_match: { source_prefix_ranges: [{ address_prefix: address, prefix_len: 32 }] },
    }),
    filters: [{ name: "http", typed_config: manager }],
  };
}

/** The same choice as by the filter chains themselves. */
const chooseByAddress: JsonObject = {
  matcher_tree: {
    input: {
      name: "ip",
      typed_config: {
        "@type":
          "type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.SourceIPInput",
      },
    },
    exact_match_map: {
      map: Object.fromEntries(
        (["one", "two"] as const).map((name) => [addresses[name], { action: chosen(name) }]),
      ),
    },
  },
};

function chosen(name: string): JsonObject {
  const type = "type.googleapis.com/google.protobuf.StringValue";
  return { name, typed_config: { "@type": type, value: name } };
}

function withoutChains(resource: TestResource): TestResource {
  const body = Object.entries(resource.body).filter(([name]) => name !== "filter_chains");
  return { ...resource, body: Object.fromEntries(body) };
}

function weighted(resource: TestResource): TestResource {
  const text = JSON.stringify(resource.body).replace(
    /("load_balancing_weight":)1,"endpoint"/,
    '$12,"endpoint"',
  );
  return { ...resource, body: JSON.parse(text) as JsonObject };
}
