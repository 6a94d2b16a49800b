import { createCache, type Cache } from "@xdstp/cache";
import { XdsError } from "@xdstp/core";
import {
  createFederation,
  createSharedServers,
  type Federation,
  type FederationServer,
} from "@xdstp/federation";
import { describe, expect, it, onTestFinished } from "vitest";
import { FULL, madeUpTypes, PART } from "../harness/made-up-types.ts";
import {
  createClientWorld,
  turn,
  watched,
  type ClientWorld,
  type ClientWorldOptions,
  type Watched,
} from "./harness/client-world.ts";
import type { ClientVariantName } from "./harness/scripted-server.ts";

interface Hub {
  readonly cache: Cache;
  readonly federation: Federation;
  readonly ask: (name: string, typeUrl?: string) => Promise<Watched>;
}

/** Two federations over one client end. */
async function useTwo(
  variant: ClientVariantName,
  client: ClientWorldOptions["client"] = {},
): Promise<{ readonly world: ClientWorld; readonly one: Hub; readonly two: Hub }> {
  const world = createClientWorld(variant, { runs: false, client });
  const { clock, feed } = world;
  const server: FederationServer = {
    id: "s",
    name: "s",
    open: () => ({ feed, close: () => undefined }),
  };
  const servers = createSharedServers();
  const hub = (): Hub => {
    const federation = createFederation({
      sources: [{ servers: [server] }],
      servers,
      clock,
      random: () => 0,
    });
    const cache = createCache({ types: madeUpTypes, clock });
    cache.addFeed(federation);
    onTestFinished(() => cache.close());
    return {
      cache,
      federation,
      ask: async (name, typeUrl = PART) => {
        const asked = watched(cache.topic(typeUrl, { name }));
        await turn();
        return asked;
      },
    };
  };
  const hubs = { one: hub(), two: hub() };
  await turn();
  return { world, ...hubs };
}

const stateAt = ({ federation }: Hub): string | undefined =>
  federation
    .status()[0]
    ?.status?.types[0]?.wants.map(({ state, rejected }) =>
      [state, ...rejected.map(({ error: { text } }) => text)].join(" "),
    )
    .join();

describe.each(["delta", "sotw"] as const)(
  "a client end that two federations share (%s)",
  (variant) => {
    it("a name that one of them has and the server does not say again is missing for the other alone [C-MISS-4] [C-AGG-1]", async () => {
      const {
        world: { server, clock },
        one,
        two,
      } = await useTwo(variant);
      const first = await one.ask("x");
      server.reply(PART, { resources: [{ name: "x", text: "1" }] });
      const second = await two.ask("x");
      clock.advance(15_000);
      await turn();
      clock.advance(15_000); // SotW asks again
      expect([first.now, second.now, stateAt(one), stateAt(two)]).toEqual([
        "x=1",
        "x!NOT_FOUND",
        "cached",
        "late",
      ]);
      server.reply(PART, { resources: [{ name: "x", text: "2" }] });
      expect([first.now, second.now, stateAt(one), stateAt(two)]).toEqual([
        "x=2",
        "x=2",
        "cached",
        "cached",
      ]);
    });

    it("and cannot be had by that one alone, where the timer says only so [C-GRPC-10]", async () => {
      const {
        world: { server, clock },
        one,
        two,
      } = await useTwo(variant, { timeoutIsTransient: true });
      const first = await one.ask("x");
      server.reply(PART, { resources: [{ name: "x", text: "1" }] });
      const second = await two.ask("x");
      clock.advance(30_000);
      await turn();
      clock.advance(30_000);
      expect([first.now, second.now, stateAt(one), stateAt(two)]).toEqual([
        "x=1",
        "pending ~UNAVAILABLE",
        "cached",
        "late",
      ]);
      server.reply(PART, { resources: [{ name: "x", text: "2" }] });
      expect([first.now, second.now]).toEqual(["x=2", "x=2"]);
    });

    it("what one of them rejects and the other takes is rejected in the status of the one alone [C-CSDS-3]", async () => {
      const {
        world: { server },
        one,
        two,
      } = await useTwo(variant);
      one.cache.check(PART, { name: "x" }, () => new XdsError("INVALID_ARGUMENT", "it is bad"));
      const [first, second] = [await one.ask("x"), await two.ask("x")];
      server.reply(PART, { resources: [{ name: "x", text: "1" }] });
      expect([first.now, second.now, stateAt(one), stateAt(two)]).toEqual([
        "pending ~INVALID_ARGUMENT",
        "x=1",
        "rejected it is bad",
        "cached",
      ]);
    });
  },
);

describe("a delta client end that two federations share", () => {
  const [glob, x, y] = ["*", "x", "y"].map((id) => `xdstp://a/test.Part/ns/${id}`) as [
    string,
    string,
    string,
  ];
  const resources = [
    { name: x, text: "1" },
    { name: y, text: "1" },
  ];

  it.each([glob, "*"])(
    "a collection that one of them has and the server does not say again is asked for on a new stream, before the other takes it for empty: %s [C-GLOB-9] [C-AGG-1]",
    async (name) => {
      const {
        world: { server, clock },
        one,
        two,
      } = await useTwo("delta");
      const first = await one.ask(name);
      server.reply(PART, { resources });
      clock.advance(200);
      const second = await two.ask(name);
      server.rest();
      clock.advance(15_000);
      await turn();
      expect([
        second.now,
        server.raw.streams,
        server.rest().map(({ versions }) => versions),
      ]).toEqual([
        "pending",
        2,
        [{ [x]: "may have been replaced", [y]: "may have been replaced" }],
      ]);
      server.reply(PART, { resources });
      clock.advance(200);
      expect([first.now, second.now]).toEqual([`${x}=1 ${y}=1`, `${x}=1 ${y}=1`]);
    },
  );

  it("an empty answer to a wildcard that was told before is such a silence [C-GLOB-9] [C-AGG-1]", async () => {
    const {
      world: { server, clock },
      one,
      two,
    } = await useTwo("delta");
    await one.ask("*");
    server.reply(PART, { resources });
    clock.advance(200);
    const second = await two.ask("*");
    const seen: unknown[] = [];
    for (const reply of [{}, { resources }]) {
      server.reply(PART, reply);
      clock.advance(200);
      await turn();
      seen.push(second.now, server.raw.streams);
    }
    expect(seen).toEqual(["pending", 2, `${x}=1 ${y}=1`, 2]);
  });

  it("what the server has never told needs none, and a second silence is believed [C-GLOB-9] [C-MISS-4]", async () => {
    const {
      world: { server, clock },
      one,
      two,
    } = await useTwo("delta");
    const silent = async (...names: readonly string[]): Promise<number> => {
      for (const { ask } of [one, two]) for (const name of names) await ask(name);
      clock.advance(15_000);
      await turn();
      return server.raw.streams;
    };
    const streams = [await silent(glob, "a")];
    await one.ask("b");
    server.reply(PART, { resources: [{ name: "b", text: "1" }] });
    for (let n = 0; n < 3; n++) streams.push(await silent("b"));
    expect([streams, (await two.ask("b")).now]).toEqual([[1, 2, 2, 2], "b!NOT_FOUND"]);
  });
});

describe("a SotW client end that two federations share", () => {
  it("what one has waited for in vain goes for the other when a full state comes without it [C-FULL-3]", async () => {
    const {
      world: { server, clock },
      one,
      two,
    } = await useTwo("sotw");
    const first = await one.ask("x", FULL);
    server.reply(FULL, { resources: [{ name: "x", text: "1" }] });
    const second = await two.ask("x", FULL);
    clock.advance(15_000);
    await turn();
    clock.advance(15_000);
    expect([first.now, second.now]).toEqual(["x=1", "x!NOT_FOUND"]);
    server.reply(FULL, {});
    expect([first.now, second.now.slice(0, 2)]).toEqual(["x!", "x!"]);
  });

  it("an empty list that means everything stays one when the other asks for all too [C-WILD-9]", async () => {
    const {
      world: { server },
      one,
      two,
    } = await useTwo("sotw");
    const first = await one.ask("*", FULL);
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    const second = await two.ask("*", FULL);
    const asked = server.rest().map(({ names }) => names);
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    expect([asked, server.raw.streams, first.now, second.now]).toEqual([[[]], 2, "a=1", "a=1"]);
  });
});
