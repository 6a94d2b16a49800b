import { cluster as clusterType } from "@xdstp/resource-types";
import { createRawDeltaClient, createRawSotwClient } from "@xdstp/testing";
import { expect, it } from "vitest";
import { describeProgram } from "../src/describe-program.ts";
import { startEnvoy } from "../src/envoy.ts";
import { wildcardBootstrap } from "../src/envoy-bootstrap.ts";
import { useGrpcBackend } from "../src/grpc-backend.ts";
import { grpcBootstrap } from "../src/grpc-bootstrap.ts";
import { startGrpcClient } from "../src/grpc-client.ts";
import { type GrpcPump, startGrpcPump } from "../src/grpc-pump.ts";
import type { GrpcProgram } from "../src/programs.ts";
import { apiListener, cluster, endpoints, route, type TestResource } from "../src/resources.ts";
import { sizeCases, titleOf } from "../src/size-cases.ts";
import {
  clusterOf,
  endpointsOf,
  MB,
  patienceMs,
  stateOf,
  useSizeWorld,
} from "../src/size-world.ts";
import { until } from "../src/until.ts";

/** A client of one variant, with the resources that it has received. */
interface Asking {
  /** Begins a stream with the resources that it has. */
  begin(): void;
  /** Answers the responses that have come. Returns the number of resources that it has. */
  answer(): number;
  /** Resources that have come since the stream began. */
  readonly received: number;
}

interface Wanted {
  readonly typeUrl: string;
  /** `*`, or each name. */
  readonly names: readonly string[];
}

const paths = { delta: "DeltaAggregatedResources", sotw: "StreamAggregatedResources" } as const;

function askDelta(pump: GrpcPump, { typeUrl, names }: Wanted): Asking {
  const held: Record<string, string> = {};
  let client = createRawDeltaClient(pump.wire);
  let received = 0;
  return {
    get received() {
      return received;
    },
    begin() {
      pump.open();
      received = 0;
      client = createRawDeltaClient(pump.wire, { node: { id: "real-size" } });
      client.send({ typeUrl, resourceNamesSubscribe: [...names], initialResourceVersions: held });
    },
    answer() {
      for (const response of client.rest()) {
        received += response.resources.length;
        for (const { name, version } of response.resources) held[name] = version;
        client.ack(response);
      }
      return Object.keys(held).length;
    },
  };
}

function askSotw(pump: GrpcPump, { typeUrl, names }: Wanted): Asking {
  const held = new Set<string>();
  let versionInfo = "";
  let client = createRawSotwClient(pump.wire);
  let received = 0;
  return {
    get received() {
      return received;
    },
    begin() {
      pump.open();
      received = 0;
      client = createRawSotwClient(pump.wire, { node: { id: "real-size" } });
      client.send({ typeUrl, resourceNames: [...names], versionInfo });
    },
    answer() {
      for (const response of client.rest()) {
        received += response.resources.length;
        // The name stands early in each payload: it is its first field.
        for (const { value } of response.resources)
          held.add(
            Buffer.from(value.subarray(0, 40))
              .toString("latin1")
              .replace(/^[^a-z]*([a-z]+-\d{6}).*$/s, "$1"),
          );
        versionInfo = response.versionInfo;
        client.ack(response, { resourceNames: [...names] });
      }
      return held.size;
    },
  };
}

const askers = { delta: askDelta, sotw: askSotw } as const;

/** Both ways to want a large state: all clusters there are, in one response where SotW says all of them, and endpoints by name. */
const wants = [
  { title: "all clusters", make: clusterOf, namesOf: (): readonly string[] => ["*"] },
  {
    title: "endpoints by name",
    make: endpointsOf,
    namesOf: (state: readonly TestResource[]) => state.map(({ name }) => name),
  },
] as const;

for (const program of [
  "grpc-go",
  "grpcio",
  "grpc-js-xds",
  "grpc-java",
] as const satisfies readonly GrpcProgram[]) {
  describeProgram(program, "a real size, its transport (delta and sotw, ads)", (command) => {
    for (const variant of ["delta", "sotw"] as const) {
      for (const { title, make, namesOf } of wants) {
        it.for(sizeCases.map((size) => [titleOf(size), size] as const))(
          `has ${title} of %s, then one change, and comes back, and is not cut (${variant}/ads)`,
          { timeout: 3 * patienceMs },
          async ([, size]) => {
            const state = stateOf(size, make);
            const { controlPlane, link, cuts } = await useSizeWorld(size, state);
            const pump = startGrpcPump(
              program,
              command,
              link.port,
              `/envoy.service.discovery.v3.AggregatedDiscoveryService/${paths[variant]}`,
            );
            const [first] = state;
            if (first === undefined) throw new Error("a state has resources");
            const asking = askers[variant](pump, { typeUrl: first.typeUrl, names: namesOf(state) });
            const seen = (): object => ({ has: asking.answer(), ends: pump.ends, cuts: cuts() });
            const synced = async (): Promise<unknown> =>
              until(
                "the state is accepted",
                () =>
                  asking.answer() === state.length &&
                  controlPlane
                    .status()
                    .some(({ types }) => types.some(({ state: one }) => one === "SYNCED")),
                seen,
                patienceMs,
              );
            asking.begin();
            await synced();
            expect({ cuts: cuts(), ends: pump.ends }).toEqual({ cuts: {}, ends: [] });
            const before = { bytes: link.toClients, received: asking.received };
            expect(before.received).toBe(state.length);
            let changed = false;
            const revision = controlPlane.publish([make(0, 1_000, "second")]);
            void controlPlane.accepted(revision, patienceMs).then(() => {
              changed = true;
            });
            await until(
              "the change is accepted",
              () => {
                asking.answer();
                return changed;
              },
              seen,
              patienceMs,
            );
            if (variant === "delta" || title === "endpoints by name")
              expect(asking.received - before.received).toBe(1);
            link.cut();
            await until("the stream is lost", () => pump.ends.length > 0, seen);
            asking.begin();
            await until(
              "the new stream is SYNCED",
              () => {
                asking.answer();
                return controlPlane
                  .status()
                  .some(({ types }) => types.some(({ state: one }) => one === "SYNCED"));
              },
              seen,
              patienceMs,
            );
            if (variant === "delta") expect(asking.received).toBe(0);
            expect({ cuts: cuts(), ends: pump.ends.length }).toEqual({ cuts: {}, ends: 1 });
          },
        );
      }
    }
  });

  describeProgram(program, "a real size, through xds:/// (sotw/ads)", (command) => {
    it.for(
      sizeCases
        .filter(({ link: { windowBytes } }) => windowBytes > MB)
        .map((size) => [titleOf(size), size] as const),
    )(
      "finds its backend among routes of 3 MB, over the link of: %s",
      { timeout: 3 * patienceMs },
      async ([, size]) => {
        const port = await useGrpcBackend("blue");
        const routes = route("r", "c");
        const others = Array.from({ length: 30_000 }, (_, index) => ({
          name: `v${index}`,
          domains: [`host-${index}.example`],
          routes: [{ match: { prefix: "/" }, route: { cluster: "c" } }],
        }));
        const [own] = routes.body.virtual_hosts as readonly object[];
        const large: TestResource = {
          ...routes,
          body: {
            ...routes.body,
            virtual_hosts: [...others, { ...own, domains: ["svc"] }] as never,
          },
        };
        const { controlPlane, link, cuts } = await useSizeWorld(size, [
          apiListener("svc", "r"),
          large,
          cluster("c", "c-endpoints"),
          endpoints("c-endpoints", port),
        ]);
        const client = startGrpcClient(program, command, grpcBootstrap(link.port), "xds:///svc");
        expect(await client.call()).toBe("blue");
        const green = await useGrpcBackend("green");
        await controlPlane.accepted(
          controlPlane.publish([endpoints("c-endpoints", green)]),
          patienceMs,
        );
        await until("green answers", async () => (await client.call()) === "green");
        link.cut();
        const [more] = others;
        controlPlane.publish([
          {
            ...large,
            body: {
              ...large.body,
              virtual_hosts: [
                ...others.slice(1),
                { ...more, name: "again" },
                { ...own, domains: ["svc"] },
              ] as never,
            },
          },
        ]);
        await until(
          "it has come back and has everything",
          () =>
            controlPlane
              .status()
              .some(
                ({ types }) => types.length === 4 && types.every(({ state }) => state === "SYNCED"),
              ),
          () => controlPlane.status(),
          patienceMs,
        );
        expect(await client.call()).toBe("green");
        expect(cuts()).toEqual({});
      },
    );
  });
}

describeProgram("envoy", "a real size", (command) => {
  for (const kind of ["delta/ads", "sotw/ads"] as const) {
    it.for(sizeCases.map((size) => [titleOf(size), size] as const))(
      `has all clusters of %s, then one change, and comes back, and is not cut (${kind})`,
      { timeout: 3 * patienceMs },
      async ([, size]) => {
        const state = stateOf(size, clusterOf);
        const { controlPlane, link, cuts } = await useSizeWorld(size, state);
        const envoy = await startEnvoy(
          command,
          wildcardBootstrap(kind, link.port, { retryMs: 500 }),
        );
        const active = async (): Promise<boolean> =>
          (await envoy.stat("cluster_manager.active_clusters")) === String(state.length + 1);
        const clustersSynced = (): boolean =>
          controlPlane
            .status()
            .some(({ types }) =>
              types.some(
                ({ typeUrl, state: one }) => typeUrl === clusterType.typeUrl && one === "SYNCED",
              ),
            );
        await until(
          "all clusters are active",
          async () => clustersSynced() && (await active()),
          async () => ({
            clusters: await envoy.stat("cluster_manager.active_clusters"),
            cuts: cuts(),
          }),
          patienceMs,
        );
        const before = link.toClients;
        await controlPlane.accepted(
          controlPlane.publish([clusterOf(0, 1_000, "second")]),
          patienceMs,
        );
        if (kind === "delta/ads") expect(link.toClients - before).toBeLessThan(20_000);
        link.cut();
        const cutAt = link.toClients;
        await controlPlane.accepted(
          controlPlane.publish([clusterOf(0, 1_000, "third")]),
          patienceMs,
        );
        await until("it has come back", clustersSynced, () => controlPlane.status(), patienceMs);
        if (kind === "delta/ads")
          expect(link.toClients - cutAt).toBeLessThan(20_000 + 1_000 * size.megabytes);
        expect(await active()).toBe(true);
        expect(cuts()).toEqual({});
      },
    );
  }
});
