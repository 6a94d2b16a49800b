import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Cache, createCache } from "@xdstp/cache";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { type Cluster, ClusterSchema } from "@xdstp/protos/envoy/cluster";
import {
  type ClusterLoadAssignment,
  ClusterLoadAssignmentSchema,
} from "@xdstp/protos/envoy/endpoint";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters, endpoints } from "@xdstp/resource-types/envoy";
import { createServer, type ServerOptions, type XdsServer } from "@xdstp/server";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { onTestFinished } from "vitest";

import {
  createRestHandler,
  type RestAnswer,
  type RestHandler,
  type RestLimits,
  type RestRequest,
} from "../src/server/index.ts";

export const path = "/v3/discovery:clusters";
export const endpointsPath = "/v3/discovery:endpoints";

/** A poll, with defaults for what a test does not care about. */
export interface TestPoll {
  readonly version?: string;
  readonly names?: readonly string[];
  readonly error?: string;
  readonly nonce?: string;
  readonly node?: string;
  /** The features that the client announces. Default: none. */
  readonly features?: readonly string[];
  /** Default: that of clusters. */
  readonly path?: string;
  /** The address of the client, without its port. */
  readonly host?: string;
  /** Seconds, as `prefer: wait=` has them. */
  readonly wait?: number;
  readonly signal?: AbortSignal;
}

/**
 * An answer, read. `clusters` has `name=seconds` of each cluster, and `endpoints` `name=priority` of
 * those of each cluster.
 */
export interface TestAnswer {
  readonly status: number;
  readonly version: string;
  readonly nonce: string;
  readonly clusters: readonly string[];
  readonly endpoints: readonly string[];
}

export interface Rest {
  readonly cache: Cache;
  readonly clock: FakeClock;
  readonly server: XdsServer;
  readonly handler: RestHandler;
  /** Puts a cluster; the seconds tell its states apart. */
  readonly put: (name: string, seconds: number) => void;
  /** Removes a cluster. */
  readonly remove: (name: string) => void;
  /** Puts the endpoints of a cluster; the priority tells their states apart. */
  readonly putEndpoints: (name: string, priority: number) => void;
  /** Polls, and notes that the answer has arrived unless `lost`. */
  readonly poll: (poll?: TestPoll, options?: { readonly lost?: boolean }) => Promise<TestAnswer>;
  /** Sends a request as it is. */
  readonly send: (
    request: Partial<RestRequest> & { readonly headers?: Record<string, string> },
  ) => Promise<RestAnswer>;
}

/** A server over a cache, with its REST handler on a clock of the test. */
export function useRest(
  limits: Partial<RestLimits> = {},
  options: Partial<ServerOptions> = {},
): Rest {
  const cache = createCache({ types: envoyTypes });
  cache.transaction(() => undefined);
  const clock = createFakeClock();
  const server = createServer({ source: cache, ...options });
  onTestFinished(() => server.close());
  const handler = createRestHandler({
    accept: server.accept.bind(server),
    registry: envoyRegistry(),
    clock,
    limits,
  });
  onTestFinished(() => {
    handler.close();
  });
  const send: Rest["send"] = async ({ headers = {}, ...request }) =>
    handler.handle({
      method: "POST",
      path,
      header: (name) => headers[name],
      body: async () => Promise.resolve(new Uint8Array()),
      peer: "10.0.0.1:5000",
      signal: new AbortController().signal,
      ...request,
    });
  return {
    cache,
    clock,
    server,
    handler,
    send,
    put(name, seconds) {
      cache.put(clusters, { name, connectTimeout: { seconds: BigInt(seconds) } });
    },
    remove(name) {
      cache.remove(clusters.typeUrl, name);
    },
    putEndpoints(name, priority) {
      cache.put(endpoints, { clusterName: name, endpoints: [{ priority }] });
    },
    async poll(
      { wait, signal, path: polled = path, host = "10.0.0.1", ...poll } = {},
      { lost = false } = {},
    ) {
      const body = toBinary(DiscoveryRequestSchema, requestOf(poll));
      const answered = send({
        headers: {
          "content-type": "application/x-protobuf",
          ...(wait !== undefined && { prefer: `wait=${String(wait)}` }),
        },
        body: async () => Promise.resolve(body),
        path: polled,
        peer: `${host}:5000`,
        ...(signal !== undefined && { signal }),
      });
      const answer = await settled(answered, clock, wait === undefined);
      if (!lost) answer.delivered();
      return readAnswer(answer);
    },
  };
}

/** Waits until the server has done all that it can, and then lets the shortest wait of a poll pass. */
async function settled(
  answered: Promise<RestAnswer>,
  clock: FakeClock,
  isShort: boolean,
): Promise<RestAnswer> {
  if (isShort) {
    await turns();
    clock.advance(100);
  }
  return answered;
}

/** Lets all work pass that is due without a clock. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

function requestOf({
  version = "",
  names = [],
  error,
  nonce = "",
  node = "n",
  features = [],
}: TestPoll): DiscoveryRequest {
  return create(DiscoveryRequestSchema, {
    versionInfo: version,
    resourceNames: [...names],
    responseNonce: nonce,
    node: { id: node, clientFeatures: [...features] },
    ...(error !== undefined && { errorDetail: { code: 3, message: error } }),
  });
}

export function readAnswer({ status, body }: RestAnswer): TestAnswer {
  if (status !== 200 || body === undefined)
    return { status, version: "", nonce: "", clusters: [], endpoints: [] };
  return { status, ...readResponse(fromBinary(DiscoveryResponseSchema, body)) };
}

function readResponse({
  versionInfo,
  nonce,
  typeUrl,
  resources,
}: DiscoveryResponse): Omit<TestAnswer, "status"> {
  const textsOf = (type: { readonly typeUrl: string }, text: (value: Uint8Array) => string) =>
    type.typeUrl === typeUrl ? resources.map((any) => text(payloadOf(any))).sort() : [];
  return {
    version: versionInfo,
    nonce,
    clusters: textsOf(clusters, (value) => clusterText(fromBinary(ClusterSchema, value))),
    endpoints: textsOf(endpoints, (value) =>
      endpointsText(fromBinary(ClusterLoadAssignmentSchema, value)),
    ),
  };
}

/** Returns the payload of a resource, out of its wrapper if it has one. */
function payloadOf({ typeUrl, value }: DiscoveryResponse["resources"][number]): Uint8Array {
  if (!typeUrl.endsWith(`/${ResourceSchema.typeName}`)) return value;
  return fromBinary(ResourceSchema, value).resource?.value ?? new Uint8Array();
}

function clusterText({ name, connectTimeout }: Cluster): string {
  return `${name}=${String(connectTimeout?.seconds ?? 0n)}`;
}

function endpointsText({ clusterName, endpoints: [first] }: ClusterLoadAssignment): string {
  return `${clusterName}=${String(first?.priority ?? 0)}`;
}
