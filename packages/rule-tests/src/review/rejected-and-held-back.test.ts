import type { ResourceType } from "@xdstp/core";
import { expect, it } from "vitest";
import { createWorld } from "../harness/create-world.ts";
import { payloadOf, textIn } from "../harness/payload.ts";

// Found by the simulation.

const CLUSTERS = "type.googleapis.com/test.Cluster";
const ROUTES = "type.googleapis.com/test.Route";
const types: readonly ResourceType[] = [
  { typeUrl: CLUSTERS, refersTo: [ROUTES] },
  {
    typeUrl: ROUTES,
    follows: [{ typeUrl: CLUSTERS, when: "accepted" }],
    references: (payload) => [{ typeUrl: CLUSTERS, name: textIn(payload) }],
  },
];

const what =
  "a rejected route whose cluster is rejected too goes again once the cluster is mended, and what waited beside it goes [S-ACK-21] [S-ORD-4]";

it(`${what} (delta/ads)`, () => {
  const world = createWorld({ variant: "delta/ads", types });
  const { cache } = world;
  const { client } = world.openDelta(CLUSTERS);
  const take = (error?: string): readonly string[] => {
    world.run();
    return client.rest().flatMap((response) => {
      if (error === undefined) client.ack(response);
      else client.nack(response, error);
      return response.resources.map(({ name }) => name);
    });
  };
  client.send({ typeUrl: CLUSTERS, resourceNamesSubscribe: ["c"] });
  client.send({ typeUrl: ROUTES, resourceNamesSubscribe: ["r", "s"] });
  for (let turns = 3; turns > 0; turns--) take();
  cache.put({ typeUrl: ROUTES, name: "r", value: payloadOf("r", "c") });
  expect([take("bad"), take()]).toEqual([["r"], []]);
  cache.put({ typeUrl: CLUSTERS, name: "c", value: payloadOf("c", "bad") });
  expect([take("bad"), take()]).toEqual([["c"], []]);
  cache.put({ typeUrl: ROUTES, name: "s", value: payloadOf("s", "c") });
  expect([take(), take()]).toEqual([[], []]);
  cache.put({ typeUrl: CLUSTERS, name: "c", value: payloadOf("c", "good") });
  expect([take(), take(), take()]).toEqual([["c"], ["r", "s"], []]);
});

it(`${what} (sotw/ads)`, () => {
  const world = createWorld({ variant: "sotw/ads", types });
  const { cache } = world;
  const { client } = world.openSotw(CLUSTERS);
  const take = (error?: string): readonly string[] => {
    world.run();
    return client.rest().flatMap((response) => {
      if (error === undefined) client.ack(response);
      else client.nack(response, error);
      return response.resources.map(({ value }) =>
        Buffer.from(value)
          .toString()
          .replaceAll(/[^a-z]+/g, " ")
          .trim(),
      );
    });
  };
  client.send({ typeUrl: CLUSTERS, resourceNames: ["c"] });
  client.send({ typeUrl: ROUTES, resourceNames: ["r", "s"] });
  for (let turns = 3; turns > 0; turns--) take();
  cache.put({ typeUrl: ROUTES, name: "r", value: payloadOf("r", "c") });
  expect([take("bad"), take()]).toEqual([["r c"], []]);
  cache.put({ typeUrl: CLUSTERS, name: "c", value: payloadOf("c", "bad") });
  expect([take("bad"), take()]).toEqual([["c bad"], []]);
  cache.put({ typeUrl: ROUTES, name: "s", value: payloadOf("s", "c") });
  expect([take(), take()]).toEqual([[], []]);
  cache.put({ typeUrl: CLUSTERS, name: "c", value: payloadOf("c", "good") });
  expect([take(), take(), take()]).toEqual([["c good"], ["r c", "s c"], []]);
});
