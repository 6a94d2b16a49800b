import { type ResourceType, XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn } from "./harness/client-world.ts";

/** A type whose resources of the version "bad" are rejected. */
const choosy: ResourceType = {
  typeUrl: PART,
  validate: ({ name, version }) =>
    version === "bad" ? new XdsError("INVALID_ARGUMENT", `${name} is bad`) : undefined,
};

// Found by the simulation.

describe("an alias that goes (delta)", () => {
  it("takes what was held for it along, which has lost the alias and goes on under its own name [C-ALIAS-3]", async () => {
    const { ask, server, cache } = createClientWorld("delta");
    const [alias] = await ask(PART, "alias");
    server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["alias"] }] });
    expect(alias?.now).toBe("real=1");
    server.reply(PART, { removed: ["alias"] });
    expect(alias?.now).toBe("alias!");
    expect([...cache.held(PART)]).toEqual([]);
    server.reply(PART, { resources: [{ name: "real", text: "2" }] });
    expect([alias?.now, [...cache.held(PART)]]).toEqual(["alias!", []]);
    server.reply(PART, { resources: [{ name: "real", text: "3", aliases: ["alias"] }] });
    expect(alias?.now).toBe("real=3");
  });

  it("leaves what is wanted by its own name as well [C-ALIAS-3]", async () => {
    const { ask, server } = createClientWorld("delta");
    const [, real] = await ask(PART, "alias", "real");
    server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["alias"] }] });
    server.reply(PART, { removed: ["alias"] });
    expect(real?.now).toBe("real=1");
  });

  it("shows nothing of what was held when that is wanted no more by its own name either, though its state without the alias was rejected [C-ALIAS-3] [C-ACK-5]", async () => {
    const { ask, server, cache, watch } = createClientWorld("delta", {
      types: [
        {
          typeUrl: PART,
          validate: ({ name, version }) =>
            version === "2" ? new XdsError("INVALID_ARGUMENT", `${name} is bad`) : undefined,
        },
      ],
    });
    const [alias, real] = await ask(PART, "alias", "real");
    server.reply(PART, {
      resources: [{ name: "real", text: "1", version: "1", aliases: ["alias"] }],
    });
    server.reply(PART, {
      resources: [{ name: "real", text: "2", version: "2" }],
      removed: ["alias"],
    });
    expect([real?.now, alias?.now]).toEqual(["real=1 ~INVALID_ARGUMENT", "alias!"]);
    real?.stop();
    await turn();
    expect([alias?.now, [...cache.held(PART)]]).toEqual(["alias!", []]);
    const again = watch(PART, "real");
    await turn();
    server.reply(PART, { resources: [{ name: "real", text: "3", version: "3" }] });
    expect([again.now, alias?.now]).toEqual(["real=3", "alias!"]);
  });

  it("shows nothing of a resource that keeps its old state, until a state that lists it is accepted, be it the old one [C-ALIAS-6] [C-ACK-5]", async () => {
    const { ask, server, watch } = createClientWorld("delta", { types: [choosy] });
    const [alias, real] = await ask(PART, "alias", "real");
    const old = { name: "real", text: "1", version: "1", aliases: ["alias"] };
    server.reply(PART, { resources: [old] });
    server.reply(PART, { resources: [{ name: "real", version: "bad" }], removed: ["alias"] });
    expect([real?.now, alias?.now]).toEqual(["real=1 ~INVALID_ARGUMENT", "alias!"]);
    alias?.stop();
    await turn();
    const again = watch(PART, "alias");
    await turn();
    server.reply(PART, { removed: ["alias"] });
    expect([real?.now, again.now]).toEqual(["real=1 ~INVALID_ARGUMENT", "alias!"]);
    server.reply(PART, { resources: [old] });
    expect([real?.now, again.now]).toEqual(["real=1", "real=1"]);
  });

  it("ends with its removal, also where nothing else comes of the resource [C-ALIAS-6]", async () => {
    const { ask, server } = createClientWorld("delta");
    const [alias, real] = await ask(PART, "alias", "real");
    server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["alias"] }] });
    server.reply(PART, { removed: ["alias"] });
    expect([real?.now, alias?.now]).toEqual(["real=1", "alias!"]);
  });

  it("takes along what was unsubscribed by its own name while the response was on its way, whether its state without the alias is good or bad [C-ALIAS-3] [C-SUB-8]", async () => {
    for (const text of ["good", "bad"]) {
      const { ask, server, cache } = createClientWorld("delta", { types: [choosy] });
      const [alias, real] = await ask(PART, "alias", "real");
      server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["alias"] }] });
      real?.stop();
      await turn();
      server.rest();
      server.reply(PART, {
        resources: [{ name: "real", text, version: text }],
        removed: ["alias"],
      });
      expect([text, alias?.now, [...cache.held(PART)]]).toEqual([text, "alias!", []]);
      expect(server.rest().map(({ error }) => error)).toEqual([undefined]);
    }
  });

  it("takes along what is unsubscribed by its own name while others vote on its state without the alias, and reject it [C-ALIAS-3]", async () => {
    const { promise: voted, resolve: vote }: PromiseWithResolvers<void> = Promise.withResolvers();
    const { ask, server, cache } = createClientWorld("delta", {
      types: [choosy],
      sink: (sink) => ({
        held: (...asked) => sink.held(...asked),
        unavailable: (...reported) => {
          sink.unavailable(...reported);
        },
        commit: (transaction) => {
          const committed = sink.commit(transaction);
          return committed.rejected === undefined
            ? committed
            : { revision: committed.revision, decided: voted.then(() => committed) };
        },
      }),
    });
    const [alias, real] = await ask(PART, "alias", "real");
    server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["alias"] }] });
    server.reply(PART, {
      resources: [{ name: "real", text: "2", version: "bad" }],
      removed: ["alias"],
    });
    real?.stop();
    await turn();
    vote();
    await turn();
    expect([alias?.now, [...cache.held(PART)]]).toEqual(["alias!", []]);
  });

  it("takes along what had a second alias that goes in the same response [C-ALIAS-3]", async () => {
    const { ask, server, cache } = createClientWorld("delta");
    const [one, two] = await ask(PART, "one", "two");
    server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["one", "two"] }] });
    expect([one?.now, two?.now]).toEqual(["real=1", "real=1"]);
    server.reply(PART, { removed: ["one", "two"] });
    expect([one?.now, two?.now, [...cache.held(PART)]]).toEqual(["one!", "two!", []]);
  });

  it("ends what was rejected under the other name [C-ALIAS-3]", async () => {
    const { ask, server } = createClientWorld("delta", {
      types: [
        {
          typeUrl: PART,
          validate: ({ name }) => new XdsError("INVALID_ARGUMENT", `${name} is bad`),
        },
      ],
    });
    const [alias] = await ask(PART, "alias");
    server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["alias"] }] });
    expect(alias?.topic.stale?.text).toBe("real is bad");
    server.reply(PART, { removed: ["alias"] });
    expect([alias?.now, alias?.topic.stale]).toEqual(["alias!", undefined]);
  });
});

describe("an alias of what is held (delta)", () => {
  it("is there on a new stream too, of which the server says nothing since nothing has changed [C-ALIAS-3] [C-MISS-4]", async () => {
    const { ask, server, clock, want } = createClientWorld("delta");
    const [alias] = await ask(PART, "alias");
    server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["alias"] }] });
    expect(want(PART, "alias").state).toBe("cached");
    server.raw.close();
    clock.advance(1_000);
    await turn();
    server.reply(PART, {});
    clock.advance(40_000);
    expect([alias?.now, want(PART, "alias").state]).toEqual(["real=1", "cached"]);
    server.reply(PART, { removed: ["real"] });
    expect(alias?.now).toBe("alias!");
  });
});

describe("an alias of what a wildcard gave (delta)", () => {
  it("takes it along from a new stream on which the wildcard is wanted no more [C-ALIAS-3]", async () => {
    const { ask, server, clock, cache, watch } = createClientWorld("delta");
    const [all] = await ask(PART, "*");
    server.reply(PART, {
      resources: [{ name: "real", text: "1", version: "1", aliases: ["alias"] }],
    });
    server.raw.close();
    const alias = watch(PART, "alias");
    all?.stop();
    clock.advance(1_000);
    await turn();
    expect(server.rest().at(-1)).toMatchObject({ names: ["alias"], versions: { real: "1" } });
    server.reply(PART, { removed: ["alias"] });
    expect([alias.now, [...cache.held(PART)]]).toEqual(["alias!", []]);
  });
});

describe("a wildcard that is asked for after names (sotw)", () => {
  it("is complete with the first response that has something only it covers; what goes right after that is noticed [C-FULL-3]", async () => {
    const { ask, server } = createClientWorld("sotw");
    await ask(FULL, "a");
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    const [all] = await ask(FULL, "*");
    server.reply(FULL, { resources: [{ name: "a", text: "2" }] });
    expect(all?.topic.settled).toBe(false);
    server.reply(FULL, {
      resources: [
        { name: "a", text: "2" },
        { name: "b", text: "1" },
      ],
    });
    expect([all?.topic.settled, all?.now]).toEqual([true, "a=2 b=1"]);
    server.reply(FULL, { resources: [{ name: "a", text: "2" }] });
    expect(all?.now).toBe("a=2");
  });
});
