import { once } from "node:events";
import { connect } from "node:http2";
import type { JsonValue } from "@bufbuild/protobuf";
import { type Any, anyIs } from "@bufbuild/protobuf/wkt";
import type { DeltaDiscoveryResponse, DiscoveryResponse } from "@xdstp/protos/discovery";
import { anyToJson, envoyRegistry } from "@xdstp/protos/envoy";
import { createRawDeltaClient, createRawSotwClient } from "@xdstp/testing";
import { onTestFinished } from "vitest";

/** The content of one response. */
export interface GotResponse {
  readonly typeUrl: string;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** A client over a socket that requests as Envoy does, written without the code that plans. */
export interface SocketClient {
  /** Resolves when the client has exactly these resources, as `TYPE URL NAME`. */
  has(resources: readonly string[]): Promise<void>;
  /** The responses since the last call that brought something new. */
  take(): readonly GotResponse[];
}

export const type = {
  clusters: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  endpoints: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
  routes: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
  listeners: "type.googleapis.com/envoy.config.listener.v3.Listener",
} as const;

const methods = { delta: "DeltaAggregatedResources", sotw: "StreamAggregatedResources" } as const;
const registry = envoyRegistry();

interface Wire {
  readonly send: (message: Uint8Array) => void;
  readonly take: () => Uint8Array | undefined;
}

/** Connects, and subscribes to all clusters and listeners. */
export async function openSocketClient(
  port: number,
  variant: "delta" | "sotw",
  id: string,
): Promise<SocketClient> {
  const session = connect(`http://127.0.0.1:${port}`);
  await once(session, "connect");
  onTestFinished(() => {
    session.destroy();
  });
  const call = session.request({
    ":method": "POST",
    ":path": `/envoy.service.discovery.v3.AggregatedDiscoveryService/${methods[variant]}`,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const messages: Uint8Array[] = [];
  let rest = Buffer.alloc(0);
  const wire: Wire = {
    take: () => messages.shift(),
    send(message) {
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      call.write(Buffer.concat([head, message]));
    },
  };
  const client = { delta: deltaClient, sotw: sotwClient }[variant](wire, {
    id,
    userAgentName: "envoy",
  });
  const got: GotResponse[] = [];
  let wake: () => void = () => undefined;
  call.on("error", () => undefined);
  call.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      messages.push(Uint8Array.from(rest.subarray(5, end)));
      rest = rest.subarray(end);
      const response = client.receive();
      if (response.added.length + response.changed.length + response.removed.length > 0)
        got.push(response);
    }
    wake();
  });
  client.start();
  return {
    async has(resources) {
      const wanted = [...resources].sort().join("\n");
      while (client.held().join("\n") !== wanted)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
    take: () => got.splice(0),
  };
}

interface VariantClient {
  start(): void;
  /** Reads one response, requests what it refers to, and accepts it. */
  receive(): GotResponse;
  /** The resources of the client, as `TYPE URL NAME`, sorted. */
  held(): readonly string[];
}

interface NodeInit {
  readonly id: string;
  readonly userAgentName: string;
}

function deltaClient(wire: Wire, node: NodeInit): VariantClient {
  const raw = createRawDeltaClient(wire, { node });
  const state = createState();
  const read = ({ typeUrl, resources, removedResources }: DeltaDiscoveryResponse): GotResponse => {
    const contents = new Map(resources.map(({ name, resource }) => [name, resource] as const));
    return state.apply(typeUrl, contents, removedResources);
  };
  return {
    start() {
      for (const typeUrl of [type.clusters, type.listeners])
        raw.send({ typeUrl, resourceNamesSubscribe: ["*"] });
    },
    receive() {
      const response = raw.next();
      const got = read(response);
      for (const { typeUrl, add, drop } of state.changedNames())
        raw.send({
          typeUrl,
          resourceNamesSubscribe: [...add],
          resourceNamesUnsubscribe: [...drop],
        });
      raw.ack(response);
      return got;
    },
    held: () => state.held(),
  };
}

function sotwClient(wire: Wire, node: NodeInit): VariantClient {
  const raw = createRawSotwClient(wire, { node });
  const state = createState();
  const last = new Map<string, DiscoveryResponse>();
  const read = ({ typeUrl, resources }: DiscoveryResponse): GotResponse => {
    const contents = new Map(resources.map((any) => [nameOf(any), any] as const));
    const isFull = typeUrl === type.clusters || typeUrl === type.listeners;
    const removed = isFull ? state.names(typeUrl).filter((name) => !contents.has(name)) : [];
    return state.apply(typeUrl, contents, removed);
  };
  return {
    start() {
      for (const typeUrl of [type.clusters, type.listeners])
        raw.send({ typeUrl, resourceNames: ["*"] });
    },
    receive() {
      const response = raw.next();
      const { typeUrl } = response;
      const got = read(response);
      for (const changed of state.changedNames()) {
        const { versionInfo = "", nonce = "" } = last.get(changed.typeUrl) ?? {};
        raw.send({
          typeUrl: changed.typeUrl,
          versionInfo,
          responseNonce: nonce,
          resourceNames: [...changed.all],
        });
      }
      last.set(typeUrl, response);
      raw.ack(response);
      return got;
    },
    held: () => state.held(),
  };
}

interface NamesOfType {
  readonly typeUrl: string;
  readonly add: readonly string[];
  readonly drop: readonly string[];
  readonly all: readonly string[];
}

interface State {
  held(): readonly string[];
  names(typeUrl: string): readonly string[];
  apply(
    typeUrl: string,
    contents: ReadonlyMap<string, Any | undefined>,
    removed: readonly string[],
  ): GotResponse;
  /** Names of endpoints and routes that are referred to now and were not before, or no longer. */
  changedNames(): readonly NamesOfType[];
}

function createState(): State {
  const held = new Map<string, Map<string, string>>();
  const subscribed = new Map<string, ReadonlySet<string>>();
  const heldOf = (typeUrl: string): Map<string, string> => {
    const known = held.get(typeUrl) ?? new Map<string, string>();
    held.set(typeUrl, known);
    return known;
  };
  const referred = (typeUrl: string): ReadonlySet<string> =>
    new Set(
      [...held.values()]
        .flatMap((names) => [...names.values()])
        .flatMap((text) => namesIn(JSON.parse(text) as JsonValue, typeUrl)),
    );
  return {
    held: () =>
      [...held]
        .flatMap(([typeUrl, names]) =>
          [...names.keys()]
            .filter((name) => subscribed.get(typeUrl)?.has(name) ?? true)
            .map((name) => `${typeUrl} ${name}`),
        )
        .sort(),
    names: (typeUrl) => [...heldOf(typeUrl).keys()],
    apply(typeUrl, contents, removed) {
      const names = heldOf(typeUrl);
      const added: string[] = [];
      const changed: string[] = [];
      for (const [name, any] of contents) {
        const text = any === undefined ? "{}" : JSON.stringify(anyToJson(any, registry));
        if (!names.has(name)) added.push(name);
        else if (names.get(name) !== text) changed.push(name);
        names.set(name, text);
      }
      return { typeUrl, added, changed, removed: removed.filter((name) => names.delete(name)) };
    },
    changedNames: () =>
      [type.endpoints, type.routes].flatMap((typeUrl) => {
        const all = referred(typeUrl);
        const before = subscribed.get(typeUrl) ?? new Set<string>();
        subscribed.set(typeUrl, all);
        const add = [...all].filter((name) => !before.has(name));
        const drop = [...before].filter((name) => !all.has(name));
        return add.length + drop.length === 0 ? [] : [{ typeUrl, add, drop, all: [...all] }];
      }),
  };
}

/** The names of endpoints or routes in a message. */
function namesIn(json: JsonValue, typeUrl: string): readonly string[] {
  if (typeof json !== "object" || json === null) return [];
  if (Array.isArray(json)) return json.flatMap((one) => namesIn(one, typeUrl));
  if (typeUrl === type.endpoints)
    return json.type === "EDS" && typeof json.name === "string" ? [json.name] : [];
  return [
    ...(typeof json.routeConfigName === "string" ? [json.routeConfigName] : []),
    ...Object.values(json).flatMap((one) => namesIn(one, typeUrl)),
  ];
}

function nameOf(any: Any): string {
  const json = anyToJson(any, registry);
  const { name, clusterName } = json as { readonly name?: string; readonly clusterName?: string };
  return (anyIs(any, "envoy.config.endpoint.v3.ClusterLoadAssignment") ? clusterName : name) ?? "";
}
