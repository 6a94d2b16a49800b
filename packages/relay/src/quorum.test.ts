import type { Policy } from "@xdstp/policy";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../test/flag.ts";
import { useDir } from "../../snapshot/test/snapshots.ts";
import { useWorld, type RelayWorld, type WorldOptions } from "../test/relay-world.ts";
import { accepts, openVoter, rejects, silent, talk, type Voter } from "../../rollout/test/voter.ts";
import type { Variant } from "../../rollout/test/wire-bytes.ts";

const pairs = [
  ["delta", "delta"],
  ["delta", "sotw"],
  ["sotw", "delta"],
  ["sotw", "sotw"],
] as const;

interface Poll {
  readonly world: RelayWorld;
  readonly voters: readonly Voter[];
  /** Sends these texts from upstream, and returns the nonce. */
  readonly say: (texts: Readonly<Record<string, string>>) => string;
  readonly talk: (more?: readonly Voter[]) => Promise<void>;
  /**
   * Returns the answers to upstream since the previous call: "ACK", or the error, for each
   * response.
   */
  readonly answers: () => readonly string[];
  readonly held: () => readonly (string | undefined)[];
}

/** Clients of one interest; all of them have the flag `x` with the text `1`. */
async function poll({
  up = "delta",
  down = "delta",
  ids = ["a", "b", "c", "d"],
  asks = ["x"],
  start = { x: "1" },
  ...options
}: Partial<WorldOptions> & {
  readonly up?: Variant;
  readonly down?: Variant;
  readonly ids?: readonly string[];
  readonly asks?: readonly string[];
  readonly start?: Readonly<Record<string, string>>;
} = {}): Promise<Poll> {
  const world = useWorld({
    upstream: up,
    ...options,
    relay: { quorum: { clients: 2 }, ...options.relay },
  });
  const voters = ids.map((id) => openVoter(world, down, id));
  for (const voter of voters) voter.ask(flagUrl, ...asks.map((name) => flagName(name)));
  const say: Poll["say"] = (texts) =>
    world.up.reply(flagUrl, {
      resources: Object.entries(texts).map(([name, text]) => ({
        name: flagName(name),
        text,
        version: text,
      })),
    });
  const talkAll: Poll["talk"] = async (more = []) => talk(world, [...voters, ...more]);
  const answers = (): readonly string[] =>
    world.up
      .requests()
      .filter(({ nonce }) => nonce !== "")
      .map(({ error }) => error ?? "ACK");
  await talkAll();
  say(start);
  await talkAll();
  await world.pass(1_000);
  await talkAll();
  answers();
  for (const { seen } of voters) seen.length = 0;
  return {
    world,
    voters,
    say,
    talk: talkAll,
    answers,
    held: () => voters.map(({ holds }) => holds.get("x")),
  };
}

const seenBy = (voters: readonly Voter[]): readonly (readonly string[])[] =>
  voters.map(({ seen }) => [...seen]);
const set = (voter: Voter | undefined, verdict: Voter["verdict"]): void => {
  if (voter !== undefined) voter.verdict = verdict;
};

describe("a relay with a quorum", () => {
  it.each(pairs)(
    "shows what has changed to the first clients first, and to all once so many have accepted it (up %s, down %s) [B-RELAY-5]",
    async (up, down) => {
      const { world, voters, say, talk: go, answers, held } = await poll({ up, down });
      set(voters[1], silent);
      say({ x: "2" });
      await go();
      expect([seenBy(voters), answers()]).toEqual([[["x=2"], ["x=2"], [], []], []]);
      expect(
        world.relay.cache.topic(flagUrl, { name: flagName("x") }).get(flagName("x"))?.resource
          ?.version,
      ).toBe("1");
      set(voters[1], accepts);
      await go();
      expect([seenBy(voters), answers(), held()]).toEqual([
        [["x=2"], ["x=2"], ["x=2"], ["x=2"]],
        ["ACK"],
        ["2", "2", "2", "2"],
      ]);
    },
  );

  it.each(pairs)(
    "rejects upstream what one of them rejects, with the name and its reason, and nobody else ever sees it (up %s, down %s) [B-RELAY-5] [B-RELAY-6]",
    async (up, down) => {
      const { voters, say, talk: go, answers, held, world } = await poll({ up, down });
      set(voters[1], rejects("bad"));
      say({ x: "bad" });
      await go();
      expect(answers()).toEqual([
        expect.stringMatching(/acme\.v1\.Flag\/x.*node b.*cannot use bad/),
      ]);
      expect(seenBy(voters)).toEqual([["x=bad", "x=1"], ["x=bad", "x=1"], [], []]);
      expect(held()).toEqual(["1", "1", "1", "1"]);
      expect(world.relay.rejections()).toMatchObject([
        {
          typeUrl: flagUrl,
          name: flagName("x"),
          version: "bad",
          clients: 1,
          among: 1,
          reason: "cannot use bad",
          since: world.clock.now(),
        },
      ]);
      say({ x: "3" });
      await go();
      expect([answers(), held()]).toEqual([["ACK"], ["3", "3", "3", "3"]]);
    },
  );

  it.each(pairs)(
    "takes silence for acceptance when the time is over, and the answer upstream waits no longer (up %s, down %s) [B-RELAY-5]",
    async (up, down) => {
      const { world, voters, say, talk: go, answers } = await poll({ up, down });
      for (const voter of voters.slice(0, 2)) set(voter, silent);
      say({ x: "2" });
      await go();
      await world.pass(9_999);
      await go();
      expect([seenBy(voters).slice(2), answers()]).toEqual([[[], []], []]);
      await world.pass(1);
      await go();
      expect([seenBy(voters).slice(2), answers()]).toEqual([[["x=2"], ["x=2"]], ["ACK"]]);
    },
  );

  it("asks nobody where nobody is interested any more, or nobody can be told from others [B-RELAY-5]", async () => {
    const { world, voters, say, answers, talk: go } = await poll({ ids: ["a"] });
    voters[0]?.stream.cancel();
    const nameless = openVoter(world, "delta", "");
    nameless.ask(flagUrl, flagName("x"));
    await go([nameless]);
    say({ x: "2" });
    await go([nameless]);
    expect([answers(), nameless.holds.get("x")]).toEqual([["ACK"], "2"]);
  });

  it("waits for nobody else where there are fewer clients than it asks [B-RELAY-5]", async () => {
    const {
      voters,
      say,
      talk: go,
      answers,
      held,
    } = await poll({ ids: ["a"], relay: { quorum: {} } });
    say({ x: "2" });
    await go();
    expect([answers(), held()]).toEqual([["ACK"], ["2"]]);
    set(voters[0], rejects("3"));
    say({ x: "3" });
    await go();
    expect([answers(), held()]).toEqual([[expect.stringContaining("cannot use 3")], ["2"]]);
  });

  it("counts a client once, however many streams it has [B-RELAY-5]", async () => {
    const { voters, say, talk: go, answers } = await poll({ ids: ["a", "a", "b", "c"] });
    set(voters[2], silent);
    say({ x: "2" });
    await go();
    expect([seenBy(voters), answers()]).toEqual([[["x=2"], ["x=2"], ["x=2"], []], []]);
    set(voters[2], accepts);
  });

  it.each(pairs)(
    "gives everyone at once what else was in the response: what is new to all, and what went (up %s, down %s) [B-RELAY-5]",
    async (up, down) => {
      const {
        world,
        voters,
        say,
        talk: go,
        answers,
      } = await poll({ up, down, asks: ["x", "y", "z"], start: { x: "1", y: "1" } });
      for (const voter of voters.slice(0, 2)) set(voter, silent);
      for (const voter of voters) voter.seen.length = 0;
      if (up === "delta")
        world.up.reply(flagUrl, {
          resources: [{ name: flagName("x"), text: "2" }],
          removed: [flagName("y")],
        });
      else say({ x: "2", y: "1" });
      await go();
      if (up === "delta" && down === "delta")
        expect(seenBy(voters).slice(2)).toEqual([["y gone"], ["y gone"]]);
      else expect(seenBy(voters).slice(2).flat()).not.toContain("x=2");
      expect(answers()).toEqual([]);
      await world.pass(10_000);
      await go();
      expect([answers(), voters.slice(2).map(({ holds }) => holds.get("x"))]).toEqual([
        ["ACK"],
        ["2", "2"],
      ]);
    },
  );

  it.each(pairs)(
    "finds out which of two is bad, though a client rejects the whole response (up %s, down %s) [B-RELAY-5]",
    async (up, down) => {
      for (const bad of ["x", "y"]) {
        const {
          world,
          voters,
          say,
          talk: go,
          answers,
        } = await poll({ up, down, asks: ["x", "y"], start: { x: "1", y: "1" } });
        set(voters[1], rejects("bad"));
        const texts = { x: "2", y: "2", [bad]: "bad" };
        say(texts);
        await go();
        const [answer, ...others] = answers();
        expect([answer, others]).toEqual([
          expect.stringMatching(new RegExp(`Flag/${bad}".*cannot use bad`)),
          [],
        ]);
        expect(answer).not.toContain(`Flag/${bad === "x" ? "y" : "x"}"`);
        for (const { holds } of voters)
          expect(Object.fromEntries(holds)).toEqual({ ...texts, [bad]: "1" });
        expect(seenBy(voters).slice(2).flat()).not.toContain(`${bad}=bad`);
        await world.relay.close();
      }
    },
  );

  it("finds each bad one of many, without the time being over [B-RELAY-5]", async () => {
    const names = Array.from({ length: 9 }, (_, index) => `n${index}`);
    const all = (text: (name: string) => string): Record<string, string> =>
      Object.fromEntries(names.map((name) => [name, text(name)]));
    const { voters, say, talk: go, answers } = await poll({ asks: names, start: all(() => "1") });
    const bad = new Set(["n2", "n3", "n8"]);
    set(voters[0], rejects("bad"));
    say(all((name) => (bad.has(name) ? "bad" : "2")));
    await go();
    const [answer = ""] = answers();
    expect(names.filter((name) => answer.includes(`Flag/${name}"`))).toEqual([...bad]);
    for (const { holds } of voters)
      expect(Object.fromEntries(holds)).toEqual(all((name) => (bad.has(name) ? "1" : "2")));
  });

  it("rejects what was rejected together with others and is not cleared in time [B-RELAY-5]", async () => {
    const {
      world,
      voters,
      say,
      talk: go,
      answers,
      held,
    } = await poll({ asks: ["x", "y"], start: { x: "1", y: "1" } });
    const reason = rejects("bad");
    set(voters[1], (answer) => {
      set(voters[1], silent);
      return reason(answer);
    });
    say({ x: "bad", y: "2" });
    await go();
    expect(answers()).toEqual([]);
    await world.pass(10_000);
    await go();
    expect([answers(), held().slice(2)]).toEqual([
      [expect.stringMatching(/Flag\/x.*Flag\/y/)],
      ["1", "1"],
    ]);
  });

  it("does not mistake a client that rejects something older for one that rejects this [B-RELAY-5]", async () => {
    const {
      world,
      voters,
      say,
      talk: go,
      answers,
      held,
    } = await poll({ asks: ["x", "y"], start: { x: "1" } });
    set(voters[0], rejects("odd"));
    say({ y: "odd" });
    await go();
    answers();
    say({ x: "2" });
    await go();
    await world.pass(10_000);
    await go();
    expect([answers(), held().slice(1)]).toEqual([["ACK"], ["2", "2", "2"]]);
  });

  it("takes a client that leaves for silent, and gives its place to the next one when nothing is on trial [B-RELAY-5]", async () => {
    const { world, voters, say, talk: go, answers } = await poll();
    set(voters[1], silent);
    say({ x: "2" });
    await go();
    voters[1]?.stream.cancel();
    await go();
    expect([seenBy(voters).slice(2), answers()]).toEqual([[[], []], []]);
    await world.pass(10_000);
    await go();
    expect([seenBy(voters).slice(2), answers()]).toEqual([[["x=2"], ["x=2"]], ["ACK"]]);
    set(voters[2], rejects("bad"));
    say({ x: "bad" });
    await go();
    expect(seenBy(voters).slice(2)).toEqual([["x=2", "x=bad", "x=2"], ["x=2"]]);
    expect(answers()).toEqual([expect.stringContaining("node c")]);
  });

  it("loses nothing that a client has not read when its turn comes [B-RELAY-5]", async () => {
    const { voters, say, talk: go, world } = await poll();
    voters[2]?.stream.fill();
    set(voters[2], silent);
    say({ x: "2" });
    await go();
    voters[1]?.stream.cancel();
    say({ x: "3" });
    await world.settle();
    set(voters[2], accepts);
    voters[2]?.stream.drain();
    await go();
    expect(voters[2]?.holds.get("x")).toBe("3");
  });

  it("lets clients of globs see their members first [B-RELAY-5]", async () => {
    const {
      voters,
      say,
      talk: go,
      answers,
    } = await poll({ asks: ["g/*"], start: { "g/x": "1", "g/y": "1" } });
    set(voters[0], rejects("bad"));
    say({ "g/x": "bad", "g/y": "2" });
    await go();
    expect(seenBy(voters).slice(2).flat()).not.toContain("x=bad");
    for (const { holds } of voters) expect([holds.get("x"), holds.get("y")]).toEqual(["1", "2"]);
    expect(answers().at(-1)).toMatch(/Flag\/g\/x.*cannot use bad/);
  });

  it("lets clients of a glob see a new member first, and takes it back [B-RELAY-5]", async () => {
    const { voters, say, talk: go, answers } = await poll({ asks: ["g/*"], start: { "g/x": "1" } });
    set(voters[0], rejects("bad"));
    say({ "g/new": "bad" });
    await go();
    expect([seenBy(voters).slice(0, 2), seenBy(voters).slice(2)]).toEqual([
      [
        ["new=bad", "new gone"],
        ["new=bad", "new gone"],
      ],
      [[], []],
    ]);
    expect(answers()).toEqual([expect.stringMatching(/g\/new.*cannot use bad/)]);
    say({ "g/new": "2" });
    await go();
    expect(voters.map(({ holds }) => holds.get("new"))).toEqual(["2", "2", "2", "2"]);
  });

  it.each(pairs)(
    "keeps `*` of SotW whole for everyone while one of its members is on trial (up %s, down %s) [B-RELAY-5]",
    async (up, down) => {
      const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
      const world = useWorld({
        upstream: up,
        relay: { opaqueKey: ["cluster"], quorum: { clients: 2 } },
      });
      const voters = ["a", "b", "c"].map((id) => openVoter(world, down, id));
      const state = (texts: Readonly<Record<string, string>>): void => {
        world.up.reply(clusterUrl, {
          resources: Object.entries(texts).map(([name, text]) => ({
            name,
            text: `\n\u0001${name}${text}`,
            version: text,
          })),
        });
      };
      for (const voter of voters) voter.ask(clusterUrl, "*");
      await talk(world, voters);
      state({ p: "1", q: "1" });
      await talk(world, voters);
      await world.pass(1_000);
      await talk(world, voters);
      for (const { seen } of voters) seen.length = 0;
      set(voters[1], ({ shown }) =>
        shown.some((one) => one.endsWith("bad")) ? "cannot use bad" : undefined,
      );
      state(up === "delta" ? { q: "bad" } : { p: "1", q: "bad" });
      await talk(world, voters);
      expect(voters[2]?.seen.join()).not.toContain("bad");
      expect(world.up.requests().at(-1)?.error).toMatch(/"q".*cannot use bad/);
      // Unwrapped resources of SotW have no name outside of their payload.
      const shownLast = ({ holds, seen }: Voter): readonly string[] =>
        (down === "delta" ? [...holds.values()] : seen.slice(-2)).map((text) => text.slice(-2));
      for (const voter of voters.slice(0, 2)) expect(shownLast(voter)).toEqual(["p1", "q1"]);
    },
  );

  it("encodes once for those who see first and once for all others, and asks upstream once [B-RELAY-1] [B-RELAY-5]", async () => {
    const { world, say, talk: go } = await poll({ ids: ["a", "b", "c", "d", "e", "f"] });
    const { encoded } = world.server.stats().frames;
    expect([encoded, world.up.calls.length]).toEqual([2, 1]);
    say({ x: "2" });
    await go();
    expect(world.server.stats().frames.encoded).toBe(encoded + 2);
  });

  it("gives a Fetch what is accepted, also to a client that sees first on its stream [B-RELAY-5]", async () => {
    const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const name = "xdstp://acme/envoy.config.cluster.v3.Cluster/x";
    const world = useWorld({ relay: { quorum: {} } });
    const voter = openVoter(world, "delta", "a");
    voter.ask(clusterUrl, name);
    const say = async (text: string): Promise<void> => {
      await talk(world, [voter]);
      world.up.reply(clusterUrl, { resources: [{ name, text, version: text }] });
      await talk(world, [voter]);
    };
    await say("1");
    voter.verdict = silent;
    await say("2");
    const fetched = world.server.fetch(clusterUrl, { resourceNames: [name], node: { id: "a" } });
    await talk(world, [voter]);
    expect([
      voter.seen,
      (await fetched).resources.map(({ value }) => Buffer.from(value).toString().at(-1)),
    ]).toEqual([["x=1", "x=2"], ["1"]]);
  });

  it("lets a client that may not see everything see first what it may see [B-RELAY-5] [B-RELAY-16]", async () => {
    const authorize = (): Policy => ({
      key: "some",
      allows: (_, name) => !name.endsWith("/hidden"),
    });
    const {
      world,
      voters,
      say,
      talk: go,
      answers,
    } = await poll({
      asks: ["g/*"],
      start: { "g/x": "1", "g/hidden": "1" },
      server: { authorize },
    });
    set(voters[0], rejects("bad"));
    say({ "g/x": "bad", "g/hidden": "2" });
    await go();
    // No client may see the resource, so no client answers.
    await world.pass(10_000);
    await go();
    expect(answers()).toEqual([expect.stringMatching(/g\/x.*cannot use bad/)]);
    say({ "g/x": "2" });
    await go();
    expect(seenBy(voters)).toEqual([
      ["x=bad", "x=1", "x=2"],
      ["x=bad", "x=1", "x=2"],
      ["x=2"],
      ["x=2"],
    ]);
  });

  it("counts its clients as those of one source, whoever waits for their answers [B-RELAY-5] [S-ACK-9]", async () => {
    const { world, say, talk: go } = await poll();
    const { revision } = world.relay.source;
    say({ x: "2" });
    await go();
    expect(await world.server.waitForAck(revision + 1)).toMatchObject({
      noSubscribers: false,
      accepted: ["a", "b", "c", "d"].map((node) => ({ node })),
    });
  });

  it("forgets what is on trial when it ends [B-RELAY-5]", async () => {
    const { world, voters, say, talk: go } = await poll();
    set(voters[0], silent);
    set(voters[1], silent);
    say({ x: "2" });
    await go();
    await world.relay.close();
    await world.pass(20_000);
    expect(seenBy(voters).slice(2)).toEqual([[], []]);
  });

  it("keeps what a snapshot has until what upstream says in its place is decided, and stores only what was accepted [B-RELAY-5] [B-RELAY-9]", async () => {
    const dir = useDir();
    const before = await poll({ relay: { snapshot: { dir } } });
    set(before.voters[0], rejects("bad"));
    before.say({ x: "bad" });
    await before.talk();
    await before.world.relay.close();
    const world = useWorld({ relay: { quorum: { clients: 2 }, snapshot: { dir } } });
    const voters = ["a", "b", "c"].map((id) => openVoter(world, "delta", id));
    for (const voter of voters) voter.ask(flagUrl, flagName("x"));
    await talk(world, voters);
    expect(seenBy(voters)).toEqual([["x=1"], ["x=1"], ["x=1"]]);
    set(voters[0], silent);
    world.up.reply(flagUrl, { resources: [{ name: flagName("x"), text: "2", version: "2" }] });
    await talk(world, voters);
    expect(seenBy(voters)).toEqual([["x=1", "x=2"], ["x=1", "x=2"], ["x=1"]]);
    set(voters[0], rejects("2"));
    await talk(world, voters);
    expect([seenBy(voters)[2], world.up.requests().at(-1)?.error]).toEqual([
      ["x=1"],
      expect.stringContaining("cannot use 2"),
    ]);
    set(voters[0], accepts);
    world.up.reply(flagUrl, { resources: [{ name: flagName("x"), text: "3", version: "3" }] });
    await talk(world, voters);
    expect(voters.map(({ holds }) => holds.get("x"))).toEqual(["3", "3", "3"]);
  });

  it.each([{ clients: 0 }, { clients: 1.5 }, { waitMs: 0 }, { waitMs: Infinity }])(
    "says which number cannot be: %j",
    (quorum) => {
      expect(() => useWorld({ relay: { quorum } })).toThrow(
        `quorum.${Object.keys(quorum)[0]} is ${Object.values(quorum)[0]}`,
      );
    },
  );
});

describe("a relay without a quorum", () => {
  it.each(pairs)(
    "accepts upstream what it has stored, and counts what clients reject (up %s, down %s) [B-RELAY-5] [B-RELAY-6]",
    async (up, down) => {
      const {
        world,
        voters,
        say,
        talk: go,
        answers,
      } = await poll({ up, down, relay: { quorum: undefined } as never });
      for (const voter of voters.slice(0, 3)) set(voter, rejects("bad"));
      say({ x: "bad" });
      await go();
      expect([answers(), voters[3]?.holds.get("x")]).toEqual([["ACK"], "bad"]);
      expect(world.relay.rejections()).toMatchObject([
        {
          typeUrl: flagUrl,
          name: flagName("x"),
          version: "bad",
          clients: 3,
          reason: "cannot use bad",
        },
      ]);
      expect(world.up.requests()).toEqual([]);
    },
  );
});
