import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { StatusCode } from "@xdstp/core";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  type DeltaDiscoveryResponse,
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
