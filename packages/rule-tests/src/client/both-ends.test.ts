import { create, toBinary } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdstp/protos/discovery";
import { createCache } from "@xdstp/cache";
import { createClientContext } from "@xdstp/protocol/client";
import { createServerContext } from "@xdstp/protocol/server";
import { createFakeClock } from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import type { ByteStream, ByteStreamHandler } from "@xdstp/core";
import { describe, expect, it } from "vitest";

const T = "type.googleapis.com/acme.v1.Flag";
const turn = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

describe.each(["delta", "sotw"] as const)("%s", (variant) => {
  it("brings what is wanted, also of a type that neither end knows [B-STREAM-4]", async () => {
    const clock = createFakeClock();
    const origin = createCache({ clock });
    origin.put({ typeUrl: T, name: "a", value: Buffer.from([10, 1, 97]) });
    origin.put({ typeUrl: T, name: "b", value: Buffer.from([10, 1, 98]) });
    const context = createServerContext({ source: origin, clock });
    const server = variant === "delta" ? createDeltaServer(context) : createSotwServer(context);
    const connect = (handler: ByteStreamHandler): ByteStream => {
      const serverHandler: ByteStreamHandler = server.open(
        { peer: "memory" },
        {
          send: ({ bytes }) => {
            handler.onMessage(bytes);
            return true;
          },
          close: (status) => {
            handler.onClosed(status);
          },
        },
      );
      return {
        send: ({ bytes }) => {
          serverHandler.onMessage(bytes);
          return true;
        },
        close: (status) => {
          serverHandler.onClosed(status);
          handler.onClosed(status);
        },
      };
    };
    const cache = createCache({ clock });
    const node = toBinary(
      NodeSchema,
      create(NodeSchema, {
        id: "me",
        clientFeatures: [
          "xds.config.supports-resource-in-sotw",
          "xds.config.supports-resource-ttl",
        ],
      }),
    );
    const clientContext = createClientContext({ connect, node, clock });
    const feed =
      variant === "delta" ? createDeltaClient(clientContext) : createSotwClient(clientContext);
    cache.addFeed(feed);
    const watcher = { wake: () => undefined };
    const [a, all, none] = [
      cache.topic(T, { name: "a" }),
      cache.topic(T, { name: "*" }),
      cache.topic(T, { name: "none" }),
    ];
    for (const topic of [a, none]) topic.watch(watcher);
    await turn();
    await turn();
    await turn();
    expect(a.members().map(({ name, resource }) => [name, resource?.version !== ""])).toEqual([
      ["a", true],
    ]);
    all.watch(watcher);
    await turn();
    await turn();
    await turn();
    clock.advance(300);
    expect(all.settled).toBe(true);
    expect(all.members().map(({ name }) => name)).toEqual(["a", "b"]);
    origin.put({ typeUrl: T, name: "c", value: Buffer.from([10, 1, 99]) });
    origin.remove(T, "b");
    await turn();
    await turn();
    await turn();
    expect(all.members().map(({ name }) => name)).toEqual(
      variant === "delta" ? ["a", "c"] : ["a", "b", "c"],
    );
    clock.advance(15_000);
    expect(none.settled).toBe(true);
    await cache.close();
  });
});
