import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { isMuted, type Scenario } from "../scenario.ts";
import { ackOf, readResponse } from "./ack-of.ts";
import { firstRequest } from "./first-request.ts";
import { createMessageReader } from "./message-reader.ts";
import { createStart, type LoadHost } from "./start.ts";

const paths = { delta: "DeltaAggregatedResources", sotw: "StreamAggregatedResources" };

/** The stream of a client, on which nothing was said yet. The floor, which decodes nothing, reads in headers who it is and whether it lists versions. */
export function requestStream(
  session: ClientHttp2Session,
  { variant }: Scenario,
  client: number,
  listsVersions = false,
): ClientHttp2Stream {
  return session.request(
    {
      ":method": "POST",
      ":path": `/envoy.service.discovery.v3.AggregatedDiscoveryService/${paths[variant]}`,
      "content-type": "application/grpc",
      te: "trailers",
      "x-bench-client": String(client),
      ...(listsVersions ? { "x-bench-versions": "listed" } : {}),
    },
    { endStream: false },
  );
}

/** One client: asks, reads each response, acknowledges it. A muted one only asks. */
export function openLoadStream(
  session: ClientHttp2Session,
  client: number,
  scenario: Scenario,
  host: LoadHost,
): void {
  const stream = requestStream(session, scenario, client, host.held !== undefined);
  stream.on("error", (error: Error) => {
    host.lost(error);
  });
  stream.on("trailers", (trailers) => {
    host.lost(new Error(`the server ended a stream: ${JSON.stringify(trailers)}`));
  });
  const send = (bytes: Buffer): void => {
    stream.write(bytes);
    host.sent(bytes.length);
  };
  if (!isMuted(scenario, client)) {
    const start = createStart(host);
    const reader = createMessageReader((message) => {
      const response = readResponse(message);
      if (!start.takes(message, response.resources)) host.pushed(message, client);
      send(ackOf(message, response, scenario.variant));
    });
    stream.on("data", (chunk: Buffer) => {
      reader.push(chunk);
    });
  }
  send(firstRequest(scenario, client, host.held));
}
