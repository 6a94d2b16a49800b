import { describe, expect, it } from "vitest";
import { createCache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { createFakeClock } from "@xdstp/testing";
import { payload } from "../test/client.ts";
import { serve, types, variants } from "../test/harness.ts";

const hourMs = 3_600_000;

describe.each(variants)("a step of the wall clock (%s)", (variant) => {
  it.each([
    ["back", -hourMs],
    ["forward", hourMs],
  ])(`by an hour %s leaves heartbeats as they were (${variant}) [S-TTL-2]`, (_, stepMs) => {
    const clock = createFakeClock({ start: 10 * hourMs });
    const cache = createCache({ types: envoyTypes, clock });
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a"), ttlMs: 9_000 });
    const { open, turn } = serve(cache, { clock });
    const client = open(variant, {
      id: "n",
      clientFeatures: ["xds.config.supports-resource-ttl", "xds.config.resource-in-sotw"],
    });
    client.ask(types.cluster, ["a"]);
    turn();
    client.ack(client.next());
    const beat = (): readonly string[] => {
      clock.advance(3_000);
      turn();
      const response = client.next();
      client.ack(response);
      return response.names;
    };
    expect(beat()).toHaveLength(1);
    clock.stepWallTime(stepMs);
    for (let count = 0; count < 4; count++) expect(beat()).toHaveLength(1);
    expect([
      client.unread,
      cache.topic(types.cluster, { name: "a" }).get("a")?.resource?.name,
    ]).toEqual([0, "a"]);
  });
});
