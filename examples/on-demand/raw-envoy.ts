import type { Message } from "@xdstp/core";
import { createGrpcChannel } from "@xdstp/grpc/client";
import type { DeltaDiscoveryResponse } from "@xdstp/protos/discovery";
import { createRawDeltaClient, type RawClient } from "@xdstp/testing";

/** A client that asks word for word, and that the control plane takes for Envoy. */
export interface RawEnvoy extends AsyncDisposable {
  readonly client: RawClient<"delta">;
  /** The next response, as soon as it is there. */
  readonly next: () => Promise<DeltaDiscoveryResponse>;
}

/** Opens a stream of ADS, in delta. */
export function openRawEnvoy(port: number): RawEnvoy {
  const channel = createGrpcChannel({ target: `127.0.0.1:${String(port)}` });
  const read: Uint8Array[] = [];
  let wake: () => void = () => undefined;
  const stream = channel.open(
    { path: "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources" },
    {
      onMessage(bytes) {
        read.push(bytes.slice());
        wake();
      },
      onDrained: () => undefined,
      onClosed: () => undefined,
    },
  );
  const client = createRawDeltaClient(
    {
      send: (bytes) => {
        stream.send(enveloped(bytes));
      },
      take: () => read.shift(),
    },
    { node: { id: "raw", userAgentName: "envoy" } },
  );
  return {
    client,
    next: async () => {
      if (read.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return client.next();
    },
    [Symbol.asyncDispose]: () => channel.close(),
  };
}

/** Behind a byte and its length in four, as gRPC has it. */
function enveloped(message: Uint8Array): Message {
  const whole = Buffer.alloc(5 + message.length);
  whole.writeUInt32BE(message.length, 1);
  whole.set(message, 5);
  return { bytes: whole.subarray(5), enveloped: whole };
}
