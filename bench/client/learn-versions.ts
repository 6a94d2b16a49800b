import { fromBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { resourcesPerClient, type Scenario } from "../scenario.ts";
import { connectTo } from "./connect-to.ts";
import type { Sent } from "./fleet.ts";
import { firstRequest, type Versions } from "./first-request.ts";
import { createMessageReader } from "./message-reader.ts";
import { requestStream } from "./load-stream.ts";

/** Asks once as all clients will, and goes. Resolves with the version of each resource. */
export async function learnVersions(
  port: number,
  scenario: Scenario,
  sent: Sent,
): Promise<Versions> {
  const session = connectTo(port, scenario.tls);
  const versions: Record<string, string> = {};
  const all = Promise.withResolvers<Versions>();
  session.on("error", all.reject);
  const stream = requestStream(session, scenario, 0);
  stream.on("error", all.reject);
  const reader = createMessageReader((message) => {
    for (const { name, version } of fromBinary(DeltaDiscoveryResponseSchema, message).resources)
      versions[name] = version;
    if (Object.keys(versions).length === resourcesPerClient(scenario)) all.resolve(versions);
  });
  stream.on("data", (chunk: Buffer) => {
    reader.push(chunk);
  });
  const request = firstRequest(
    {
      variant: scenario.variant,
      ...(scenario.names === undefined ? {} : { names: scenario.names }),
    },
    0,
  );
  stream.write(request);
  sent.messages++;
  sent.bytes += request.length;
  try {
    return await all.promise;
  } finally {
    session.destroy();
  }
}
