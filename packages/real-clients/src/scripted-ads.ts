import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StatusCode, type ByteStream, type ByteStreamHandler } from "@xdstp/core";
import { createGrpcServer } from "@xdstp/grpc/server";
import {
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  type DiscoveryRequest,
} from "@xdstp/protos/discovery";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { shortNameOf } from "@xdstp/resource-types";
import { onTestFinished } from "vitest";
import type { TestResource } from "./resources.ts";
import { until } from "./until.ts";

/** A SotW server over ADS that does the same for every client: it answers new names with what there is, and sends what changes. Nothing else makes it speak. */
export interface ScriptedAds {
  readonly port: number;
  /** Sets all there is of these types, and sends it to who asked for the type. */
  publish(version: string, ...resources: readonly TestResource[]): void;
  /** Ends all streams; the port stays open. */
  cut(): void;
  /** Resolves with the requests since the last call, a list for each type, once every response is answered and no message has come for a while. */
  heard(): Promise<Heard>;
  /** For each stream so far, and each of its requests: whether it had the node. */
  readonly nodes: readonly (readonly boolean[])[];
}

/** By the short name of the type: `ask, version, names` for what follows no response, `ACK, ...`, `NACK code, ...`; `no version` and `no nonce` where that is so. */
export type Heard = Readonly<Record<string, readonly string[]>>;

interface TypeStream {
  asked: readonly string[];
  nonce: string;
  answered: boolean;
}

interface Held {
  readonly version: string;
  readonly resources: readonly TestResource[];
}

const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const quietMs = 400;

/** Starts one on a free port of the loopback, for the time of the test. */
export async function useScriptedAds(): Promise<ScriptedAds> {
  const held = new Map<string, Held>();
  const streams = new Map<ByteStream, Map<string, TypeStream>>();
  const nodes: boolean[][] = [];
  const state = {
    nonces: 0,
    log: [] as (readonly [type: string, line: string])[],
    last: Date.now(),
  };
  const respond = (out: ByteStream, typeUrl: string, type: TypeStream): void => {
    const { version, resources } = held.get(typeUrl) ?? { version: "", resources: [] };
    const wanted = resources.filter(({ name }) => type.asked.includes(name));
    if (wanted.length === 0) return;
    Object.assign(type, { nonce: `n${++state.nonces}`, answered: false });
    out.send(
      enveloped(
        toBinary(
          DiscoveryResponseSchema,
          create(DiscoveryResponseSchema, {
            versionInfo: version,
            typeUrl,
            nonce: type.nonce,
            resources: wanted.map(encoded),
          }),
        ),
      ),
    );
  };
  const take = (
    out: ByteStream,
    types: Map<string, TypeStream>,
    request: DiscoveryRequest,
  ): void => {
    const { typeUrl, resourceNames, responseNonce } = request;
    const type = types.get(typeUrl) ?? { asked: [], nonce: "", answered: true };
    state.log.push([
      shortNameOf(typeUrl) ?? typeUrl,
      lineOf(request, types.has(typeUrl) && !type.answered),
    ]);
    state.last = Date.now();
    types.set(typeUrl, type);
    if (responseNonce === type.nonce) type.answered = true;
    const isNew = resourceNames.some((name) => !type.asked.includes(name));
    type.asked = resourceNames;
    if (isNew) respond(out, typeUrl, type);
  };
  const accept = (_: unknown, out: ByteStream): ByteStreamHandler => {
    const types = new Map<string, TypeStream>();
    const withNode: boolean[] = [];
    streams.set(out, types);
    nodes.push(withNode);
    return createHandler(
      withNode,
      (request) => {
        take(out, types, request);
      },
      () => {
        streams.delete(out);
      },
    );
  };
  const server = createGrpcServer({ accept, isStreaming: (asked) => asked === path });
  const { port } = await server.listen({ port: 0 });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const isAtRest = (): boolean =>
    Date.now() - state.last > quietMs &&
    streams.size > 0 &&
    [...streams.values()].every(
      (types) => types.size > 0 && [...types.values()].every(({ answered }) => answered),
    );
  return {
    port,
    nodes,
    publish(version, ...resources) {
      for (const [typeUrl, some] of Map.groupBy(resources, (resource) => resource.typeUrl)) {
        held.set(typeUrl, { version, resources: some });
        for (const [out, types] of streams) {
          const type = types.get(typeUrl);
          if (type !== undefined) respond(out, typeUrl, type);
        }
      }
      state.last = Date.now();
    },
    cut() {
      for (const out of streams.keys()) out.close({ code: StatusCode.UNAVAILABLE, message: "cut" });
      state.last = Date.now();
    },
    async heard() {
      await until("the client is at rest", isAtRest, () => state.log);
      const log = state.log.splice(0);
      return Object.fromEntries(
        [...Map.groupBy(log, ([type]) => type)].map(
          ([type, lines]) => [type, lines.map(([, line]) => line)] as const,
        ),
      );
    },
  };
}

function createHandler(
  withNode: boolean[],
  take: (request: DiscoveryRequest) => void,
  onClosed: () => void,
): ByteStreamHandler {
  return {
    onMessage(bytes) {
      const request = fromBinary(DiscoveryRequestSchema, bytes);
      withNode.push(request.node !== undefined);
      take(request);
    },
    onDrained: () => undefined,
    onClosed,
  };
}

/** Nonces are numbered across types, in an order of the client's; so a line only says whether there is one. */
function lineOf(
  { versionInfo, responseNonce, resourceNames, errorDetail }: DiscoveryRequest,
  owed: boolean,
): string {
  const kind = errorDetail !== undefined ? `NACK ${errorDetail.code}` : owed ? "ACK" : "ask";
  const parts = [
    kind,
    versionInfo === "" ? "no version" : versionInfo,
    responseNonce === "" ? "no nonce" : "",
    [...resourceNames].sort().join(" "),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function encoded({ typeUrl, body }: TestResource): { typeUrl: string; value: Uint8Array } {
  return { typeUrl, value: anyFromJson({ "@type": typeUrl, ...body }, envoyRegistry()).value };
}

function enveloped(bytes: Uint8Array): { bytes: Uint8Array; enveloped: Uint8Array } {
  const all = Buffer.alloc(5 + bytes.length);
  all.writeUInt32BE(bytes.length, 1);
  all.set(bytes, 5);
  return { bytes: all.subarray(5), enveloped: all };
}
