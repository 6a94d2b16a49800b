import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { StatusCode } from "@xdstp/core";
import {
  DeltaDiscoveryRequestSchema,
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";

import { createReader, type RawWire, type Reader } from "./raw-wire.ts";

/** A delta request as a plain object: what is left out is not sent. */
export type DeltaRequestInit = Omit<
  MessageInitShape<typeof DeltaDiscoveryRequestSchema>,
  "$typeName"
>;

/** Sends and reads single messages of the delta variant; it never answers by itself. */
export interface RawDeltaClient extends Reader<DeltaDiscoveryResponse> {
  /** Sends a request as it is. */
  send(request: DeltaRequestInit): void;
  /** Accepts a response. `more` goes into the same request (names, for instance). */
  ack(response: DeltaDiscoveryResponse, more?: DeltaRequestInit): void;
  /** Rejects a response, with INVALID_ARGUMENT unless `more` says otherwise. */
  nack(response: DeltaDiscoveryResponse, text: string, more?: DeltaRequestInit): void;
}

/** A client of the delta variant for scripts that say each step. */
export function createRawDeltaClient(
  wire: RawWire,
  options: {
    /** The node that is sent with the first request without a node. Absent: no node is added. */
    readonly node?: DeltaRequestInit["node"];
  } = {},
): RawDeltaClient {
  let node = options.node;
  const send = (request: DeltaRequestInit): void => {
    const whole = node === undefined ? request : { node, ...request };
    node = undefined;
    wire.send(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, whole)));
  };
  return {
    ...createReader(wire, (bytes) => fromBinary(DeltaDiscoveryResponseSchema, bytes)),
    send,
    ack({ typeUrl, nonce }, more) {
      send({ typeUrl, responseNonce: nonce, ...more });
    },
    nack({ typeUrl, nonce }, text, more) {
      send({
        typeUrl,
        responseNonce: nonce,
        errorDetail: { code: StatusCode.INVALID_ARGUMENT, message: text },
        ...more,
      });
    },
  };
}

/** A SotW request as a plain object: what is left out is not sent. */
export type SotwRequestInit = Omit<MessageInitShape<typeof DiscoveryRequestSchema>, "$typeName">;

/** Sends and reads single messages of the SotW variant; it never answers by itself. */
export interface RawSotwClient extends Reader<DiscoveryResponse> {
  /** Sends a request as it is. Its names are remembered for the answers of its type. */
  send(request: SotwRequestInit): void;
  /** Accepts a response, with the names asked for last. `more` goes into the same request and wins. */
  ack(response: DiscoveryResponse, more?: SotwRequestInit): void;
  /** Rejects a response: the version accepted last, the names asked for last, INVALID_ARGUMENT and the text. `more` wins. */
  nack(response: DiscoveryResponse, text: string, more?: SotwRequestInit): void;
}

/** What an answer repeats. */
interface Subscription {
  readonly names: SotwRequestInit["resourceNames"];
  readonly version: string;
}

/** A client of the SotW variant for scripts that say each step. */
export function createRawSotwClient(
  wire: RawWire,
  options: {
    /** The node that is sent with the first request without a node. Absent: no node is added. */
    readonly node?: SotwRequestInit["node"];
  } = {},
): RawSotwClient {
  let node = options.node;
  const subscriptions = new Map<string, Subscription>();
  const send = (request: SotwRequestInit): void => {
    const whole = node === undefined ? request : { node, ...request };
    node = undefined;
    subscriptions.set(request.typeUrl ?? "", {
      names: request.resourceNames,
      version: request.versionInfo ?? "",
    });
    wire.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, whole)));
  };
  const answer = ({ typeUrl, nonce }: DiscoveryResponse, rest: SotwRequestInit): void => {
    const { names = [], version = "" } = subscriptions.get(typeUrl) ?? {};
    send({ typeUrl, responseNonce: nonce, resourceNames: names, versionInfo: version, ...rest });
  };
  return {
    ...createReader(wire, (bytes) => fromBinary(DiscoveryResponseSchema, bytes)),
    send,
    ack(response, more) {
      answer(response, { versionInfo: response.versionInfo, ...more });
    },
    nack(response, text, more) {
      answer(response, {
        errorDetail: { code: StatusCode.INVALID_ARGUMENT, message: text },
        ...more,
      });
    },
  };
}
