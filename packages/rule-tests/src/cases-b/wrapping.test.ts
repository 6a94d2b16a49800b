import { envoyTypes, lbEndpoint, listener } from "@xdstp/resource-types";
import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { NodeInit } from "../harness/peer.ts";
import type { World } from "../harness/create-world.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { inlineEntry, listOf } from "../harness/list-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
import { runCases } from "../harness/rule-case.ts";
import { isAds, sotwVariants as variants } from "../harness/variant.ts";

const UNKNOWN = "type.googleapis.com/test.Unknown";
const plain: NodeInit = { id: "n" };
const wrapping: NodeInit = { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] };
const tilde = "xdstp://a/test.Full/%7E";
const stored = "xdstp://a/test.Full/~";

/** Returns the resources that the server reported as not sent, with the reason. */
function notSent(world: World): readonly string[] {
  return world.events.flatMap((event) =>
    event.kind === "not-sent"
      ? event.resources.map(({ name, reason }) => `${name}: ${reason}`)
      : [],
  );
}

runCases("wrapping in SotW", [
  {
    rules: ["S-WRAP-2"],
    title: "never wraps for a client without the feature",
    variants,
    run(world) {
      world.put(FULL, "a", "1", { ttlMs: 1_000 });
      world.put(FULL, stored, "2");
      const client = world.connect({ node: plain }).of(FULL);
      const [answer] = begin(world, client, "a", tilde);
      expect(answer?.resources.map(({ wrapped, text }) => ({ wrapped, text }))).toEqual([
        { wrapped: false, text: "1" },
        { wrapped: false, text: "2" },
      ]);
    },
  },
  ...["xds.config.supports-resource-in-sotw", "xds.config.resource-in-sotw"].map((feature) => ({
    rules: ["S-WRAP-2", "S-NODE-6"],
    title: `does not wrap what needs no wrapper for a client with ${feature}`,
    variants,
    run(world: World) {
      world.put(FULL, "a");
      world.put(FULL, stored);
      const client = world.connect({ node: { id: "n", clientFeatures: [feature] } }).of(FULL);
      const [answer] = begin(world, client, "a", tilde);
      expect(answer?.resources.map(({ name, wrapped }) => [name, wrapped])).toEqual([
        ["a", false],
        [tilde, true],
      ]);
    },
  })),
  {
    rules: ["S-WRAP-2", "N-42"],
    title: "wraps a name that was asked for in another spelling, with the version of the resource",
    variants,
    run(world) {
      world.put(FULL, stored, "1", { version: "v7" });
      const client = world.connect({ node: wrapping }).of(FULL);
      expect(begin(world, client, tilde)).toMatchObject([
        { resources: [{ name: tilde, version: "v7", wrapped: true, text: "1" }] },
      ]);
    },
  },
  {
    rules: ["S-WRAP-2"],
    title: "wraps for a client that asks by locators, from that request on",
    variants,
    run(world) {
      world.put(FULL, stored, "1");
      const { client } = world.openSotw(FULL, { node: plain });
      client.send({ typeUrl: FULL, resourceNames: [tilde] });
      world.run();
      const first = client.next();
      client.ack(first, { resourceNames: [], resourceLocators: [{ name: tilde }] });
      world.put(FULL, stored, "2");
      world.run();
      const second = client.next();
      expect(
        [first, second].map(({ resources }) => resources.map(({ typeUrl }) => typeUrl)),
      ).toEqual([[FULL], ["type.googleapis.com/envoy.service.discovery.v3.Resource"]]);
    },
  },
  {
    rules: ["S-WRAP-2", "S-WRAP-3"],
    title:
      "wraps a list collection asked for under the type of its members, and only for clients that read it",
    variants,
    world: { types: envoyTypes },
    run(world) {
      const name = "xdstp://a/envoy.config.listener.v3.ListenerCollection/all";
      const value = listOf(inlineEntry("one", listener.typeUrl, payloadOf("one")));
      const payloadTypeUrl = "type.googleapis.com/envoy.config.listener.v3.ListenerCollection";
      world.cache.put({ typeUrl: listener.typeUrl, name, value, payloadTypeUrl });
      world.put(listener.typeUrl, "a");
      const reader = world.connect({ node: wrapping }).of(listener.typeUrl);
      expect(begin(world, reader, name, "a")).toMatchObject([
        {
          resources: [
            { name, wrapped: true, payload: value },
            { name: "a", wrapped: false },
          ],
        },
      ]);
      expect(notSent(world)).toEqual([]);
      const other = world.connect({ node: plain }).of(listener.typeUrl);
      expect(begin(world, other, name, "a").map(({ names }) => names)).toEqual([["a"]]);
      expect(notSent(world)).toEqual([`${name}: needs-wrapper`]);
    },
  },
  {
    rules: ["S-WRAP-2", "S-WRAP-3", "B-WRAP-4", "S-FULL-5"],
    title:
      "wraps a payload that has no name of its own; to a client that does not read it, it is missing and counted",
    variants: ["sotw/ads"],
    world: { types: envoyTypes },
    run(world) {
      world.put(lbEndpoint.typeUrl, "e", "1");
      const reader = world.connect({ node: wrapping }).of(lbEndpoint.typeUrl);
      expect(begin(world, reader, "e")).toMatchObject([
        { resources: [{ name: "e", wrapped: true, text: "1" }] },
      ]);
      const other = world.connect({ node: plain }).of(lbEndpoint.typeUrl);
      expect(begin(world, other, "e")).toEqual([]);
      expect(notSent(world)).toEqual(["e: needs-wrapper"]);
      world.put(lbEndpoint.typeUrl, "e", "2");
      expect(acceptAll(world, other)).toEqual([]);
      expect(acceptAll(world, reader)).toMatchObject([{ resources: [{ name: "e", text: "2" }] }]);
    },
  },
  {
    rules: ["S-WRAP-3"],
    title: "sends the others where one cannot be said to the client",
    variants: ["sotw/ads"],
    world: { types: [{ typeUrl: PART }] },
    run(world) {
      world.put(PART, "a");
      world.cache.put({
        typeUrl: PART,
        name: "b",
        value: payloadOf("b"),
        constraints: new Uint8Array([26, 0]),
      });
      const client = world.connect({ node: plain }).of(PART);
      expect(begin(world, client, "*").map(({ names }) => names)).toEqual([["a"]]);
      expect(notSent(world)).toEqual(["b: needs-wrapper"]);
    },
  },
  {
    rules: ["S-WRAP-3"],
    title:
      "sends a resource with a TTL, and one in another spelling under the name in its payload, to a client without the feature",
    variants,
    run(world) {
      world.put(FULL, "a", "1", { ttlMs: 1_000 });
      world.put(FULL, stored, "2");
      const client = world.connect({ node: plain }).of(FULL);
      expect(begin(world, client, "a", tilde)).toMatchObject([
        {
          resources: [
            { name: "a", text: "1" },
            { name: stored, text: "2" },
          ],
        },
      ]);
      expect(notSent(world)).toEqual([]);
    },
  },
  {
    rules: ["S-WRAP-2", "S-WRAP-3", "S-DYN-2"],
    title: "wraps what has dynamic constraints, and sends it to those only that read that",
    variants,
    run(world) {
      world.cache.put({
        typeUrl: FULL,
        name: "b",
        value: payloadOf("b", "1"),
        constraints: new Uint8Array([26, 0]),
      });
      const reader = world.connect({ node: wrapping }).of(FULL);
      expect(begin(world, reader, "b")).toMatchObject([
        { resources: [{ text: "1", wrapped: true }] },
      ]);
      const other = world.connect({ node: plain }).of(FULL);
      expect(begin(world, other, "b").flatMap(({ names }) => names)).toEqual([]);
      expect(notSent(world)).toEqual(["b: needs-wrapper"]);
    },
  },
  {
    rules: ["S-WRAP-2", "S-WRAP-3"],
    title: "wraps a redirect, and takes it for missing to a client that does not read that",
    variants,
    run(world) {
      world.put(PART, "a", "1");
      world.cache.put({
        typeUrl: PART,
        name: "moved",
        value: new Uint8Array([18, 1, 120]),
        payloadTypeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator",
      });
      const reader = world.connect({ node: wrapping }).of(PART);
      expect(begin(world, reader, "a", "moved")).toMatchObject([
        {
          resources: [
            { name: "a", wrapped: false },
            { name: "moved", wrapped: true },
          ],
        },
      ]);
      const other = world.connect({ node: plain }).of(PART);
      expect(begin(world, other, "a", "moved").map(({ names }) => names)).toEqual([["a"]]);
      expect(notSent(world)).toEqual(["moved: needs-wrapper"]);
    },
  },
  {
    rules: ["B-WRAP-4"],
    title: "takes the name from the field that the type says",
    variants,
    world: { types: [{ typeUrl: PART, nameField: 2 }] },
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect({ node: plain }).of(PART);
      expect(begin(world, client, "a")).toMatchObject([
        { resources: [{ wrapped: false, text: "1" }] },
      ]);
    },
  },
  {
    rules: ["B-WRAP-4"],
    title:
      "sends a type without descriptor wrapped, and to a client that does not read that not at all",
    variants,
    run(world) {
      world.put(UNKNOWN, "a", "1");
      const reader = world.connect({ node: wrapping }).of(UNKNOWN);
      expect(begin(world, reader, "a")).toMatchObject([
        { resources: [{ name: "a", wrapped: true, text: "1" }] },
      ]);
      const other = world.connect({ node: plain }).of(UNKNOWN);
      expect(begin(world, other, "a")).toEqual([]);
      expect(isAds(world.variant) || world.status().length > 0).toBe(true);
      expect(notSent(world)).toEqual(["a: needs-wrapper"]);
    },
  },
]);
