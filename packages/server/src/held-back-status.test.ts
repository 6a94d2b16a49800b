import { ConfigStatus } from "@xdstp/protos/status";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import { adsVariants, readyCache, serve, types } from "../test/harness.ts";
import { routeTo } from "../test/route-to.ts";

describe.each(adsVariants)("status() and clientStatus() of what is held back (%s)", (variant) => {
  it(`name the route and the cluster that it waits for, until it has gone (${variant}) [S-ORD-4] [S-CSDS-4]`, async () => {
    const cache = readyCache();
    const { open, turn, server } = serve(cache);
    const rowOf = async (name: string): Promise<ConfigStatus | undefined> =>
      (await server.clientStatus()).config[0]?.genericXdsConfigs.find(
        (row) => row.name === name && row.typeUrl === (name === "r" ? types.route : types.cluster),
      )?.configStatus;
    const call = open(variant);
    for (const type of [types.cluster, types.route]) {
      call.ask(type, ["bad", "r"]);
      turn();
      if (call.unread > 0) call.ack(call.next());
    }
    const { revision } = cache.transaction(({ put }) => {
      put({ typeUrl: types.cluster, name: "bad", value: payload("bad") });
      put({ typeUrl: types.route, name: "r", value: routeTo("bad") });
    });
    turn();
    call.nack(call.next(), "bad is bad");
    turn();
    expect(call.unread).toBe(0);
    const [clusters, routes] = server.status()[0]?.types ?? [];
    expect(clusters).toMatchObject({ typeUrl: types.cluster, state: "NACKED" });
    expect(routes).toMatchObject({
      typeUrl: types.route,
      state: "STALE",
      heldBack: [{ name: "r", for: "bad" }],
    });
    expect(await rowOf("bad")).toBe(ConfigStatus.ERROR);
    expect(await rowOf("r")).toBe(ConfigStatus.NOT_SENT);
    await expect(server.waitForAck(revision)).rejects.toMatchObject({
      code: "ABORTED",
      missing: [
        { typeUrl: types.cluster, state: "rejected" },
        { typeUrl: types.route, names: ["r"], state: "pending" },
      ],
    });

    cache.put({ typeUrl: types.cluster, name: "bad", value: payload("bad", "mended") });
    for (let answers = 0; answers < 2; answers++) {
      turn();
      call.ack(call.next());
    }
    expect(server.status()[0]?.types[1]).toMatchObject({ state: "SYNCED" });
    expect(server.status()[0]?.types[1]).not.toHaveProperty("heldBack");
    expect(await rowOf("r")).toBe(ConfigStatus.SYNCED);
  });
});

it.each(adsVariants)("reports no wait of a stream that has ended (%s) [S-ORD-4]", (variant) => {
  const cache = readyCache();
  const { open, turn, clock, kinds } = serve(cache);
  const call = open(variant);
  for (const type of [types.cluster, types.route]) {
    call.ask(type, ["new", "r"]);
    turn();
    if (call.unread > 0) call.ack(call.next());
  }
  cache.transaction(({ put }) => {
    put({ typeUrl: types.cluster, name: "new", value: payload("new") });
    put({ typeUrl: types.route, name: "r", value: routeTo("new") });
  });
  turn();
  expect(call.unread).toBe(1);
  call.cancel();
  clock.advance(60_000);
  turn();
  expect(kinds()).toContain("disconnect");
  expect(kinds()).not.toContain("order-expired");
});
