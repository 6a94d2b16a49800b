import type { Status } from "@xdstp/core";
import type { XdsServer } from "@xdstp/server";
import {
  createMemoryStream,
  createRawDeltaClient,
  createRawSotwClient,
  type RawMessages,
  type MemoryStream,
} from "@xdstp/testing";

import {
  decodeResponse,
  type Variant,
  type WireResource,
  type WireResponse,
} from "./wire-bytes.ts";

/** A `Node` as a plain object. */
export type NodeInit = NonNullable<RawMessages["delta"]["requestInit"]["node"]>;

/** The request fields that both variants have. */
export type AnyRequest = Pick<
  RawMessages["delta"]["requestInit"],
  "typeUrl" | "responseNonce" | "errorDetail"
>;

/** One response. */
export interface Answer extends WireResponse {
  /**
   * Each resource as `name=text`, with the last segment of its name only; without a body
   * `name@version`.
   */
  readonly shown: readonly string[];
}

/** A client of a server that sends and reads single messages. */
export interface WorldClient {
  readonly stream: MemoryStream;
  readonly closed: Status | undefined;
  /** Sends a request as it is; the first one has the node. */
  send(request: AnyRequest): void;
  /** Subscribes to these names; in SotW they replace the earlier ones. */
  ask(typeUrl: string, ...names: readonly string[]): void;
  /** Unsubscribes from these names. */
  leave(typeUrl: string, ...names: readonly string[]): void;
  /** Reads what has come. */
  read(): readonly Answer[];
  /** Reads what has come, and accepts it. */
  take(): readonly Answer[];
  ack(answer: WireResponse): void;
  nack(answer: WireResponse, text: string): void;
}

const methods = { delta: "DeltaAggregatedResources", sotw: "StreamAggregatedResources" } as const;
const features = ["xds.config.supports-resource-ttl", "xds.config.resource-in-sotw"];

/** Opens a stream: an aggregated one, or that of another path. */
export function connectClient(
  server: XdsServer,
  variant: Variant,
  node: NodeInit = { id: "client" },
  path = `/envoy.service.discovery.v3.AggregatedDiscoveryService/${methods[variant]}`,
): WorldClient {
  const stream = createMemoryStream((out) => {
    const handler = server.accept(path, "192.0.2.7:1", out);
    if (!("code" in handler)) return handler;
    out.close(handler);
    return { onMessage: () => undefined, onDrained: () => undefined, onClosed: () => undefined };
  });
  const says =
    variant === "delta"
      ? deltaClient(stream, { clientFeatures: features, ...node })
      : sotwClient(stream, { clientFeatures: features, ...node });
  const read = (): readonly Answer[] => {
    const answers: Answer[] = [];
    for (let bytes = stream.take(); bytes !== undefined; bytes = stream.take()) {
      const response = decodeResponse(variant, bytes);
      answers.push({ ...response, shown: response.resources.map(show) });
    }
    return answers;
  };
  return {
    ...says,
    stream,
    read,
    get closed() {
      return stream.closed;
    },
    take() {
      const answers = read();
      for (const answer of answers) says.ack(answer);
      return answers;
    },
  };
}

/** The text of a payload is everything after the type of its `Any`. */
function show({ name, version, any }: WireResource): string {
  const last = name.slice(name.lastIndexOf("/") + 1);
  return any === undefined ? `${last}@${version}` : `${last}=${textOf(any)}`;
}

function textOf(any: Uint8Array): string {
  const typeLength = any[1] ?? 0;
  return Buffer.from(any.subarray(2 + typeLength + 2)).toString();
}

type Says = Pick<WorldClient, "send" | "ask" | "leave" | "ack" | "nack">;

function deltaClient(stream: MemoryStream, node: NodeInit): Says {
  const raw = createRawDeltaClient(stream, { node });
  return {
    send(request) {
      raw.send(request);
    },
    ask(typeUrl, ...names) {
      raw.send({ typeUrl, resourceNamesSubscribe: [...names] });
    },
    leave(typeUrl, ...names) {
      raw.send({ typeUrl, resourceNamesUnsubscribe: [...names] });
    },
    ack({ typeUrl, nonce }) {
      raw.send({ typeUrl, responseNonce: nonce });
    },
    nack({ typeUrl, nonce }, message) {
      raw.send({ typeUrl, responseNonce: nonce, errorDetail: { code: 3, message } });
    },
  };
}

function sotwClient(stream: MemoryStream, node: NodeInit): Says {
  const raw = createRawSotwClient(stream, { node });
  const types = new Map<string, { names: readonly string[]; version: string; nonce: string }>();
  const say = (typeUrl: string, error?: string): void => {
    const { names = [], version = "", nonce = "" } = types.get(typeUrl) ?? {};
    raw.send({
      typeUrl,
      resourceNames: [...names],
      versionInfo: version,
      responseNonce: nonce,
      ...(error !== undefined && { errorDetail: { code: 3, message: error } }),
    });
  };
  const change = (
    typeUrl: string,
    updates: { names?: readonly string[]; version?: string; nonce?: string },
  ): void => {
    types.set(typeUrl, { names: [], version: "", nonce: "", ...types.get(typeUrl), ...updates });
  };
  return {
    send(request) {
      raw.send(request);
    },
    ask(typeUrl, ...names) {
      change(typeUrl, { names });
      say(typeUrl);
    },
    leave(typeUrl, ...names) {
      change(typeUrl, {
        names: (types.get(typeUrl)?.names ?? []).filter((name) => !names.includes(name)),
      });
      say(typeUrl);
    },
    ack({ typeUrl, nonce, version }) {
      change(typeUrl, { nonce, version });
      say(typeUrl);
    },
    nack({ typeUrl, nonce }, text) {
      change(typeUrl, { nonce });
      say(typeUrl, text);
    },
  };
}
