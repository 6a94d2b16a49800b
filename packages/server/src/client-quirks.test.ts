import { quirksOf } from "@xdstp/protocol/server";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import { adsVariants, readyCache, serve, types } from "../test/harness.ts";
import { clientQuirks } from "./client-quirks.ts";

const envoy = { id: "n", userAgentName: "envoy" };
const other = { id: "n", userAgentName: "other" };

describe("clientQuirks", () => {
  it("says of each row what differs and why, once", () => {
    for (const { rule, difference, reason } of clientQuirks) {
      expect(rule).toMatch(/^[BSC]-[A-Z]+-\d+$/);
      expect(difference).toMatch(/\.$/);
      expect(reason).toMatch(/\.$/);
    }
    const keys = clientQuirks.map(({ client, rule }) => `${client} ${rule}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("changes nothing for a client that it does not name", () => {
    expect(quirksOf(clientQuirks, "other")).toEqual(quirksOf([], "other"));
  });

  it.each(["gRPC C-core", "gRPC Go", "gRPC Java", "gRPC Node Pure JS"])(
    "takes no empty list of %s for a wildcard [S-WILD-6]",
    (name) => {
      expect(quirksOf(clientQuirks, name).legacyWildcard).toBe(false);
    },
  );
});

describe("createServer() with clientQuirks", () => {
  it("does not tell Envoy that a route configuration is missing, and tells it of clusters (delta/ads) [S-MISS-1]", () => {
    const { open, turn } = serve(readyCache());
    const [call, told] = [open("delta/ads", envoy), open("delta/ads", other)];
    for (const one of [call, told]) {
      one.ask(types.route, ["r"]);
      turn();
      one.ask(types.cluster, ["c"]);
      turn();
    }
    expect([call.next(), call.next()].map(({ typeUrl, removed }) => [typeUrl, removed])).toEqual(
      expect.arrayContaining([
        [types.route, []],
        [types.cluster, ["c"]],
      ]),
    );
    expect([told.next(), told.next()].map(({ typeUrl, removed }) => [typeUrl, removed])).toEqual(
      expect.arrayContaining([
        [types.route, ["r"]],
        [types.cluster, ["c"]],
      ]),
    );
  });

  it("tells Envoy of a missing virtual host by a resource without body (delta/ads) [S-MISS-2]", () => {
    const { open, turn } = serve(readyCache());
    const call = open("delta/ads", envoy);
    call.ask(types.virtualHost, ["r/host"]);
    turn();
    expect(call.next()).toMatchObject({ names: ["r/host"], removed: [] });
  });

  it("sends Envoy its endpoints again after a reconnect, and its clusters only if they changed (delta/ads) [S-RECON-4]", () => {
    const cache = readyCache();
    for (const typeUrl of [types.cluster, types.assignment])
      cache.put({ typeUrl, name: "c", version: "1", value: payload("c") });
    const { open, turn } = serve(cache);
    const namesFor = (node: typeof envoy, typeUrl: string): readonly string[] => {
      const call = open("delta/ads", node);
      call.ask(typeUrl, ["c"], { c: "1" });
      turn();
      return call.next().names;
    };
    expect(namesFor(envoy, types.assignment)).toEqual(["c"]);
    expect(namesFor(envoy, types.cluster)).toEqual([]);
    expect(namesFor(other, types.assignment)).toEqual([]);
  });

  it("tells Envoy which members of a glob were removed while it was away (delta/ads) [S-RECON-10]", () => {
    const cache = readyCache();
    const glob = "xdstp://a/envoy.config.cluster.v3.Cluster/edge/*";
    const name = (id: string): string => `xdstp://a/envoy.config.cluster.v3.Cluster/edge/${id}`;
    for (const id of ["1", "2"])
      cache.put({ typeUrl: types.cluster, name: name(id), value: payload(name(id)) });
    cache.remove(types.cluster, name("1"));
    const { open, turn } = serve(cache);
    const answerFor = (node: typeof envoy): readonly (readonly string[])[] => {
      const call = open("delta/ads", node);
      call.ask(types.cluster, [glob]);
      turn();
      const { names, removed } = call.next();
      return [names, removed];
    };
    expect(answerFor(envoy)).toEqual([[name("2")], [name("1")]]);
    expect(answerFor(other)).toEqual([[name("2")], []]);
  });

  it.each(adsVariants)(
    "gives a gRPC client without names nothing, and others everything (%s) [S-WILD-6]",
    (variant) => {
      const cache = readyCache();
      cache.put({ typeUrl: types.cluster, name: "c", value: payload("c") });
      const { open, turn, server } = serve(cache);
      const [grpc, plain] = [
        open(variant, { id: "n", userAgentName: "gRPC Go" }),
        open(variant, other),
      ];
      for (const call of [grpc, plain]) call.ask(types.cluster, []);
      turn();
      expect(plain.next().names).toEqual(["c"]);
      expect(server.status()[0]?.types[0]).toMatchObject({ subscriptions: 0, wildcard: false });
      const sent = grpc.unread === 0 ? [] : grpc.next().names;
      expect(sent).toEqual([]);
    },
  );

  it("can be replaced, and added to", () => {
    const { open, turn } = serve(readyCache(), { quirks: [] });
    const call = open("delta/ads", envoy);
    call.ask(types.route, ["r"]);
    turn();
    expect(call.next().removed).toEqual(["r"]);
  });
});
