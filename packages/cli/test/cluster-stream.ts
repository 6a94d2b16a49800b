import { onTestFinished } from "vitest";
import { openDeltaStream, type DeltaStream } from "./grpc-stream.ts";
import { clusterUrl } from "./use-origin.ts";

/** Opens a stream that subscribes to these clusters. It is closed after the test. */
export async function askForClusters(
  port: number,
  node: string,
  ...names: readonly string[]
): Promise<DeltaStream> {
  const client = await openDeltaStream(port, node);
  onTestFinished(() => {
    client.close();
  });
  client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: [...names] });
  return client;
}

/** Accepts the next response and returns its names, sorted. */
export async function nextNames(client: DeltaStream): Promise<readonly string[]> {
  await client.arrived();
  const response = client.next();
  client.ack(response);
  return response.resources.map(({ name }) => name).sort();
}
