import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";

const name = flagName("a");
const CLIENTS = 1_000;

describe.each(["delta", "sotw"] as const)("%s downstream", (variant) => {
  it(`${CLIENTS} clients that come at once are one request upstream, and one frame [B-RELAY-1]`, async () => {
    const world = useWorld();
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      world.connect(variant, { id: `c${index}` }),
    );
    for (const client of clients) client.ask(flagUrl, name);
    await world.settle();
    expect(world.up.requests().map(({ names }) => names)).toEqual([[name]]);
    world.up.reply(flagUrl, { resources: [{ name, text: "1" }] });
    await world.settle();
    expect(clients.every((client) => client.take().length === 1)).toBe(true);
    expect(world.server.stats().frames).toMatchObject({ encoded: 1, shared: CLIENTS - 1 });
    // The answers of the clients cause nothing upstream, nor does half of them disconnecting and
    // reconnecting.
    for (const client of clients.slice(0, CLIENTS / 2)) client.stream.cancel();
    await world.pass(30_000);
    const again = clients
      .slice(0, CLIENTS / 2)
      .map((_, index) => world.connect(variant, { id: `c${index}` }));
    for (const client of again) client.ask(flagUrl, name);
    await world.settle();
    expect(again.every((client) => client.take().length === 1)).toBe(true);
    expect(
      world.up
        .requests()
        .flatMap(({ names, dropped, error }) => [
          ...(error === undefined ? [] : [error]),
          ...dropped,
          ...names.filter((one) => one !== name),
        ]),
    ).toEqual([]);
    expect(world.up.calls).toHaveLength(1);
  });

  it("a storm is let in at a steady rate, and none of it is lost [B-RELAY-1] [S-RECON-9]", async () => {
    const world = useWorld({
      server: { limits: { admission: { firstSyncs: 10, firstSyncMs: 1_000 } } },
    });
    const clients = Array.from({ length: 50 }, (_, index) =>
      world.connect(variant, { id: `c${index}` }),
    );
    for (const client of clients) client.ask(flagUrl, name);
    await world.settle();
    world.up.reply(flagUrl, { resources: [{ name, text: "1" }] });
    const served: number[] = [];
    for (let second = 0; second < 5; second++) {
      await world.settle();
      served.push(clients.filter(({ stream }) => stream.unread > 0).length);
      await world.pass(1_000);
    }
    expect(served).toEqual([10, 20, 30, 40, 50]);
  });
});
