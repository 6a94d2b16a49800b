import { describe, expect, it } from "vitest";

import { flag, flagUrl, turn, useDeltaScript, useSotwScript } from "../test/use-script.ts";

describe.each([
  ["delta", useDeltaScript],
  ["sotw", useSotwScript],
] as const)("a %s client of which all names are unsubscribed", (_, useScript) => {
  it("lets go of its server after 10 s, and asks again at once for what is wanted next [C-STREAM-14]", async () => {
    const { client, server, clock, events } = useScript();
    const watch = client.watch(flag, "a");
    await turn();
    watch.close();
    await turn();
    clock.advance(9_999);
    expect(server.connected).toBe(true);
    clock.advance(1);
    expect([
      server.closed?.code,
      events.map(({ kind }) => kind),
      client.status().map(({ status }) => status),
    ]).toEqual([0, ["opened", "idle"], [undefined]]);
    client.watch(flag, "a");
    await turn();
    expect([server.streams, server.next().node?.id]).toEqual([2, "me"]);
  });

  it("keeps it for as long as it is told to [C-STREAM-14]", async () => {
    const [short, always] = [useScript({ idleMs: 500 }), useScript({ idleMs: Infinity })];
    for (const { client, clock } of [short, always]) {
      const watch = client.watch(flag, "a");
      await turn();
      watch.close();
      await turn();
      clock.advance(500);
    }
    always.clock.advance(1_000_000);
    expect([short.server.connected, always.server.connected]).toEqual([false, true]);
  });
});

describe("a client on an old Node", () => {
  it.each([
    ["24.22.2", 1],
    ["24.22.3", 0],
  ])(
    "of version %s warns so many times, with its first stream, and works: %d",
    async (nodeVersion, times) => {
      const warnings: unknown[] = [];
      const { client, server, clock } = useDeltaScript({
        nodeVersion,
        onEvent: (event) => {
          if (event.kind === "warning") warnings.push(event);
        },
      });
      expect(warnings).toEqual([]);
      const watch = client.watch(flag, "a");
      await turn();
      server.close();
      clock.advance(1_000);
      await turn();
      server.send({
        typeUrl: flagUrl,
        nonce: "1",
        resources: [
          { name: "a", version: "1", resource: { typeUrl: flagUrl, value: Buffer.from("on") } },
        ],
      });
      expect((await watch[Symbol.asyncIterator]().next()).value?.value).toBe("on");
      expect(warnings).toEqual(
        Array.from({ length: times }, () => ({
          kind: "warning",
          warning: "node-version",
          message: expect.stringContaining(
            "Node 24.22.2 lacks security fixes for HTTP/2; run this on Node",
          ) as string,
        })),
      );
    },
  );
});
