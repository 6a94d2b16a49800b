import { createCache, type Cache } from "@xdstp/cache";
import { XdsError } from "@xdstp/core";
import { createFederation, createSharedServers, type Federation, type FederationServer } from "@xdstp/federation";
import { describe, expect, it, onTestFinished } from "vitest";
import { FULL, madeUpTypes, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn, watched, type ClientVariantName, type ClientWorld, type ClientWorldOptions, type Watched } from "./harness/client-world.ts";

interface Hub {
  readonly cache: Cache;
  readonly federation: Federation;
  readonly ask: (name: string, typeUrl?: string) => Promise<Watched>;
}

/** Two federations over one client end. */
async function useTwo(variant: ClientVariantName, client: ClientWorldOptions["client"] = {}): Promise<{ readonly world: ClientWorld; readonly one: Hub; readonly two: Hub }> {
  const world = createClientWorld(variant, { runs: false, client });
  const { clock, feed } = world;
  const server: FederationServer = { id: "s", name: "s", open: () => ({ feed, close: () => undefined }) };
  const servers = createSharedServers();
  const hub = (): Hub => {
    const federation = createFederation({ sources: [{ servers: [server], opaque: true }], servers, clock, random: () => 0 });
    const cache = createCache({ types: madeUpTypes, clock });
    cache.addFeed(federation);
    onTestFinished(() => cache.close());
    return { cache, federation, ask: async (name, typeUrl = PART) => { const asked = watched(cache.topic(typeUrl, { name })); await turn(); return asked; } };
  };
  const hubs = { one: hub(), two: hub() };
  await turn();
  return { world, ...hubs };
}

const stateAt = ({ federation }: Hub): string | undefined => federation.status()[0]?.status?.types[0]?.wants.map(({ state, refused }) => [state, ...refused.map(({ error: { text } }) => text)].join(" ")).join();

describe.each(["delta", "sotw"] as const)("a client end that two federations share (%s)", (variant) => {
  it("a name that one of them has and the server does not say again is missing for the other alone [C-MISS-4] [C-AGG-1]", async () => {
    const { world: { server, clock }, one, two } = await useTwo(variant);
    const first = await one.ask("x");
    server.reply(PART, { resources: [{ name: "x", text: "1" }] });
    const second = await two.ask("x");
    clock.advance(15_000);
    await turn();
    clock.advance(15_000); // SotW asks once more
    expect([first.now, second.now, stateAt(one), stateAt(two)]).toEqual(["x=1", "x!NOT_FOUND", "held", "timeout"]);
    server.reply(PART, { resources: [{ name: "x", text: "2" }] });
    expect([first.now, second.now, stateAt(one), stateAt(two)]).toEqual(["x=2", "x=2", "held", "held"]);
  });

  it("and cannot be had by that one alone, where the timer says only so [C-GRPC-10]", async () => {
    const { world: { server, clock }, one, two } = await useTwo(variant, { timeoutIsTransient: true });
    const first = await one.ask("x");
    server.reply(PART, { resources: [{ name: "x", text: "1" }] });
    const second = await two.ask("x");
    clock.advance(30_000);
    await turn();
    clock.advance(30_000);
    expect([first.now, second.now, stateAt(one), stateAt(two)]).toEqual(["x=1", "pending ~UNAVAILABLE", "held", "timeout"]);
    server.reply(PART, { resources: [{ name: "x", text: "2" }] });
    expect([first.now, second.now]).toEqual(["x=2", "x=2"]);
  });

  it("what one of them refuses and the other takes is refused in the status of the one alone [C-CSDS-3]", async () => {
    const { world: { server }, one, two } = await useTwo(variant);
    one.cache.check(PART, { name: "x" }, () => new XdsError("INVALID_ARGUMENT", "it is bad"));
    const [first, second] = [await one.ask("x"), await two.ask("x")];
    server.reply(PART, { resources: [{ name: "x", text: "1" }] });
    expect([first.now, second.now, stateAt(one), stateAt(two)]).toEqual(["pending ~INVALID_ARGUMENT", "x=1", "refused it is bad", "held"]);
  });
});

describe("a SotW client end that two federations share", () => {
  it("what one has waited for in vain goes for the other when a full state comes without it [C-FULL-3]", async () => {
    const { world: { server, clock }, one, two } = await useTwo("sotw");
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
    const { world: { server }, one, two } = await useTwo("sotw");
    const first = await one.ask("*", FULL);
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    const second = await two.ask("*", FULL);
    const asked = server.rest().map(({ names }) => names);
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    expect([asked, server.raw.streams, first.now, second.now]).toEqual([[[]], 2, "a=1", "a=1"]);
  });
});
