import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StatusCode } from "@xdstp/core";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";

import type { MemoryStream } from "./create-memory-stream.ts";
import { createReader, type RawMessages } from "./raw-wire.ts";

/** Sends and reads single messages. It never answers by itself. */
export interface RawClient<Variant extends keyof RawMessages> {
  /** Returns the oldest response that was not read yet. Throws if there is none. */
  next(): RawMessages[Variant]["response"];
  /** Returns all responses that were not read yet, or an empty list. */
  rest(): readonly RawMessages[Variant]["response"][];
  /**
   * Sends a request unchanged. In the SotW variant its names are remembered for the answers of its
   * type.
   */
  send(request: RawMessages[Variant]["requestInit"]): void;
  /**
   * Accepts a response; in the SotW variant with the names of the last request. `more` is added to
   * the request (names, for example), and takes precedence.
   */
  ack(response: RawMessages[Variant]["response"], more?: RawMessages[Variant]["requestInit"]): void;
  /**
   * Rejects a response, with INVALID_ARGUMENT and the text; in the SotW variant with the last
   * accepted version and the names of the last request. `more` takes precedence.
   */
  nack(
    response: RawMessages[Variant]["response"],
    text: string,
    more?: RawMessages[Variant]["requestInit"],
  ): void;
}

type DeltaRequestInit = RawMessages["delta"]["requestInit"];
type SotwRequestInit = RawMessages["sotw"]["requestInit"];

/** Creates a delta client that sends only what the test says. */
export function createRawDeltaClient(
  wire: Pick<MemoryStream, "send" | "take">,
  options: {
    /** The node that is sent with the first request without a node. Absent: no node is added. */
    readonly node?: RawMessages["delta"]["requestInit"]["node"];
  } = {},
): RawClient<"delta"> {
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

/** The fields that an answer repeats. */
interface Subscription {
  readonly names: SotwRequestInit["resourceNames"];
  readonly version: string;
}

/** Creates a SotW client that sends only what the test says. */
export function createRawSotwClient(
  wire: Pick<MemoryStream, "send" | "take">,
  options: {
    /** The node that is sent with the first request without a node. Absent: no node is added. */
    readonly node?: RawMessages["sotw"]["requestInit"]["node"];
  } = {},
): RawClient<"sotw"> {
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
