import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import type { TestResource } from "./resources.ts";
import { startProcess } from "./start-process.ts";
import { until } from "./until.ts";

/** The caches of go-control-plane: linear holds clusters alone; mux has clusters and endpoints in linear caches, the rest in snapshots. */
export type GoCacheKind = "linear" | "snapshot" | "snapshot-ads" | "mux";

/** An event that its callbacks report, in both variants. */
export interface GoEvent {
  readonly event: "opened" | "closed" | "request" | "response";
  readonly stream: number;
  readonly typeUrl?: string;
  /** The requested names (delta: the subscribed ones) of a request, or the resources of a delta response. */
  readonly names?: readonly string[];
  /** Delta: the unsubscribed names of a request, or the removed names of a response. */
  readonly dropped?: readonly string[];
  /** `initial_resource_versions`. */
  readonly versions?: Readonly<Record<string, string>>;
  readonly version?: string;
  readonly nonce?: string;
  /** The reason why a response was rejected. */
  readonly error?: string;
}

/** A control plane built on go-control-plane, in a process of its own. */
export interface GoControlPlane {
  readonly uri: string;
  /** The events so far; the list grows. */
  readonly events: readonly GoEvent[];
  requests(typeUrl: string): readonly GoEvent[];
  responses(typeUrl: string): readonly GoEvent[];
  /** Puts and removes at once. */
  change(
    put: readonly TestResource[],
    remove?: readonly Pick<TestResource, "typeUrl" | "name">[],
  ): Promise<void>;
  /** Ends all connections with a reset: now, or in the middle of a message after they have written this number of bytes more. */
  cut(bytes?: number): Promise<void>;
  stop(): Promise<void>;
  /** Starts it again on the same port, with the same resources; its versions begin again. */
  start(): Promise<void>;
}

/** Starts one on a free port of the loopback, for the time of the test. */
export async function startGoControlPlane(
  command: string,
  kind: GoCacheKind,
  ...first: readonly TestResource[]
): Promise<GoControlPlane> {
  const events: GoEvent[] = [];
  const seen = { port: 0, done: 0, said: [] as string[] };
  const onLine = (line: string): void => {
    if (!line.startsWith("{")) {
      seen.said.push(line);
      return;
    }
    const told = JSON.parse(line) as GoEvent & { readonly port?: number; readonly done?: number };
    if (told.port !== undefined) seen.port = told.port;
    else if (told.done !== undefined) seen.done = told.done;
    else events.push(told);
  };
  const child = startProcess(command, ["serve", kind], { onLine });
  let asked = 0;
  const tell = async (what: object): Promise<void> => {
    const id = ++asked;
    child.write(JSON.stringify({ id, ...what }));
    await until(
      `go-control-plane has done ${JSON.stringify(what).slice(0, 80)}`,
      () => seen.done >= id,
      () => [child.ended, seen.said],
    );
  };
  await until(
    "go-control-plane listens",
    () => seen.port > 0,
    () => [child.ended, seen.said],
  );
  const change: GoControlPlane["change"] = (put, remove = []) =>
    tell({ do: "change", put: put.map(encoded), remove });
  if (first.length > 0) await change(first);
  const of = (event: GoEvent["event"], typeUrl: string): readonly GoEvent[] =>
    events.filter((told) => told.event === event && told.typeUrl === typeUrl);
  return {
    uri: `127.0.0.1:${seen.port}`,
    events,
    change,
    requests: (typeUrl) => of("request", typeUrl),
    responses: (typeUrl) => of("response", typeUrl),
    cut: (bytes = 0) => tell({ do: "cut", bytes }),
    stop: () => tell({ do: "stop" }),
    start: () => tell({ do: "start" }),
  };
}

function encoded({ typeUrl, name, body }: TestResource): object {
  const { value } = anyFromJson({ "@type": typeUrl, ...body }, envoyRegistry());
  return { typeUrl, name, value: Buffer.from(value).toString("base64") };
}
