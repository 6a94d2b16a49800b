import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { expect, it } from "vitest";
import { createServer } from "../src/index.ts";
import { createClient, payload, readResponse, type TestResponse } from "./client.ts";
import { connectTo, openCall, requestsOf } from "./grpc-call.ts";
import { kindOf } from "./fuzz-servers.ts";
import { adsVariants, paths, readyCache, serve, types, variants } from "./harness.ts";

/** The length that names of clusters in a mesh often have. */
const nameOf = (index: number): string =>
  `cluster-${String(index).padStart(6, "0")}`.padEnd(100, "x");
/** From half of the full size on, a request is larger than the 4 MB that gRPC accepts by default. */
const count = Number(process.env.XDSTP_SCALE ?? "0.01") >= 0.25 ? 50_000 : 12_000;
const names = Array.from({ length: count }, (_, index) => nameOf(index));
const added = nameOf(names.length);

it.each(variants)(
  `who asks for ${count.toLocaleString("en")} names, each by itself, gets them with the usual limits, and one more, and one less (%s) [S-LIM-4] [S-SIZE-5]`,
  { timeout: 60_000 },
  async (variant) => {
    const typeUrl = variant.endsWith("ads") ? types.assignment : types.cluster;
    const cache = readyCache();
    cache.transaction((writer) => {
      for (const name of [...names, added]) writer.put({ typeUrl, name, value: payload(name) });
    });
    const server = createServer({ source: cache });
    const { port } = await server.listen({ port: 0 });
    const session = await connectTo(port);
    const call = openCall(session, paths[variant]);
    const client = createClient(requestsOf(call), kindOf(variant));
    const has = new Set<string>();
    const next = async (): Promise<TestResponse> => {
      const bytes = await call.next();
      if (bytes === undefined)
        throw new Error(`the stream has ended: ${JSON.stringify(await call.status)}`);
      const response = readResponse(bytes, kindOf(variant));
      for (const name of response.names) has.add(name);
      client.ack(response);
      return response;
    };
    client.ask(typeUrl, names);
    while (has.size < names.length) await next();
    client.ask(typeUrl, kindOf(variant) === "sotw" ? [...names, added] : [added]);
    while (has.size < names.length + 1) await next();
    client.ask(typeUrl, kindOf(variant) === "sotw" ? [...names.slice(1), added] : []);
    cache.put({ typeUrl, name: added, value: payload(added, "changed") });
    while (!(await next()).names.includes(added));
    expect(server.stats().wire.cuts).toEqual({});
    session.destroy();
    await server.close({ graceMs: 1 });
  },
);

it.each(adsVariants)(
  "ends a stream that asks for too many names of all types, and counts it (%s) [S-LIM-4]",
  (variant) => {
    const { open, server, turn } = serve(readyCache(), {
      limits: { stream: { streamSubscriptions: 4 } },
    });
    const client = open(variant);
    client.ask(types.cluster, ["a", "b"]);
    client.ask(types.assignment, ["a", "b"]);
    turn();
    expect(client.closed).toBeUndefined();
    client.ask(types.listener, ["a"]);
    turn();
    expect(client.closed).toMatchObject({
      code: 8,
      message: "more than 4 subscriptions of all types",
    });
    expect(server.stats().limits.streamSubscriptions).toBe(1);
  },
);

it.each(adsVariants)(
  "ends a stream whose names are too long together (%s) [S-LIM-4]",
  (variant) => {
    const { open, server, turn } = serve(readyCache(), {
      limits: { stream: { streamNameLength: 1_000 } },
    });
    const client = open(variant);
    const ask = (typeUrl: string, name: string): void => {
      client.ask(typeUrl, [name]);
      turn();
    };
    ask(types.cluster, "c".repeat(400));
    ask(types.assignment, "e".repeat(600));
    expect(client.closed).toBeUndefined();
    ask(types.listener, "l");
    expect(client.closed).toMatchObject({
      code: 8,
      message: "the names of all subscriptions are longer than 1000 characters",
    });
    expect(server.stats().limits.streamNameLength).toBe(1);
  },
);

it.each(adsVariants)("counts no name that was dropped (%s) [S-LIM-4]", (variant) => {
  const { open, turn } = serve(readyCache(), { limits: { stream: { streamNameLength: 1_000 } } });
  const client = open(variant);
  for (const letter of "abc") {
    client.ask(types.assignment, [letter.repeat(900)]);
    turn();
    // In SotW, the list of a request removes the other names by itself.
    if (variant === "delta/ads")
      client.send(
        toBinary(
          DeltaDiscoveryRequestSchema,
          create(DeltaDiscoveryRequestSchema, {
            typeUrl: types.assignment,
            resourceNamesUnsubscribe: [letter.repeat(900)],
          }),
        ),
      );
    turn();
  }
  expect(client.closed).toBeUndefined();
});
