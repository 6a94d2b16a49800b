import { forwardSink, type ResourceSink } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { FULL, madeUpTypes, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn } from "./harness/client-world.ts";
import type { Reply } from "./harness/scripted-server.ts";

const ns = (id: string, type = "Part"): string => `xdstp://a/test.${type}/ns/${id}`;

/** Notes each time that a collection counts as complete: true where only the timer says so. */
function listenToSettled(): {
  readonly settled: (boolean | undefined)[];
  readonly listening: (sink: ResourceSink) => ResourceSink;
} {
  const settled: (boolean | undefined)[] = [];
  const listening = (given: ResourceSink): ResourceSink =>
    forwardSink(given, (sink) => ({
      commit(transaction) {
        for (const { timedOut } of transaction.settled ?? []) settled.push(timedOut);
        return sink.commit(transaction);
      },
    }));
  return { settled, listening };
}

describe.each(["delta", "sotw"] as const)("aliases (%s)", (variant) => {
  it("a resource with the wanted name among its aliases is what was wanted; it may come again, or go, under its own name [C-ALIAS-3]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [alias] = await ask(PART, "alias");
    server.reply(PART, { resources: [{ name: "real", text: "1", aliases: ["other", "alias"] }] });
    expect(alias?.now).toBe("real=1");
    clock.advance(15_000);
    server.reply(PART, { resources: [{ name: "real", text: "2", aliases: ["alias"] }] });
    expect(alias?.now).toBe("real=2");
    if (variant === "delta") server.reply(PART, { removed: ["real"] });
    else server.reply(PART, { resources: [{ name: "real", version: "", text: null }] });
    expect(alias?.now).toBe("alias!");
    expect(server.rest().filter(({ error }) => error !== undefined)).toEqual([]);
  });
});

describe("aliases in delta", () => {
  it("what is held by an alias is in the version map, under its own name [C-ALIAS-3] [C-RECON-3]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    await ask(PART, "alias", "none");
    server.reply(PART, {
      resources: [{ name: "real", version: "1", aliases: ["alias"] }],
      removed: ["none"],
    });
    server.rest();
    server.raw.close();
    clock.advance(1_000);
    await turn();
    expect(server.next()).toMatchObject({ names: ["alias", "none"], versions: { real: "1" } });
  });
});

describe("globs in delta", () => {
  it("members are resources of their own: each is updated and removed by itself [C-GLOB-7]", async () => {
    const { ask, server } = createClientWorld("delta");
    const [glob] = await ask(PART, ns("*"));
    server.reply(PART, {
      resources: [
        { name: ns("x"), text: "1" },
        { name: ns("y"), text: "1" },
      ],
    });
    server.reply(PART, { resources: [{ name: ns("x"), text: "2" }] });
    server.reply(PART, { removed: [ns("y")] });
    expect(glob?.now).toBe(`${ns("x")}=2...`);
  });

  it("the glob among what is removed says that it is empty, at once, at the start and later [C-GLOB-8]", async () => {
    const { ask, server } = createClientWorld("delta");
    const [glob, other] = await ask(PART, ns("*"), "xdstp://a/test.Part/other/*");
    server.reply(PART, { removed: [ns("*")] });
    expect([glob?.topic.settled, glob?.now, other?.now]).toEqual([true, `${ns("*")}!`, "pending"]);
    server.reply(PART, {
      resources: [
        { name: ns("x"), text: "1" },
        { name: "xdstp://a/test.Part/other/z", text: "1" },
      ],
    });
    server.reply(PART, { removed: [ns("*")] });
    expect([glob?.now, other?.now]).toEqual([`${ns("*")}!`, "xdstp://a/test.Part/other/z=1..."]);
  });

  it("it counts as complete 200 ms after the last response with a member, or when the timer fires [C-GLOB-9]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [glob, silent] = await ask(PART, ns("*"), "xdstp://a/test.Part/silent/*");
    for (const id of ["x", "y", "z"]) {
      server.reply(PART, { resources: [{ name: ns(id), text: "1" }] });
      clock.advance(199);
      expect(glob?.topic.settled).toBe(false);
    }
    clock.advance(1);
    expect([glob?.topic.settled, glob?.topic.members().length, silent?.topic.settled]).toEqual([
      true,
      3,
      false,
    ]);
    clock.advance(15_000 - 598);
    expect(silent?.now).toBe("xdstp://a/test.Part/silent/*!");
  });

  it("changes of members that have come already do not delay it, a new member does [C-GLOB-9]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [glob, all] = await ask(PART, ns("*"), "*");
    const change = (...ids: readonly string[]): void => {
      server.reply(PART, {
        resources: ids.map((id) => ({ name: ns(id), text: String(clock.now()) })),
      });
    };
    change("x", "y");
    clock.advance(100);
    change("x");
    clock.advance(99);
    change("z");
    expect([glob?.topic.settled, all?.topic.settled]).toEqual([false, false]);
    clock.advance(100);
    change("z");
    clock.advance(99);
    change("y");
    expect([glob?.topic.settled, all?.topic.settled]).toEqual([false, false]);
    clock.advance(1);
    expect([glob?.topic.settled, all?.topic.settled, glob?.topic.members().length]).toEqual([
      true,
      true,
      3,
    ]);
  });

  it("a server that is asked again has not sent what came on the stream before [C-GLOB-9]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [glob] = await ask(PART, ns("*"));
    server.reply(PART, {
      resources: [
        { name: ns("x"), text: "1" },
        { name: ns("y"), text: "1" },
      ],
    });
    server.raw.close();
    clock.advance(1_000);
    await turn();
    for (const id of ["x", "y"]) {
      server.reply(PART, { resources: [{ name: ns(id), text: "2" }] });
      clock.advance(199);
      expect(glob?.topic.settled).toBe(false);
    }
    clock.advance(1);
    expect(glob?.topic.settled).toBe(true);
  });

  it("what comes only after the timer counts as complete 200 ms later: who did not believe the silence hears so, as a relay that serves from its snapshot [C-GLOB-9] [B-RELAY-9]", async () => {
    const { settled, listening } = listenToSettled();
    const { ask, server, clock } = createClientWorld("delta", { sink: listening });
    await ask(PART, ns("*"));
    clock.advance(15_000);
    expect(settled).toEqual([true]);
    server.reply(PART, { resources: [{ name: ns("a"), text: "1" }] });
    clock.advance(200);
    expect(settled).toEqual([true, undefined]);
    server.reply(PART, { resources: [{ name: ns("b"), text: "1" }] });
    clock.advance(200);
    expect(settled).toEqual([true, undefined]);
  });

  it("and neither does it when the answer is to a name that was subscribed to after the silence [C-GLOB-9]", async () => {
    const { settled, listening } = listenToSettled();
    const { ask, server, clock } = createClientWorld("delta", { sink: listening });
    await ask(PART, "other");
    server.reply(PART, { resources: [{ name: "other", text: "1" }] });
    await ask(PART, ns("*"));
    clock.advance(15_000);
    expect(settled).toEqual([true]);
    await ask(PART, ns("x"));
    server.reply(PART, { resources: [{ name: ns("x"), text: "1" }] });
    clock.advance(200);
    expect(settled).toEqual([true, undefined]);
  });

  it("what answers names says nothing of a glob or wildcard that was asked for later [C-GLOB-9]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    await ask(PART, ns("x"), "a");
    const [glob, all] = await ask(PART, ns("*"), "*");
    server.reply(PART, {
      resources: [
        { name: ns("x"), text: "1" },
        { name: "a", text: "1" },
      ],
    });
    clock.advance(1_000);
    expect([glob?.topic.settled, all?.topic.settled]).toEqual([false, false]);
    server.reply(PART, {
      resources: [
        { name: ns("x"), text: "1" },
        { name: "a", text: "1" },
        { name: ns("y"), text: "1" },
      ],
    });
    clock.advance(200);
    expect([glob?.topic.settled, all?.topic.settled]).toEqual([true, true]);
  });

  it("an empty wildcard counts as complete after a first response without resources [C-GLOB-9]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [all] = await ask(PART, "*");
    server.reply(PART, {});
    clock.advance(200);
    expect(all?.topic.settled).toBe(true);
  });
});

describe.each(["delta", "sotw"] as const)(
  "names that are answered before a wildcard (%s)",
  (variant) => {
    const none: Reply =
      variant === "delta"
        ? { removed: ["a"] }
        : { resources: [{ name: "a", text: null, version: "" }] };

    it("that one of them does not exist says nothing of the wildcard requested with it [C-WILD-12]", async () => {
      const { ask, server, clock, want } = createClientWorld(variant);
      const [a, all] = await ask(PART, "a", "*");
      server.reply(PART, none);
      clock.advance(14_000);
      expect([a?.now, all?.now, want(PART, "*").state]).toEqual(["a!", "pending", "requested"]);
      server.reply(PART, { resources: [{ name: "b", text: "1" }] });
      clock.advance(199);
      expect(all?.now).toBe("b=1...");
      clock.advance(1);
      expect(all?.now).toBe("b=1");
    });

    it("an empty response after them says that the wildcard has no members [C-WILD-12] [S-WILD-7]", async () => {
      const { ask, server, clock } = createClientWorld(variant);
      const [, all] = await ask(PART, "a", "*");
      server.reply(PART, none);
      server.reply(PART, {});
      clock.advance(200);
      expect(all?.now).toBe("");
    });

    it("without another response the wildcard is empty when the timer fires [C-WILD-12] [C-MISS-4]", async () => {
      const { ask, server, clock } = createClientWorld(variant);
      const [, all] = await ask(PART, "a", "*");
      server.reply(PART, none);
      clock.advance(14_999);
      expect(all?.now).toBe("pending");
      clock.advance(1);
      expect(all?.now).toBe("");
    });

    it("neither does it once the timer has fired, so a relay does not believe the silence [C-WILD-12] [B-RELAY-9]", async () => {
      const { settled, listening } = listenToSettled();
      const { ask, server, clock } = createClientWorld(variant, { sink: listening });
      await ask(PART, "*");
      clock.advance(15_000);
      await ask(PART, "a");
      server.reply(PART, none);
      clock.advance(200);
      expect(settled).toEqual([true]);
      server.reply(PART, {});
      clock.advance(200);
      expect(settled).toEqual([true, undefined]);
    });

    it("the removal of a cached member is an answer to the wildcard too: a server has no other where nothing else has changed [C-WILD-12]", async () => {
      const { settled, listening } = listenToSettled();
      const { ask, server, clock } = createClientWorld(variant, { sink: listening });
      await ask(PART, "a", "b", "*");
      server.reply(PART, { resources: ["a", "b"].map((name) => ({ name, text: "1" })) });
      clock.advance(200);
      server.raw.close();
      clock.advance(1_000);
      await turn();
      server.reply(PART, none);
      clock.advance(200);
      expect(settled).toEqual([undefined, undefined]);
    });

    it("a resource that was also requested by name is a member, and whether others follow cannot be seen [C-WILD-12]", async () => {
      const { ask, server, clock } = createClientWorld(variant);
      const [, all] = await ask(PART, "a", "*");
      server.reply(PART, { resources: [{ name: "a", text: "1" }] });
      clock.advance(200);
      expect(all?.now).toBe("a=1");
      server.reply(PART, { resources: [{ name: "b", text: "1" }] });
      expect(all?.now).toBe("a=1 b=1");
    });
  },
);

describe("names that are answered before a collection (delta)", () => {
  it("that a glob is empty says nothing of the wildcard requested with it [C-WILD-12] [C-GLOB-8]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [glob, all] = await ask(PART, ns("*"), "*");
    server.reply(PART, { removed: [ns("*")] });
    clock.advance(14_999);
    expect([glob?.topic.settled, all?.topic.settled]).toEqual([true, false]);
  });

  it("that a name does not exist says nothing of its glob [C-WILD-12] [C-GLOB-9]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [x, glob] = await ask(PART, ns("x"), ns("*"));
    server.reply(PART, { removed: [ns("x")] });
    clock.advance(14_999);
    expect([x?.now, glob?.now]).toEqual([`${ns("x")}!`, "pending"]);
  });
});

describe("globs in SotW", () => {
  it("are asked for where the type is of full state, and each response has all members [C-GLOB-10]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [glob] = await ask(FULL, ns("*", "Full"));
    expect(server.next().names).toEqual([ns("*", "Full")]);
    server.reply(FULL, {
      resources: ["x", "y"].map((id) => ({ name: ns(id, "Full"), text: "1" })),
    });
    expect([glob?.topic.settled, glob?.topic.members().length]).toEqual([true, 2]);
    server.reply(FULL, { resources: [{ name: ns("y", "Full"), text: "1" }] });
    expect(glob?.now).toBe(`${ns("y", "Full")}=1`);
    server.reply(FULL, {});
    expect(glob?.now).toBe(`${ns("*", "Full")}!`);
  });

  it("are not asked for where nothing can say what leaves them, and say so [C-GLOB-10]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [glob] = await ask(PART, ns("*"));
    expect([server.raw.streams, glob?.topic.stale?.text]).toEqual([
      0,
      expect.stringContaining("SotW cannot report removals from a glob"),
    ]);
    expect(madeUpTypes.find(({ typeUrl }) => typeUrl === PART)?.fullStateInSotw).toBeUndefined();
  });
});

describe.each(["delta", "sotw"] as const)("dynamic parameters (%s)", (variant) => {
  const E = { env: "prod" };

  it("what has parameters is asked for by a locator, beside plain names [C-DYN-1]", async () => {
    const { watch, server } = createClientWorld(variant);
    watch(PART, "a", E);
    watch(PART, "b");
    await turn();
    expect(server.rest()).toMatchObject([{ names: ["b"], locators: [["a", E]] }]);
  });

  it("a name with two sets of parameters is two subscriptions, and each gets the variant that matches [C-DYN-1] [B-DYN-3]", async () => {
    const { watch, server } = createClientWorld(variant);
    const prod = watch(PART, "a", E);
    const test = watch(PART, "a", { env: "test" });
    await turn();
    expect(server.next().locators).toEqual([
      ["a", E],
      ["a", { env: "test" }],
    ]);
    server.reply(PART, {
      resources: [
        { name: "a", text: "p", constraints: { key: "env", value: "prod" } },
        { name: "a", text: "t", constraints: { key: "env", value: "test" } },
      ],
    });
    expect([prod.now, test.now, server.next().error]).toEqual(["a=p", "a=t", undefined]);
    expect(prod.topic.get("a")?.resource?.constraints?.length).toBeGreaterThan(0);
    prod.stop();
    await turn();
    if (variant === "sotw") expect(server.next().locators).toEqual([["a", { env: "test" }]]);
    else expect(server.rest()).toHaveLength(1);
  });

  it("a variant that is not for the client is ignored and counted [C-DYN-7]", async () => {
    const { watch, server, feed, cache } = createClientWorld(variant);
    const a = watch(PART, "a", E);
    await turn();
    server.rest();
    server.reply(PART, {
      resources: [{ name: "a", text: "t", constraints: { key: "env", value: "test" } }],
    });
    expect([
      a.now,
      server.next().error,
      feed.status().counts.ignored,
      cache.counters.resources,
    ]).toEqual(["pending", undefined, 1, 0]);
    server.reply(PART, {
      resources: [{ name: "a", text: "p", constraints: { key: "env", value: "prod" } }],
    });
    expect(a.now).toBe("a=p");
  });

  it("constraints on what the client does not say are for the server to judge [C-DYN-7]", async () => {
    const { watch, server, cache } = createClientWorld(variant);
    watch(PART, "a", E);
    await turn();
    server.reply(PART, {
      resources: [{ name: "a", text: "t", constraints: { key: "zone", value: "b" } }],
    });
    expect(cache.counters.resources).toBe(1);
  });
});
