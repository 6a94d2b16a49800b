import type { JsonObject } from "@bufbuild/protobuf";
import { startEnvoy } from "./envoy.ts";
import { type ClientTls, type StreamKind, wildcardBootstrap } from "./envoy-bootstrap.ts";
import { useGrpcBackend } from "./grpc-backend.ts";
import { grpcBootstrap } from "./grpc-bootstrap.ts";
import { startGrpcClient } from "./grpc-client.ts";
import { useHttpBackend } from "./http-backend.ts";
import { useHttpCaller } from "./http-caller.ts";
import type { GrpcProgram, ProgramName } from "./programs.ts";
import { type TestResource, apiListener, listener } from "./resources.ts";
import { until } from "./until.ts";

/** One of the clients that suites of faults put under load, each with the same words. */
export interface ClientKind {
  readonly title: string;
  readonly program: ProgramName;
  /** Returns the resource that leads to a route: a listener that this client accepts. */
  entry(name: string, route: string): TestResource;
  /** True if it subscribes to all clusters, false if only to those that its routes name. */
  readonly wildcard: boolean;
  /** True if it lists to a new server the resources that it has. */
  readonly namesHeld: boolean;
  /** The reason why it cannot reach a management server over TLS with files of one's own: authorities and certificate. Absent: it can. */
  readonly noTls?: string;
  /** The fields that make this client reject a cluster. */
  readonly rejected: JsonObject;
  /** Starts a server that answers each call with `text`; resolves with its port. */
  useBackend(text: string): Promise<number>;
  /** Starts the client with a management server on this port of the loopback. */
  start(command: string, port: number, tls?: ClientTls): Promise<RunningClient>;
}

/** A client that runs. */
export interface RunningClient {
  /** Makes calls through an entry, which fail at once where no backend can be called. Resolves once a call has been answered. */
  caller(entry: string): Promise<() => Promise<string>>;
  /** Returns the things that waited for a timeout, as far as the client reports them. */
  timeouts(): Promise<readonly string[]>;
}

/** Envoy by both variants over ADS, and gRPC. */
export const clientKinds: readonly ClientKind[] = [
  envoyKind("delta/ads"),
  envoyKind("sotw/ads"),
  grpcKind("grpcio"),
  grpcKind("grpc-js-xds", {
    noTls: "its bootstrap accepts the channel credentials insecure and google_default only",
  }),
  grpcKind("grpc-java", {
    noTls:
      "it ignores the config of the channel credentials tls, so it trusts the authorities of the JVM only and shows no certificate",
  }),
];

/** The same of grpc-go, which the suites of faults leave out. */
export const grpcGoKind: ClientKind = grpcKind("grpc-go");

function envoyKind(kind: StreamKind): ClientKind {
  return {
    title: kind,
    program: "envoy",
    entry: listener,
    wildcard: true,
    namesHeld: kind.startsWith("delta"),
    rejected: { connect_timeout: "0s" },
    useBackend: useHttpBackend,
    async start(command, port, tls) {
      const envoy = await startEnvoy(
        command,
        wildcardBootstrap(kind, port, { retryMs: 500, ...(tls === undefined ? {} : { tls }) }),
      );
      const caller = async (entry: string): Promise<() => Promise<string>> => {
        const call = useHttpCaller(await envoy.url(entry));
        await until("the first answer", call);
        return call;
      };
      return { caller, timeouts: () => envoy.timeouts() };
    },
  };
}

function grpcKind(program: GrpcProgram, limits: Pick<ClientKind, "noTls"> = {}): ClientKind {
  return {
    title: "sotw/ads",
    program,
    entry: apiListener,
    wildcard: false,
    namesHeld: false,
    ...limits,
    rejected: { lb_policy: "MAGLEV" },
    useBackend: useGrpcBackend,
    start(command, port, tls) {
      const client = startGrpcClient(program, command, grpcBootstrap(port, {}, tls), "");
      const caller = async (entry: string): Promise<() => Promise<string>> => {
        const target = `xds:///${entry}`;
        await client.call({ target });
        return () => client.call({ target, failFast: true });
      };
      return Promise.resolve({ caller, timeouts: () => Promise.resolve([]) });
    },
  };
}
