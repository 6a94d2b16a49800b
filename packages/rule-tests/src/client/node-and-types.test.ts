import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn } from "./harness/client-world.ts";

const typed = (type: string, id: string): string => `xdstp://a/${type}/${id}`;

describe.each(["delta", "sotw"] as const)("node (%s)", (variant) => {
  it("the first request of each stream has the node, and no other [C-NODE-1]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    await ask(PART, "a");
    await ask(FULL, "x");
    server.reply(PART, { resources: [{ name: "a" }] });
    expect(server.rest().map(({ node }) => node)).toEqual(["me", undefined, undefined]);
    server.raw.close();
    clock.advance(2_000);
    await turn();
    expect(server.rest().map(({ node }) => node)).toEqual(["me", undefined]);
  });

  it("a node that has changed is sent once more, with the next request [C-NODE-4]", async () => {
    const nodes = [Buffer.from("\x0a\x01A"), Buffer.from("\x0a\x01B")];
    let current = 0;
    const { ask, server, feed } = createClientWorld(variant, {
      client: { node: () => nodes[current] ?? Buffer.of() },
    });
    await ask(PART, "a");
    await ask(PART, "b");
    current = 1;
    feed.nodeChanged();
    await ask(PART, "c");
    await ask(PART, "d");
    expect(server.rest().map(({ node }) => node)).toEqual(["A", undefined, "B", undefined]);
  });

  it("the identifier of the control plane is in the status, and nothing comes of it [B-NODE-9]", async () => {
    const { ask, server, feed } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.reply(PART, { resources: [{ name: "a" }], identifier: "istiod-1" });
    expect([feed.status().controlPlane, a?.now]).toEqual(["istiod-1", "a="]);
    server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    expect([feed.status().controlPlane, a?.now]).toEqual(["", "a=2"]);
  });
});

describe.each(["delta", "sotw"] as const)("type URL (%s)", (variant) => {
  it("a payload of another type rejects its resource, not those beside it [C-TYPE-4]", async () => {
    const { ask, server } = createClientWorld(variant);
    const watched = await ask(PART, "a", "b", "c");
    server.rest();
    server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1", payloadType: FULL },
        { name: "c", text: "1" },
      ],
    });
    expect(watched.map(({ now }) => now)).toEqual(["a=1", "pending ~INVALID_ARGUMENT", "c=1"]);
    const { error } = server.next();
    expect(error?.message).toMatch(/^"b": its payload has the type .*test\.Full/);
  });

  it("a redirect may have another type [C-TYPE-4]", async () => {
    const { ask, server } = createClientWorld(variant);
    await ask(PART, "a");
    server.rest();
    server.reply(PART, {
      resources: [
        { name: "a", text: "1", payloadType: "type.googleapis.com/xds.core.v3.ResourceLocator" },
      ],
    });
    expect(server.next().error).toBeUndefined();
  });

  it("an xdstp name of another type is not asked for, and says why as long as it is wanted, also after an outage [B-TYPE-5]", async () => {
    const said: (string | undefined)[] = [];
    const { feed, server, clock } = createClientWorld(variant, {
      sink: (sink) => ({
        commit: (transaction) => sink.commit(transaction),
        held: (...what) => sink.held(...what),
        unavailable: ({ interest }, error) => {
          if (interest?.name !== "a") said.push(error?.text);
        },
      }),
    });
    const wrong = { name: typed("test.Other", "x") };
    await turn();
    feed.want(PART, [wrong, { name: "a" }], []);
    await turn();
    expect(server.rest().map(({ names }) => names)).toEqual([["a"]]);
    server.raw.close();
    clock.advance(2_000);
    await turn();
    server.rest();
    server.reply(PART, { resources: [{ name: "a" }] });
    feed.want(PART, [], [wrong]);
    const why = expect.stringMatching(/has the type test.Other/) as string;
    expect(said).toEqual([
      why,
      expect.stringMatching(/has answered nothing/),
      undefined,
      why,
      undefined,
    ]);
  });

  it("a resource whose name has another type is rejected [B-TYPE-5]", async () => {
    const { ask, server } = createClientWorld(variant);
    await ask(PART, "*");
    server.rest();
    server.reply(PART, {
      resources: [{ name: typed("test.Other", "x") }, { name: typed("test.Part", "x") }],
    });
    expect(server.next().error?.message).toMatch(
      /^"xdstp:\/\/a\/test.Other\/x": its name has the type test.Other/,
    );
  });

  it("a response of a type that was never asked for is counted and not answered; of one that was unsubscribed it is accepted [C-TYPE-7]", async () => {
    const { ask, server, feed, events } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.rest();
    server.reply(FULL, { resources: [{ name: "x" }] });
    await turn();
    expect([server.rest(), feed.status().counts.ignored, events.at(-1)]).toEqual([
      [],
      1,
      { kind: "ignored", typeUrl: FULL, names: 0 },
    ]);
    a?.stop();
    await turn();
    server.rest();
    const nonce = server.reply(PART, { resources: [{ name: "a" }] });
    const answer = server.next();
    expect([answer.nonce, answer.error, server.rest()]).toEqual([nonce, undefined, []]);
  });

  it("what was asked for on an earlier stream only was not asked for on this one [C-TYPE-7]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = [...(await ask(PART, "a")), ...(await ask(FULL, "x"))];
    server.raw.close();
    a?.stop();
    await turn();
    clock.advance(2_000);
    await turn();
    server.rest();
    server.reply(PART, { resources: [{ name: "a" }] });
    expect(server.rest()).toEqual([]);
  });
});

describe.each(["delta", "sotw"] as const)("versions (%s)", (variant) => {
  it("the same nonce on two types and on two streams is two [B-NONCE-2]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    await ask(PART, "a");
    await ask(FULL, "x");
    server.rest();
    server.reply(PART, { nonce: "same", resources: [{ name: "a" }] });
    server.reply(FULL, { nonce: "same", resources: [{ name: "x" }] });
    expect(server.rest().map(({ typeUrl, nonce }) => [typeUrl, nonce])).toEqual([
      [PART, "same"],
      [FULL, "same"],
    ]);
    server.raw.close();
    clock.advance(2_000);
    await turn();
    expect(server.rest().map(({ nonce }) => nonce)).toEqual(["", ""]);
    server.reply(PART, { nonce: "same", resources: [{ name: "a" }] });
    expect(server.rest().map(({ nonce }) => nonce)).toEqual(["same"]);
  });

  it("versions are compared for equality only [B-VER-1]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    for (const version of ["10", "9", "b"]) {
      server.reply(PART, { version, resources: [{ name: "a", text: version }] });
      expect(a?.now).toBe(`a=${version}`);
    }
  });
});

describe("versions in SotW", () => {
  it("the first request of a new stream has the last accepted version, and that of another server has none [C-VER-6]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    await ask(PART, "a");
    server.reply(PART, { version: "v1", resources: [{ name: "a" }] });
    server.reply(PART, { version: "v2", resources: [{ name: "a", payloadType: FULL }] });
    server.raw.close();
    server.rest();
    clock.advance(2_000);
    await turn();
    expect(server.next()).toMatchObject({ version: "v1", nonce: "" });
    const other = createClientWorld("sotw");
    await other.ask(PART, "a");
    expect(other.server.next().version).toBe("");
  });

  it("canary is shown, and nothing comes of it [B-VER-8]", async () => {
    const { ask, server, status } = createClientWorld("sotw");
    const [a] = await ask(PART, "a");
    server.reply(PART, { canary: true, resources: [{ name: "a", text: "1" }] });
    expect([status(PART).canary, a?.now]).toEqual([true, "a=1"]);
    server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    expect([status(PART).canary, a?.now]).toEqual([false, "a=2"]);
  });
});

describe("versions in delta", () => {
  it("no decision is taken from system_version_info [S-VER-3]", async () => {
    const { ask, server } = createClientWorld("delta");
    const [a] = await ask(PART, "a");
    for (const text of ["1", "2"])
      server.reply(PART, { version: "constant", resources: [{ name: "a", version: text, text }] });
    expect(a?.now).toBe("a=2");
  });
});
