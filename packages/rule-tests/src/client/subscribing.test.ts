import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn } from "./harness/client-world.ts";

const X = "xdstp://a/test.Part/x";

describe.each(["delta", "sotw"] as const)("subscribing (%s)", (variant) => {
  it("what was not asked for is ignored, good or bad, and the response accepted [C-SUB-8]", async () => {
    const { ask, server, cache, feed } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.rest();
    server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "extra" },
        { name: "worse", payloadType: FULL },
      ],
    });
    expect(server.next().error).toBeUndefined();
    expect([a?.now, cache.counters.resources, feed.status().counts.ignored]).toEqual(["a=1", 1, 2]);
  });

  it("a thousand watches of one turn are one request; the last watcher to go ends a name [C-SUB-10]", async () => {
    const { ask, watch, server } = createClientWorld(variant);
    const names = Array.from({ length: 1_000 }, (_, n) => `name${n}`);
    const [first] = await ask(PART, ...names);
    expect(server.rest().map(({ names: { length } }) => length)).toEqual([1_000]);
    const second = watch(PART, "name0");
    first?.stop();
    await turn();
    expect(server.rest()).toEqual([]);
    second.stop();
    await turn();
    const [last, ...more] = server.rest();
    expect(variant === "delta" ? last?.dropped : last?.names).toEqual(
      variant === "delta" ? ["name0"] : names.slice(1),
    );
    expect(more).toEqual([]);
  });

  it("opaque names and xdstp names go in one request [B-SUB-12]", async () => {
    const { ask, server } = createClientWorld(variant);
    const watched = await ask(PART, "a", X);
    expect(server.rest().map(({ names }) => names)).toEqual([["a", X]]);
    server.reply(PART, {
      resources: [
        { name: X, text: "1" },
        { name: "a", text: "1" },
      ],
    });
    expect(watched.map(({ now }) => now)).toEqual(["a=1", `${X}=1`]);
  });

  it("a name that is dropped while its response is on the way is not kept [C-SUB-8]", async () => {
    const { ask, server, cache } = createClientWorld(variant);
    const [a] = await ask(PART, "a", "b");
    server.rest();
    a?.stop();
    await turn();
    server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
      ],
    });
    await turn();
    expect([cache.counters.resources, server.rest().length]).toEqual([1, 2]);
  });

  it("ten thousand names are one request and one timer [C-SUB-10] [C-MISS-4]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const before = clock.pending;
    const names = Array.from({ length: 10_000 }, (_, n) => `name${n}`);
    const watched = await ask(PART, ...names);
    expect([server.rest().length, clock.pending - before]).toEqual([1, 1]);
    server.reply(PART, { resources: names.map((name) => ({ name, text: "1" })) });
    expect(new Set(watched.map(({ now }) => now.replace(/\d+=/, "=")))).toEqual(
      new Set(["name=1"]),
    );
  });

  it("nothing wanted, nothing sent: not even a stream is opened [C-DSUB-11]", async () => {
    const { watch, server } = createClientWorld(variant);
    await turn();
    watch(PART, "a").stop();
    await turn();
    expect(server.raw.streams).toBe(0);
    watch(PART, "b");
    await turn();
    expect(server.rest().map(({ typeUrl, names }) => [typeUrl, names])).toEqual([[PART, ["b"]]]);
  });

  it("a type of which all names are unsubscribed says nothing on a new stream [C-DSUB-11]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = [...(await ask(PART, "a")), ...(await ask(FULL, "x"))];
    a?.stop();
    await turn();
    server.rest();
    server.raw.close();
    clock.advance(2_000);
    await turn();
    expect(server.rest().map(({ typeUrl }) => typeUrl)).toEqual([FULL]);
  });

  it("a new stream asks for all that is wanted [C-DSUB-8]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    await ask(PART, "a", "b");
    await ask(PART, "c");
    server.reply(PART, { resources: [{ name: "a" }] });
    server.rest();
    server.raw.close();
    clock.advance(2_000);
    await turn();
    expect(server.rest().map(({ names, nonce }) => [names, nonce])).toEqual([
      [["a", "b", "c"], ""],
    ]);
  });
});

describe("nonces and names in SotW", () => {
  it("every request has the newest nonce of its type, and none before the first response [C-NONCE-3]", async () => {
    const { ask, server } = createClientWorld("sotw");
    await ask(PART, "a");
    await ask(PART, "b");
    server.reply(PART, { nonce: "n1", resources: [{ name: "a" }] });
    await ask(PART, "c");
    await ask(FULL, "x");
    server.reply(PART, { nonce: "n2", resources: [{ name: "b" }] });
    await ask(PART, "d");
    expect(
      server.rest().map(({ typeUrl, nonce, names }) => [typeUrl, nonce, names.length]),
    ).toEqual([
      [PART, "", 1],
      [PART, "", 2],
      [PART, "n1", 2],
      [PART, "n1", 3],
      [FULL, "", 1],
      [PART, "n2", 3],
      [PART, "n2", 4],
    ]);
  });

  it("the nonce of a type is kept when nothing of it is wanted, and used when something is again [C-NONCE-4]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [a] = await ask(PART, "a");
    server.reply(PART, { nonce: "n1", version: "v1", resources: [{ name: "a" }] });
    server.rest();
    a?.stop();
    await turn();
    expect(server.next()).toMatchObject({ nonce: "n1", version: "v1", names: [] });
    await ask(PART, "b");
    expect(server.next()).toMatchObject({ nonce: "n1", version: "v1", names: ["b"] });
  });
});

describe("names that go and come back in SotW", () => {
  it("a name dropped and wanted again before the next request is left out of one, since the server sends only what is new in the list [C-DSUB-4]", async () => {
    const { feed, server } = createClientWorld("sotw");
    await turn();
    feed.want(PART, [{ name: "a" }, { name: "b" }], []);
    await turn();
    feed.want(PART, [], [{ name: "a" }]);
    feed.want(PART, [{ name: "a" }], []);
    await turn();
    expect(server.rest().map(({ names }) => names)).toEqual([["a", "b"], ["b"], ["b", "a"]]);
  });

  it("what is new when a glob is asked for anew is left out with it: else a state would come of a member without the others [C-DSUB-4]", async () => {
    const [glob, member] = ["xdstp://a/test.Full/g/*", "xdstp://a/test.Full/g/m"];
    const { feed, server } = createClientWorld("sotw");
    await turn();
    feed.want(FULL, [{ name: glob }, { name: "b" }], []);
    await turn();
    feed.want(FULL, [{ name: glob }, { name: member }], [{ name: glob }]);
    await turn();
    expect(server.rest().map(({ names }) => names)).toEqual([
      [glob, "b"],
      ["b"],
      ["b", glob, member],
    ]);
  });

  it("one that comes back and gets no answer is asked for anew before it is taken for missing: its end may have crossed a response [C-MISS-4]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    const [a] = await ask(PART, "a", "b");
    server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
      ],
    });
    a?.stop();
    await turn();
    const [again] = await ask(PART, "a");
    server.rest();
    clock.advance(15_000);
    await turn();
    expect([server.rest().map(({ names }) => names), again?.now]).toEqual([
      [["b"], ["b", "a"]],
      "pending",
    ]);
    clock.advance(15_000);
    await turn();
    expect([server.rest(), again?.now]).toEqual([[], "a!NOT_FOUND"]);
  });

  it("a wildcard that was an empty list is left by way of *, so that the empty list means nothing [C-WILD-9]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [all] = await ask(FULL, "*");
    all?.stop();
    await turn();
    await ask(FULL, "*");
    expect(server.rest().map(({ names }) => names)).toEqual([[], ["*"], [], ["*"]]);
  });

  it("a wildcard that nothing is held of gives no version, or the server would take it for known [C-VER-6]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    const [all] = await ask(FULL, "*");
    server.reply(FULL, { version: "v1", resources: [{ name: "a" }] });
    all?.stop();
    await turn();
    server.raw.close();
    await ask(FULL, "*");
    clock.advance(1_000);
    await turn();
    expect(server.next()).toMatchObject({ names: [], version: "" });
    server.reply(FULL, { version: "v1", resources: [{ name: "a" }] });
    server.raw.close();
    clock.advance(1_000);
    await turn();
    expect(server.next()).toMatchObject({ names: [], version: "v1" });
  });
});

describe("nonces and names in delta", () => {
  it("a request that answers nothing has no nonce [C-NONCE-10]", async () => {
    const { ask, server } = createClientWorld("delta");
    await ask(PART, "a");
    server.reply(PART, { nonce: "n1", resources: [{ name: "a" }] });
    await ask(PART, "b");
    expect(server.rest().map(({ nonce }) => nonce)).toEqual(["", "n1", ""]);
  });

  it("a name dropped and wanted again before the next request is subscribed to, in any spelling [C-DSUB-4]", async () => {
    const { feed, server } = createClientWorld("delta");
    await turn();
    feed.want(PART, [{ name: "a" }, { name: X }], []);
    await turn();
    server.rest();
    feed.want(PART, [], [{ name: "a" }, { name: X }]);
    feed.want(PART, [{ name: "a" }, { name: "xdstp://a/test.Part/%78" }], []);
    await turn();
    expect(server.rest()).toMatchObject([{ names: ["a", "xdstp://a/test.Part/%78"], dropped: [] }]);
  });

  it("wanted and dropped before a request is nothing [C-DSUB-4]", async () => {
    const { feed, ask, server } = createClientWorld("delta");
    await ask(PART, "a");
    server.rest();
    feed.want(PART, [{ name: "b" }], []);
    feed.want(PART, [], [{ name: "b" }]);
    await turn();
    expect(server.rest()).toEqual([]);
  });

  it("only what has changed is said, however much is wanted [C-DSUB-8]", async () => {
    const { ask, server } = createClientWorld("delta");
    await ask(PART, ...Array.from({ length: 500 }, (_, n) => `name${n}`));
    server.rest();
    await ask(PART, "one");
    expect(server.rest()).toMatchObject([{ names: ["one"], versions: {} }]);
  });
});

describe.each(["delta", "sotw"] as const)("wildcard (%s)", (variant) => {
  it("alone at first it is the empty list, else * among the names [C-WILD-9]", async () => {
    const { ask, server } = createClientWorld(variant);
    await ask(PART, "*");
    await ask(FULL, "*", "a");
    expect(server.rest().map(({ names }) => names)).toEqual([[], ["*", "a"]]);
    await ask(PART, "b");
    // The empty list cannot be gone back to once there was a name.
    expect(server.rest().map(({ names }) => names)).toEqual([
      variant === "delta" ? ["b"] : ["*", "b"],
    ]);
  });

  it("a type without the older meaning of the empty list gets * [C-WILD-9]", async () => {
    const { ask, server } = createClientWorld(variant, {
      types: [{ typeUrl: PART, legacyWildcard: false }],
    });
    await ask(PART, "*");
    expect(server.next().names).toEqual(["*"]);
  });

  it("a member cannot be dropped: it was not wanted by itself [C-WILD-10]", async () => {
    const { ask, feed, server, watch } = createClientWorld(variant);
    const [all] = await ask(PART, "*");
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    server.rest();
    feed.want(PART, [], [{ name: "a" }]);
    await turn();
    expect([all?.topic.members().length, server.rest()]).toEqual([1, []]);
    const a = watch(PART, "a");
    await turn();
    a.stop();
    await turn();
    server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    expect(all?.topic.get("a")?.resource?.version).toBe("n2");
  });
});

describe("wildcard of full state in SotW", () => {
  it("a name that is not in a response does not exist, at once; the timer guards against silence [C-WILD-11]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    const [all, a, b] = await ask(FULL, "*", "a", "b");
    server.reply(FULL, { resources: [{ name: "b", text: "1" }] });
    expect([all?.now, a?.now, b?.now]).toEqual(["b=1", "a!", "b=1"]);
    const silent = createClientWorld("sotw");
    const [none] = await silent.ask(FULL, "*");
    silent.clock.advance(15_000);
    expect([none?.now, clock.now()]).toEqual(["", 0]);
  });
});
