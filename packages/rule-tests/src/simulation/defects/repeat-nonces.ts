import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Message } from "@xdstp/core";
import { DeltaDiscoveryResponseSchema, DiscoveryResponseSchema } from "@xdstp/protos/discovery";

import { viewResponse } from "../wire-view.ts";
import type { Defect } from "./defect.ts";
import { forward } from "./forward.ts";

/** Every so many responses of a stream one has the nonce of the response before it. */
const EVERY = 10;

/** A server that gives a nonce again. */
export const repeatNonces: Defect = {
  serve(serve, out, variant) {
    let count = 0;
    let last = 0;
    return serve({ ...forward(out), send(message) {
      const { nonce } = viewResponse(message.bytes);
      const repeats = ++count % EVERY === 0;
      const sent = out.send(repeats ? withNonce(message, variant, last) : message);
      last = nonce;
      return sent;
    } });
  },
};

function withNonce({ bytes }: Message, variant: "delta" | "sotw", nonce: number): Message {
  const schema = variant === "delta" ? DeltaDiscoveryResponseSchema : DiscoveryResponseSchema;
  const encoded = toBinary(schema, create(schema, { ...fromBinary(schema, bytes), nonce: String(nonce) }));
  const enveloped = Buffer.alloc(5 + encoded.length);
  enveloped.writeUInt32BE(encoded.length, 1);
  enveloped.set(encoded, 5);
  return { enveloped, bytes: enveloped.subarray(5) };
}
