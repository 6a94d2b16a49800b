import { createCache } from "@xdstp/cache";
import { createScheduler, createServerContext } from "@xdstp/protocol/server";
import {
  createManualScheduler,
  createMemoryStream,
  createRawDeltaClient,
  type RawClient,
} from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { TYPE } from "../../../cache/test/kept-entries.ts";
import { createDeltaServer } from "./create-delta-server.ts";

describe("createDeltaServer()", () => {
  it("serves streams on ADS and of one type from one context, with the same bytes (delta/ads) [S-VER-4]", () => {
    const turns = createManualScheduler();
    const cache = createCache();
    const context = createServerContext({
      source: cache,
      scheduler: createScheduler({ later: turns.later }),
    });
    const server = createDeltaServer(context);
    cache.put({ typeUrl: TYPE, name: "a", value: Buffer.from("1") });
    const clients = [{ peer: "ads" }, { peer: "per type", typeUrl: TYPE }].map(
      (call): RawClient<"delta"> => {
        const client = createRawDeltaClient(
          createMemoryStream((out) => server.open(call, out)),
          { node: { id: "n" } },
        );
        client.send({
          typeUrl: call.typeUrl === undefined ? TYPE : "",
          resourceNamesSubscribe: ["a"],
        });
        return client;
      },
    );
    turns.run();
    const responses = clients.map((client) => client.next());
    expect(responses[0]).toEqual(responses[1]);
    expect(responses[0]).toMatchObject({ typeUrl: TYPE, resources: [{ name: "a" }] });
    expect(context.frames.counters).toEqual({ encoded: 1, shared: 1, restamped: 0 });
  });

  it("says in status which variant and type a stream is of [S-ACK-9]", () => {
    const server = createDeltaServer(createServerContext({ source: createCache() }));
    const open = (call: Parameters<typeof server.open>[0]): ReturnType<typeof server.open> =>
      server.open(call, { send: () => true, close: () => undefined });
    expect(open({ peer: "p", typeUrl: TYPE }).status()).toMatchObject({
      variant: "delta",
      peer: "p",
      service: TYPE,
      types: [],
    });
    expect(open({ peer: "p" }).status()).not.toHaveProperty("service");
  });
});
