import { relative, resolve } from "node:path";
import type { FolderEvent } from "@xdstp/folder";
import type { ServerEvent } from "@xdstp/server";
import { startBackend } from "./backend.ts";
import { type Caller, startCaller } from "./caller.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { type Envoy, startEnvoy } from "./envoy.ts";
import { findEnvoy } from "./find-envoy.ts";
import { startGateway } from "./gateway.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { createWorkingCopy } from "./working-copy.ts";

/** An event of the mesh. */
export type MeshEvent = FolderEvent | ServerEvent;

/** The settings of {@link startMesh}. */
export interface MeshOptions {
  /** The folder to be served is made at a path that begins so. */
  readonly prefix: string;
  readonly port: number;
  readonly edgePort: number;
  readonly onEvent: (event: MeshEvent) => void;
  readonly signal: AbortSignal;
}

/** All of it, running. */
export interface Mesh extends AsyncDisposable {
  /** The folder that is served, from where the command was called. */
  readonly dir: string;
  readonly controlPlane: ControlPlane;
  /** Each load of this page is one gRPC call. */
  readonly page: string;
  readonly envoy: Envoy | undefined;
  /** The gRPC client, and Envoy's client where there is an Envoy. */
  readonly callers: readonly Caller[];
}

/** The port numbers in `config`. */
const written = { blue: 50051, green: 50052, edge: 10000 };

/** Starts two backends, a control plane over a copy of `config`, a gRPC client and, where it is found, Envoy. What was started is ended when something fails. */
export async function startMesh({
  prefix,
  port,
  edgePort,
  onEvent,
  signal,
}: MeshOptions): Promise<Mesh> {
  await using parts = new AsyncDisposableStack();
  const keep = <T extends { close(): Promise<void> | void }>(part: T): T =>
    parts.adopt(part, (value) => value.close());
  const blue = keep(await startBackend("blue"));
  const green = keep(await startBackend("green"));
  const copy = parts.adopt(
    await createWorkingCopy(
      resolve(import.meta.dirname, "config"),
      prefix,
      new Map([
        [written.blue, blue.port],
        [written.green, green.port],
        [written.edge, edgePort],
      ]),
    ),
    (made) => made.remove(),
  );
  const dir = shown(copy.dir);
  const controlPlane = keep(
    await startControlPlane({ dir, port, onFolder: onEvent, onServer: onEvent }),
  );
  const grpc = keep(createGrpcClient(controlPlane.port));
  const page = keep(await startGateway(() => grpc.call()));
  const binary = findEnvoy();
  const envoy =
    binary === undefined ? undefined : keep(await startEnvoy(binary, controlPlane.port, signal));
  const callers = [
    startCaller("gRPC", () => grpc.call()),
    ...(envoy === undefined ? [] : [startCaller("Envoy", () => envoy.call())]),
  ];
  for (const caller of callers) parts.defer(() => caller.stop());
  const running = parts.move();
  return {
    dir,
    controlPlane,
    page: page.url,
    envoy,
    callers,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The shorter way to say it. */
function shown(dir: string): string {
  const fromHere = relative(process.cwd(), dir);
  return fromHere.startsWith("..") ? dir : fromHere;
}
