import type { Attributes, ObservableCallback } from "@opentelemetry/api";
import type { RawServer } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { flag, flagUrl, turn, useDeltaScript } from "../test/use-script.ts";
import type { ClientOptions } from "./index.ts";

/** A meter whose values the test reads. */
function useMeter() {
  const callbacks = new Map<string, ObservableCallback>();
  const instrument = (name: string) => ({
    addCallback: (callback: ObservableCallback) => {
      callbacks.set(name, callback);
    },
    removeCallback: () => {
      callbacks.delete(name);
    },
  });
  const meter: NonNullable<ClientOptions["meter"]> = {
    createObservableCounter: instrument,
    createObservableGauge: instrument,
  };
  const read = (name: string): readonly (readonly [number, Attributes | undefined])[] => {
    const seen: [number, Attributes | undefined][] = [];
    void callbacks.get(`grpc.xds_client.${name}`)?.({
      observe: (value: number, attributes?: Attributes) => {
        seen.push([value, attributes]);
      },
    });
    return seen;
  };
  return { meter, read, callbacks };
}

const server0 = { "grpc.target": "shop", "grpc.xds.server": "s0" };

describe("recordMetrics()", () => {
  it("measures with the names and labels of gRPC along a life [C-GRPC-14]", async () => {
    const { meter, read, callbacks } = useMeter();
    const { client, server, clock } = useDeltaScript({ meter, target: "shop" });
    for (const name of ["a", "b", "xdstp://acme/acme.v1.Flag/c"]) client.watch(flag, name);
    await turn();
    const states = (): readonly unknown[] =>
      read("resources").map(([count, attributes]) => [
        count,
        attributes?.["grpc.xds.authority"],
        attributes?.["grpc.xds.cache_state"],
      ]);
    expect([read("connected"), states()]).toEqual([
      [[1, server0]],
      [
        [2, "#old", "requested"],
        [1, "acme", "requested"],
      ],
    ]);
    server.send({
      typeUrl: flagUrl,
      nonce: "1",
      resources: [["a", "on"] as const, ["b", "broken"] as const].map(([name, text]) => ({
        name,
        version: "1",
        resource: { typeUrl: flagUrl, value: Buffer.from(text) },
      })),
      removedResources: ["xdstp://acme/acme.v1.Flag/c"],
    });
    await turn();
    expect(states()).toEqual([
      [1, "#old", "acked"],
      [1, "#old", "nacked"],
      [1, "acme", "does_not_exist"],
    ]);
    const typed = { ...server0, "grpc.xds.resource_type": "acme.v1.Flag" };
    expect([
      read("resource_updates_valid"),
      read("resource_updates_invalid"),
      read("server_failure"),
    ]).toEqual([[[1, typed]], [[1, typed]], [[0, server0]]]);
    expect(read("resources")[0]?.[1]?.["grpc.xds.resource_type"]).toBe("acme.v1.Flag");
    server.send({
      typeUrl: flagUrl,
      nonce: "2",
      resources: [
        { name: "a", version: "2", resource: { typeUrl: flagUrl, value: Buffer.from("broken") } },
      ],
      removedResources: ["b"],
    });
    await turn();
    expect(states()).toContainEqual([1, "#old", "nacked_but_cached"]);
    server.close();
    expect([read("connected"), read("server_failure")]).toEqual([[[1, server0]], [[0, server0]]]); // a stream that had a response
    clock.advance(1_000);
    server.close();
    expect([read("connected"), read("server_failure")]).toEqual([[[0, server0]], [[1, server0]]]);
    clock.advance(2_000);
    await turn();
    expect(read("connected")).toEqual([[0, server0]]);
    server.send({ typeUrl: flagUrl, nonce: "1" });
    expect(read("connected")).toEqual([[1, server0]]);
    await client.close();
    expect(callbacks.size).toBe(0);
  });

  it("counts on when a server comes into use again, each resource once, and the bad members of a collection apart [C-GRPC-14, C-GRPC-6]", async () => {
    const { meter, read } = useMeter();
    const {
      client,
      servers: [first, second],
      clock,
    } = useDeltaScript({ meter, target: "shop" }, 2);
    expect(read("connected")).toEqual([]);
    const glob = "xdstp://a/acme.v1.Flag/ns/*";
    client.watchAll(flag, glob);
    const give = async (
      server: RawServer<"delta"> | undefined,
      ...texts: readonly string[]
    ): Promise<void> => {
      server?.send({
        typeUrl: flagUrl,
        nonce: "1",
        resources: texts.map((text, index) => ({
          name: glob.replace("*", String(index)),
          version: text,
          resource: { typeUrl: flagUrl, value: Buffer.from(text) },
        })),
      });
      await turn();
    };
    const again = async (): Promise<void> => {
      first?.close();
      await turn();
      await give(second, "on", "broken");
    };
    await turn();
    await again();
    expect(
      read("resources").map(([count, attributes]) => [count, attributes?.["grpc.xds.cache_state"]]),
    ).toEqual([
      [1, "acked"],
      [1, "nacked"],
    ]);
    clock.advance(2_000);
    await turn();
    await give(first, "on");
    first?.close();
    client.watch(flag, "b");
    clock.advance(2_000);
    await turn();
    await again();
    expect(
      read("resource_updates_invalid").map(([count, attributes]) => [
        count,
        attributes?.["grpc.xds.server"],
      ]),
    ).toEqual([
      [2, "s1"],
      [0, "s0"],
    ]);
  });

  it("counts as valid only what was taken, also where a response is rejected in part [C-GRPC-14]", async () => {
    const { meter, read } = useMeter();
    const { client, server } = useDeltaScript({ meter, target: "shop" });
    for (const name of ["a", "b"]) client.watch(flag, name);
    await turn();
    const give = (entries: readonly (readonly [string, string])[], nonce: string) => {
      server.send({
        typeUrl: flagUrl,
        nonce,
        resources: entries.map(([name, text]) => ({
          name,
          version: "1",
          resource: { typeUrl: flagUrl, value: Buffer.from(text) },
        })),
      });
    };
    give(
      [
        ["a", "on"],
        ["b", "broken"],
        ["x", "on"],
        ["y", "on"],
      ],
      "1",
    );
    await turn();
    expect([
      read("resource_updates_valid").map(([n]) => n),
      read("resource_updates_invalid").map(([n]) => n),
    ]).toEqual([[1], [1]]);
    await client.close();
  });

  it("many bad members of a glob are invalid, all of them [C-GRPC-14]", async () => {
    const { meter, read } = useMeter();
    const { client, server } = useDeltaScript({ meter, target: "shop" });
    client.watchAll(flag, "xdstp://a/acme.v1.Flag/ns/*");
    await turn();
    server.send({
      typeUrl: flagUrl,
      nonce: "1",
      resources: Array.from({ length: 1_500 }, (_, i) => ({
        name: `xdstp://a/acme.v1.Flag/ns/${i}`,
        version: "1",
        resource: { typeUrl: "type.googleapis.com/acme.v1.Other", value: Buffer.from("on") },
      })),
    });
    await turn();
    expect([
      read("resource_updates_valid").map(([n]) => n),
      read("resource_updates_invalid").map(([n]) => n),
    ]).toEqual([[0], [1_500]]);
    await client.close();
  });
});
