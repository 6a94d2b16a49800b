import { StatusCode } from "@xdstp/core";
import { envoyTypes, listener } from "@xdstp/resource-types";
import { typeFromTypeUrl, typeUrlFromType } from "@xdstp/uri";
import { expect } from "vitest";
import type { World } from "../harness/create-world.ts";
import { inlineEntry, listOf } from "../harness/list-payloads.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { payloadOf } from "../harness/payload.ts";
import type { OpenStream } from "../harness/peer.ts";
import { runCases } from "../harness/rule-case.ts";
import {
  adsVariants,
  deltaVariants,
  isDelta,
  perTypeVariants,
  sotwVariants,
} from "../harness/variant.ts";

/** Opens a stream whose client sends what the case says and no more. */
function open(
  world: World,
  typeUrl: string,
): OpenStream & { readonly send: (request: { typeUrl?: string; responseNonce?: string }) => void } {
  const raw = isDelta(world.variant) ? world.openDelta(typeUrl) : world.openSotw(typeUrl);
  return {
    ...raw,
    send(request) {
      raw.client.send(request);
    },
  };
}

const wraps = { id: "n", clientFeatures: ["xds.config.supports-resource-in-sotw"] };

runCases("the type URL", [
  {
    rules: ["B-TYPE-1"],
    title: "of each type of Envoy goes into its names without its prefix, and comes back",
    world: { types: envoyTypes },
    run(world) {
      const peer = world.connect({ node: wraps });
      for (const { typeUrl } of envoyTypes) {
        const type = typeFromTypeUrl(typeUrl) ?? "";
        expect(type).toBe(typeUrl.replace("type.googleapis.com/", ""));
        expect(typeUrlFromType(type)).toBe(typeUrl);
        const name = `xdstp://a/${type}/x`;
        world.put(typeUrl, name);
        peer.of(typeUrl).subscribe(name);
        world.run();
        const answer = peer.of(typeUrl).next();
        expect(answer).toMatchObject({ typeUrl, names: [name] });
        peer.of(typeUrl).ack(answer);
      }
    },
  },
  {
    rules: ["S-TYPE-2"],
    title: "must be in the first request on ADS",
    variants: adsVariants,
    run(world) {
      const { stream, send } = open(world, FULL);
      send({});
      expect(stream.closed?.code).toBe(StatusCode.INVALID_ARGUMENT);
    },
  },
  {
    rules: ["S-TYPE-2"],
    title: "must be in every request on ADS, an ACK included",
    variants: adsVariants,
    run(world) {
      world.put(FULL, "a");
      const { stream, send } = open(world, FULL);
      send({ typeUrl: FULL });
      world.run();
      send({ responseNonce: world.status()[0]?.types[0]?.nonceSent ?? "" });
      expect(stream.closed?.code).toBe(StatusCode.INVALID_ARGUMENT);
    },
  },
  {
    rules: ["S-TYPE-2", "S-TYPE-3"],
    title: "may be left out on a per-type service, in an ACK too; the response names it",
    variants: perTypeVariants,
    run(world) {
      world.put(FULL, "a", "1");
      const { stream, send } = open(world, FULL);
      send({});
      world.run();
      const nonce = world.status()[0]?.types[0]?.nonceSent ?? "";
      send({ responseNonce: nonce });
      expect(world.status()[0]?.types).toMatchObject([
        { typeUrl: FULL, state: "SYNCED", nonceAccepted: nonce },
      ]);
      expect(stream.closed).toBeUndefined();
      expect(Buffer.from(stream.take() ?? []).toString()).toContain(FULL);
    },
  },
  {
    rules: ["S-TYPE-3"],
    title: "is in a response without resources",
    run(world) {
      const client = world.connect().of(FULL);
      client.subscribe();
      world.run();
      expect(client.next()).toMatchObject({ typeUrl: FULL, names: [], removed: [] });
    },
  },
  {
    rules: ["B-TYPE-5"],
    title: "decides: a name of another type is missing, though that type has it",
    variants: deltaVariants,
    run(world) {
      world.put(FULL, "xdstp://a/test.Full/x");
      world.put(PART, "xdstp://a/test.Part/y");
      const client = world.connect().of(PART);
      client.subscribe("xdstp://a/test.Full/x", "xdstp://a/test.Part/y");
      world.run();
      expect(client.next()).toMatchObject({
        names: ["xdstp://a/test.Part/y"],
        removed: ["xdstp://a/test.Full/x"],
      });
    },
  },
  {
    rules: ["B-TYPE-5"],
    title: "decides: a name of another type is missing, though that type has it",
    variants: sotwVariants,
    run(world) {
      world.put(FULL, "xdstp://a/test.Full/x");
      world.put(PART, "xdstp://a/test.Part/y");
      const client = world.connect().of(PART);
      client.subscribe("xdstp://a/test.Full/x", "xdstp://a/test.Part/y");
      world.run();
      expect(client.next().names).toEqual(["xdstp://a/test.Part/y"]);
      expect(client.rest()).toEqual([]);
    },
  },
  {
    rules: ["B-TYPE-5", "B-TYPE-1"],
    title: "does not stand in a name with its prefix: such a name is missing",
    variants: deltaVariants,
    run(world) {
      world.put(FULL, "xdstp://a/test.Full/x");
      const client = world.connect().of(FULL);
      client.subscribe("xdstp://a/type.googleapis.com/test.Full/x");
      world.run();
      expect(client.next()).toMatchObject({
        names: [],
        removed: ["xdstp://a/type.googleapis.com/test.Full/x"],
      });
    },
  },
  ...(["its own", "that of its members"] as const).map((asked) => ({
    rules: ["B-TYPE-6", "S-TYPE-3"],
    title: `of a list collection is its own or that of its members, and so is that of the response: ${asked}`,
    world: { types: envoyTypes },
    run(world: World): void {
      const collection = listener.collectionTypeUrl ?? "";
      const name = "xdstp://a/envoy.config.listener.v3.ListenerCollection/all";
      const value = listOf(inlineEntry("one", listener.typeUrl, payloadOf("one")));
      world.cache.put({ typeUrl: collection, name, value });
      const typeUrl = asked === "its own" ? collection : listener.typeUrl;
      const client = world.connect({ node: wraps }).of(typeUrl);
      client.subscribe(name);
      world.run();
      const answer = client.next();
      expect(answer.typeUrl).toBe(typeUrl);
      expect(answer.resources).toMatchObject([{ name, payload: value }]);
    },
  })),
]);
