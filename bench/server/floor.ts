import type { ServerHttp2Stream } from "node:http2";
import { namesOf, type Scenario } from "../scenario.ts";
import type { BenchServer } from "./bench-server.ts";
import { createCoalescing } from "./coalescing.ts";
import { floorResponses } from "./floor-responses.ts";
import { createHttp2Server } from "./http2-server.ts";
import { listen } from "./listen.ts";

/**
 * The floor of Node: raw `node:http2`, one identical buffer written to each stream, nothing decoded.
 * Under churn it waits for ACKs, as all must whose clients may be slower than the changes.
 * It knows from the scenario which client watches which names. A header names the client of a stream.
 */
export async function startFloor(scenario: Scenario): Promise<BenchServer> {
  const responses = floorResponses(scenario);
  const everything =
    scenario.names === undefined
      ? responses.first(Array.from({ length: scenario.resources }, (_, index) => index))
      : [];
  const watchers = createWatchers(scenario);
  let bytes = 0;
  const coalescing = scenario.churn === undefined ? undefined : createCoalescing(responses.pushAll);
  const nothing = responses.nothing();
  const firstTo = (client: number, listsVersions: boolean): readonly Buffer[] => {
    if (listsVersions) return [nothing];
    return scenario.names === undefined
      ? everything
      : responses.first(namesOf(scenario.names, client));
  };
  const server = createHttp2Server(scenario.tls);
  server.on("session", (session) => {
    session.on("error", ignore);
  });
  server.on("stream", (stream, headers) => {
    const client = Number(headers["x-bench-client"]);
    stream.on("error", ignore);
    stream.respond(
      { ":status": 200, "content-type": "application/grpc" },
      { waitForTrailers: true },
    );
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      coalescing?.heard(stream);
    });
    for (const message of firstTo(client, "x-bench-versions" in headers)) stream.write(message);
    if (coalescing === undefined) watchers.add(stream, client);
    else coalescing.add(stream);
  });
  return {
    port: await listen(server),
    change(indexes, stamp) {
      for (const index of indexes) {
        if (coalescing !== undefined) {
          coalescing.change({ index, stamp });
          continue;
        }
        const message = responses.push(index, stamp);
        for (const stream of watchers.of(index)) stream.write(message);
      }
    },
    received: () => ({ unit: "bytes", count: bytes }),
  };
}

interface Watchers {
  add(stream: ServerHttp2Stream, client: number): void;
  of(index: number): Iterable<ServerHttp2Stream>;
}

function createWatchers({ names }: Scenario): Watchers {
  const all: ServerHttp2Stream[] = [];
  const byIndex = new Map<number, ServerHttp2Stream[]>();
  return {
    add(stream, client) {
      if (names === undefined) {
        all.push(stream);
        return;
      }
      for (const index of namesOf(names, client)) {
        const known = byIndex.get(index);
        if (known === undefined) byIndex.set(index, [stream]);
        else known.push(stream);
      }
    },
    of: (index) => (names === undefined ? all : (byIndex.get(index) ?? [])),
  };
}

function ignore(): void {
  /* the client process is ended at the end of a run */
}
