import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  cluster as clusterType,
  clusterLoadAssignment,
  listener as listenerType,
  routeConfiguration,
} from "@xdstp/resource-types";
import { expect, it } from "vitest";
import { type ControlPlane, useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { useGrpcBackend } from "../src/grpc-backend.ts";
import { grpcBootstrap, grpcServerAt } from "../src/grpc-bootstrap.ts";
import { startGrpcClient } from "../src/grpc-client.ts";
import type { GrpcProgram } from "../src/programs.ts";
import {
  type TestResource,
  apiListener,
  cluster,
  endpoints,
  route,
  xdstpName,
} from "../src/resources.ts";
import { type Traffic, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";
import { fileOf, printBootstrap, startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";

interface Names {
  readonly listener: string;
  readonly route: string;
  cluster(id: string): string;
  endpoints(id: string): string;
}

const opaque: Names = {
  listener: "svc",
  route: "r",
  cluster: (id) => id,
  endpoints: (id) => `${id}-endpoints`,
};

function xdstp(authority: string): Names {
  return {
    listener: xdstpName(authority, listenerType.typeUrl, "svc"),
    route: xdstpName(authority, routeConfiguration.typeUrl, "r"),
    cluster: (id) => xdstpName(authority, clusterType.typeUrl, id),
    endpoints: (id) => xdstpName(authority, clusterLoadAssignment.typeUrl, id),
  };
}

/** From the listener to a backend on `port`. */
function chain(names: Names, port: number): readonly TestResource[] {
  return [
    apiListener(names.listener, names.route),
    route(names.route, names.cluster("c")),
    cluster(names.cluster("c"), names.endpoints("c")),
    endpoints(names.endpoints("c"), port),
  ];
}

interface World {
  readonly blue: number;
  readonly green: number;
  readonly controlPlane: ControlPlane;
  /** Through the whole chain; at the beginning answered by blue. */
  readonly traffic: Traffic;
}

async function useWorld(program: GrpcProgram, command: string): Promise<World> {
  const [blue, green] = [await useGrpcBackend("blue"), await useGrpcBackend("green")];
  const controlPlane = await useControlPlane(...chain(opaque, blue));
  const client = startGrpcClient(program, command, grpcBootstrap(controlPlane.port), "xds:///svc");
  const traffic = useTraffic(() => client.call());
  await traffic.answeredBy("blue");
  return { blue, green, controlPlane, traffic };
}

/** The error of each library for a cluster with a load balancer that it does not have. */
const rejections = {
  grpcio: /MAGLEV|lb_policy|LbPolicy/,
  "grpc-js-xds": /unsupported lb_policy: MAGLEV/,
  "grpc-go": /unexpected lbPolicy MAGLEV/,
  "grpc-java": /Cluster c: unsupported lb policy: MAGLEV/,
};

/** True for a library that asks the servers of an authority, false for one that asks the first list of servers for everything. */
const asksAuthority = { grpcio: true, "grpc-js-xds": false, "grpc-go": true, "grpc-java": true };

for (const program of ["grpcio", "grpc-js-xds", "grpc-go", "grpc-java"] as const) {
  describeProgram(program, "services by opaque names (sotw/ads)", (command) => {
    it("finds its backend through listener, routes, cluster and endpoints, and acknowledges each", async () => {
      const { controlPlane, traffic } = await useWorld(program, command);
      await until(
        "all four are SYNCED",
        () => {
          const types = controlPlane.status().flatMap((stream) => stream.types);
          return types.length === 4 && types.every(({ state }) => state === "SYNCED");
        },
        () => controlPlane.status(),
      );
      expect(controlPlane.status().map(({ variant, node }) => [variant, node?.id])).toEqual([
        ["sotw", "real-grpc"],
      ]);
      expect(traffic.failures).toEqual([]);
    });

    it("follows endpoints, and routes to another cluster, without a failed call", async () => {
      const { blue, green, controlPlane, traffic } = await useWorld(program, command);
      controlPlane.publish([endpoints(opaque.endpoints("c"), green)]);
      await traffic.answeredBy("green");
      controlPlane.publish([
        cluster(opaque.cluster("d"), opaque.endpoints("d")),
        endpoints(opaque.endpoints("d"), blue),
        route(opaque.route, opaque.cluster("d")),
      ]);
      await traffic.answeredBy("blue");
      controlPlane.publish(
        [],
        [cluster(opaque.cluster("c"), ""), endpoints(opaque.endpoints("c"))],
      );
      await traffic.more(20);
      expect(traffic.failures).toEqual([]);
    });

    it("rejects a cluster with a reason that the status shows, calls on, and takes the correction [S-ACK-8] [S-ACK-9]", async () => {
      const { controlPlane, traffic } = await useWorld(program, command);
      controlPlane.publish([
        cluster(opaque.cluster("c"), opaque.endpoints("c"), { lb_policy: "MAGLEV" }),
      ]);
      await until(
        "a NACK",
        () => controlPlane.nacks().some((text) => rejections[program].test(text)),
        () => controlPlane.status(),
      );
      await traffic.more(20);
      controlPlane.publish([
        cluster(opaque.cluster("c"), opaque.endpoints("c"), { connect_timeout: "2s" }),
      ]);
      await until(
        "all is SYNCED",
        () =>
          controlPlane
            .status()
            .flatMap(({ types }) => types)
            .every(({ state }) => state === "SYNCED"),
        () => controlPlane.status(),
      );
      await traffic.more(20);
      expect(traffic.failures).toEqual([]);
    });

    it("asks for another cluster while one is rejected, gets it, and no answer counts twice [S-ACK-19]", async () => {
      const { green, controlPlane, traffic } = await useWorld(program, command);
      controlPlane.publish([
        cluster(opaque.cluster("c"), opaque.endpoints("c"), { lb_policy: "MAGLEV" }),
      ]);
      await until(
        "a NACK",
        () => controlPlane.nacks().length > 0,
        () => controlPlane.status(),
      );
      controlPlane.publish([
        cluster(opaque.cluster("d"), opaque.endpoints("d")),
        endpoints(opaque.endpoints("d"), green),
        route(opaque.route, opaque.cluster("d")),
      ]);
      await traffic.answeredBy("green");
      const nonces = controlPlane.events.flatMap((event) =>
        event.kind === "nack" ? [event.nonce] : [],
      );
      expect(nonces).toEqual([...new Set(nonces)]);
      expect(
        controlPlane.status()[0]?.types.find(({ typeUrl }) => typeUrl === clusterType.typeUrl)
          ?.nacks,
      ).toBe(nonces.length);
      expect(traffic.failures).toEqual([]);
    });

    it("calls on while the server is away, and takes from it what has changed meanwhile, without a failed call", async () => {
      const { green, controlPlane, traffic } = await useWorld(program, command);
      await controlPlane.down();
      controlPlane.publish([endpoints(opaque.endpoints("c"), green)]);
      await traffic.more(20);
      await controlPlane.up();
      await traffic.answeredBy("green");
      expect(traffic.failures).toEqual([]);
    });
  });

  describeProgram(program, "xdstp federation (sotw/ads)", (command) => {
    it("takes a service from the server of its authority, by xdstp names only, and follows it", async () => {
      const [blue, green] = [await useGrpcBackend("blue"), await useGrpcBackend("green")];
      const names = xdstp("a.example");
      const top = await useControlPlane();
      const own = await useControlPlane(...chain(names, blue));
      const authorities = {
        "a.example": {
          client_listener_resource_name_template:
            "xdstp://a.example/envoy.config.listener.v3.Listener/%s",
          xds_servers: [grpcServerAt(own.port)],
        },
      };
      const client = startGrpcClient(
        program,
        command,
        grpcBootstrap(asksAuthority[program] ? top.port : own.port, { authorities }),
        "xds://a.example/svc",
      );
      const traffic = useTraffic(() => client.call());
      await traffic.answeredBy("blue");
      own.publish([endpoints(names.endpoints("c"), green)]);
      await traffic.answeredBy("green");
      const asked = own.events.flatMap((event) => (event.kind === "subscribe" ? event.added : []));
      expect(new Set(asked)).toEqual(
        new Set([names.listener, names.route, names.cluster("c"), names.endpoints("c")]),
      );
      expect(traffic.failures).toEqual([]);
    });
  });

  describeProgram(program, "xdstp serve and xdstp bootstrap grpc", (command) => {
    for (const { title, args, targets } of [
      {
        title: "by xdstp names",
        args: ["--authority", "a.example"],
        targets: ["xds:///svc", "xds://a.example/svc"],
      },
      { title: "by opaque names", args: [], targets: ["xds:///svc"] },
    ]) {
      it.for(targets)(`serves a folder, and follows an edit (${title}, %s)`, async (target) => {
        const [blue, green] = [await useGrpcBackend("blue"), await useGrpcBackend("green")];
        const names = args.length > 0 ? xdstp("a.example") : opaque;
        const dir = useFolder(Object.fromEntries(chain(names, blue).map(fileOf)));
        const serve = await startServe(dir);
        const client = startGrpcClient(
          program,
          command,
          printBootstrap("grpc", "--server", `127.0.0.1:${serve.port}`, ...args),
          target,
        );
        const traffic = useTraffic(() => client.call());
        await traffic.answeredBy("blue");
        const [file, text] = fileOf(endpoints(names.endpoints("c"), green));
        writeFileSync(join(dir, file), text);
        await traffic.answeredBy("green");
        expect(traffic.failures).toEqual([]);
      });
    }
  });
}
