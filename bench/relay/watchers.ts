import { fromBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { createRawDeltaClient } from "@xdstp/testing";
import { now } from "../churn-plan.ts";
import { connectTo } from "../client/connect-to.ts";
import { createMessageReader } from "../client/message-reader.ts";
import { envelope } from "../envelope.ts";
import { memberGlob, memberType } from "./members.ts";

/** Clients of one server that all want the same glob, and acknowledge what they get. */
export interface Watchers extends Disposable {
  /** Resolves when each has so many resources. */
  readonly ready: Promise<void>;
  /** Milliseconds from the change until it was read, of all that was read since the last call. */
  takeDelays(): Float64Array;
}

const perConnection = 100;

/** Opens clients, a hundred on a connection. `members`: what each has to have. */
export function openWatchers(port: number, count: number, members: number): Watchers {
  const sessions = Array.from({ length: Math.ceil(count / perConnection) }, () => connectTo(port));
  let [delays, missing] = [[] as number[], count];
  let done = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    done = resolve;
  });
  const read = (message: Buffer): number => {
    const at = now();
    const { resources } = fromBinary(DeltaDiscoveryResponseSchema, message);
    for (const { resource } of resources)
      if (resource !== undefined) delays.push(at - Buffer.from(resource.value).readDoubleBE());
    return resources.length;
  };
  for (let client = 0; client < count; client++) {
    const stream = sessions[Math.floor(client / perConnection)]?.request(
      {
        ":method": "POST",
        ":path": "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
        "content-type": "application/grpc",
        te: "trailers",
      },
      { endStream: false },
    );
    const inbox: Buffer[] = [];
    const raw = createRawDeltaClient(
      {
        send: (message) => {
          stream?.write(envelope([message]));
        },
        take: () => inbox.shift(),
      },
      { node: { id: `client-${client}` } },
    );
    let held = 0;
    stream?.on("error", () => undefined);
    const reader = createMessageReader((message) => {
      inbox.push(message);
      const before = held;
      held += read(message);
      raw.ack(raw.next());
      if (before < members && held >= members && --missing === 0) done();
    });
    stream?.on("data", (chunk: Buffer) => {
      reader.push(chunk);
    });
    raw.send({ typeUrl: memberType, resourceNamesSubscribe: [memberGlob] });
  }
  return {
    ready,
    takeDelays() {
      const taken = Float64Array.from(delays);
      delays = [];
      return taken;
    },
    [Symbol.dispose]() {
      for (const session of sessions) session.destroy();
    },
  };
}
