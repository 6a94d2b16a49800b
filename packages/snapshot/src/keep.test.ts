import { keepResource } from "@xdstp/cache";
import { encodeConstraints, XdsError, type Committed, type ResourceSink } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";
import {
  bytesIn,
  createUpstream,
  noteChanges,
  put,
  stateOf,
  useDir,
  useKept,
} from "../test/snapshots.ts";
import { keepSnapshot } from "./keep-snapshot.ts";

const secretUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const [a, b, c, glob] = ["ns/a", "ns/b", "ns/c", "ns/*"].map(flagName) as [
  string,
  string,
  string,
  string,
];
const all = (name: string) => [{ typeUrl: flagUrl, interest: { name } }];
const away = new XdsError("UNAVAILABLE", "cannot be reached");
const late = (name: string) => ({
  typeUrl: flagUrl,
  name,
  error: new XdsError("NOT_FOUND", "late", { reason: "late" }),
});

/** Writes a snapshot of what upstream has sent for `ns/*` and for these names. */
async function leave(dir: string, ...puts: readonly ReturnType<typeof put>[]): Promise<void> {
  const relay = useKept(dir);
  await relay.watch(glob, "*", ...puts.map(({ resource }) => resource.name));
  await relay.upstream.sink.commit({ put: puts, settled: all(glob) });
  await relay.close();
}

describe("a snapshot in front of upstream", () => {
  it("serves at once what upstream said before the restart, stale and with its age, and is not stale once upstream has said it [B-RELAY-9]", async () => {
    const dir = useDir();
    await leave(dir, put(a, "1", { version: "v1" }), put(b, "1"));
    const relay = useKept(dir, { clock: createFakeClock({ start: 1_042_000 }) });
    await relay.watch(glob, a, c);
    expect([relay.shown(a), relay.members(glob), relay.shown(c)]).toEqual([
      "~1",
      ["a=1", "b=1"],
      "pending",
    ]);
    const topic = relay.cache.topic(flagUrl, { name: glob });
    expect([topic.settled, topic.stale?.message]).toEqual([
      true,
      "[UNAVAILABLE] from the snapshot of 1970-01-01T00:16:40.000Z, 42 s old; upstream has not answered yet",
    ]);
    expect(relay.cache.topic(flagUrl, { name: a }).members()[0]?.resource?.given).toBe("v1");
    await relay.upstream.sink.commit({ put: [put(a, "2", { version: "v2" })] });
    expect([relay.shown(a), relay.shown(glob)]).toEqual(["2", "~1"]);
    await relay.upstream.sink.commit({ put: [put(b, "1")], settled: all(glob) });
    expect([relay.members(glob), relay.cache.topic(flagUrl, { name: glob }).stale]).toEqual([
      ["a=2", "b=1"],
      undefined,
    ]);
  });

  it("what upstream says again is not an update, and is not written again [B-RELAY-9, B-RELAY-18]", async () => {
    const dir = useDir();
    const same = [put(a, "1", { version: "v", ttlMs: 5_000 }), put(b, "1")];
    await leave(dir, ...same);
    const { changes, disk } = noteChanges();
    const relay = useKept(dir, { disk });
    await relay.watch(glob, a);
    const heads = [glob, a].map((name) => relay.cache.topic(flagUrl, { name }).head);
    await relay.upstream.sink.commit({ put: same });
    await relay.upstream.sink.commit({ settled: all(glob) });
    expect([glob, a].map((name) => relay.cache.topic(flagUrl, { name }).head)).toEqual(heads);
    await relay.close();
    const written = changes.map((one) =>
      one.change === "put" ? one.row.kind : one.change === "facts" ? "facts" : "delete",
    );
    expect(written).toEqual(["collection"]);
  });

  it.each([
    ["all there is", { complete: all(glob) }],
    ["known now", { settled: all(glob) }],
  ])(
    "what upstream does not have any more goes when it has said %s, also from the disk [B-RELAY-9]",
    async (_, end) => {
      const dir = useDir();
      await leave(dir, put(a), put(b), put(c));
      const relay = useKept(dir);
      await relay.watch(glob, b);
      await relay.upstream.sink.commit({ put: [put(a, "2")] });
      expect(relay.members(glob)).toEqual(["a=2", "b=1", "c=1"]);
      await relay.upstream.sink.commit({
        ...("complete" in end && { put: [put(a, "2")] }),
        ...end,
      });
      expect([relay.members(glob), relay.shown(b)]).toEqual([["a=2"], "~none"]);
      await relay.upstream.sink.commit({ remove: [{ typeUrl: flagUrl, name: b }] });
      expect(relay.shown(b)).toBe("none");
      await relay.close();
      expect(stateOf(useKept(dir).store)).toEqual([`${glob}!`, `${a}=2`]);
    },
  );

  it("a removal upstream is one on disk, and what was restored goes with it [B-RELAY-10]", async () => {
    const dir = useDir();
    await leave(dir, put(a), put(b));
    const relay = useKept(dir);
    await relay.watch(a, glob);
    await relay.upstream.sink.commit({ remove: [{ typeUrl: flagUrl, name: a }] });
    expect([relay.shown(a), relay.members(glob)]).toEqual(["none", ["b=1"]]);
    await relay.close();
    expect(stateOf(useKept(dir).store)).toEqual([`${glob}!`, `${b}=1`]);
  });

  it("nothing goes while upstream is away, however long, or while it is there and silent [B-RELAY-10]", async () => {
    const dir = useDir();
    await leave(dir, put(a), put(b));
    const relay = useKept(dir);
    await relay.watch(glob, a);
    relay.upstream.sink.unavailable({}, away);
    relay.clock.advance(30 * 86_400_000);
    await relay.upstream.sink.commit({
      remove: [late(a)],
      settled: [{ typeUrl: flagUrl, interest: { name: glob }, timedOut: true }],
    });
    expect([relay.shown(a), relay.members(glob)]).toEqual(["~1", ["a=1", "b=1"]]);
    expect(relay.cache.topic(flagUrl, { name: a }).stale?.text).toBe(
      "cannot be reached; what has not come since the start is from the snapshot of 1970-01-01T00:16:40.000Z",
    );
    // Once it has sent something of the type, its silence about a name counts (C-MISS-4).
    await relay.upstream.sink.commit({ put: [put(b, "2")] });
    await relay.upstream.sink.commit({ remove: [late(a)] });
    expect([relay.shown(a), relay.members(glob)]).toEqual(["~none", ["b=2"]]);
  });

  it("a TTL goes on through the restart, and what has expired is not restored [B-RELAY-12]", async () => {
    const dir = useDir();
    await leave(
      dir,
      put(a, "1", { ttlMs: 10_000, expireMs: 10_000 }),
      put(b, "1", { ttlMs: 60_000, expireMs: 60_000 }),
      put(c),
    );
    const relay = useKept(dir, { clock: createFakeClock({ start: 1_020_000 }) });
    await relay.watch(glob, a);
    expect([relay.members(glob), relay.shown(a)]).toEqual([["b=1", "c=1"], "pending"]);
    expect(relay.cache.topic(flagUrl, { name: b }).members()[0]?.resource?.ttlMs).toBe(60_000);
    relay.clock.advance(39_000);
    expect(relay.members(glob)).toEqual(["b=1", "c=1"]);
    relay.clock.advance(1_001);
    expect(relay.members(glob)).toEqual(["c=1"]);
  });

  it("a clock that has gone back gives nothing more than its whole TTL, after the next restart neither [B-RELAY-12]", async () => {
    const dir = useDir();
    await leave(dir, put(a, "1", { ttlMs: 10_000, expireMs: 10_000 }));
    for (const [start, shown] of [
      [400_000, "~1"],
      [406_000, "~1"],
      [410_001, "pending"],
    ] as const) {
      const relay = useKept(dir, { clock: createFakeClock({ start }) });
      await relay.watch(a);
      expect([start, relay.shown(a)]).toEqual([start, shown]);
      if (start === 406_000) {
        relay.clock.advance(4_001);
        expect(relay.shown(a)).toBe("~none");
      }
      await relay.close();
    }
  });

  it("a heartbeat of upstream counts on disk too [B-RELAY-12]", async () => {
    const dir = useDir();
    const relay = useKept(dir);
    await relay.watch(a);
    await relay.upstream.sink.commit({ put: [put(a, "1", { ttlMs: 10_000, expireMs: 10_000 })] });
    await relay.store.flush();
    relay.clock.advance(9_000);
    await relay.upstream.sink.commit({
      refresh: [{ typeUrl: flagUrl, name: a, expireMs: 10_000 }],
    });
    await relay.close();
    const again = useKept(dir, { clock: createFakeClock({ start: 1_018_000 }) });
    await again.watch(a);
    expect(again.shown(a)).toBe("~1");
    again.clock.advance(1_001);
    expect(again.shown(a)).toBe("~none");
  });

  it("what must not be cached is not on disk; after a restart it is pending, and so is its collection [B-RELAY-11]", async () => {
    const dir = useDir();
    await leave(dir, put(a, "forget me", { noStore: true }), put(b));
    expect(bytesIn(dir).includes("forget me")).toBe(false);
    const relay = useKept(dir);
    await relay.watch(a, glob, b);
    expect([
      relay.shown(a),
      relay.shown(b),
      relay.members(glob),
      relay.cache.topic(flagUrl, { name: glob }).settled,
    ]).toEqual(["pending", "~1", ["b=1"], false]);
    await relay.upstream.sink.commit({ put: [put(a, "3", { noStore: true })], settled: all(glob) });
    expect(relay.members(glob)).toEqual(["a=3"]);
  });

  it("what was stored goes from the disk when upstream says that it must not be cached [B-RELAY-11]", async () => {
    const dir = useDir();
    await leave(dir, put(a, "forget me"));
    const relay = useKept(dir);
    await relay.watch(a);
    await relay.upstream.sink.commit({ put: [put(a, "forget me", { noStore: true })] });
    await relay.close();
    expect(bytesIn(dir).includes("forget me")).toBe(false);
    expect(stateOf(useKept(dir).store).filter((one) => one.startsWith(a))).toEqual([`${a}?`]);
  });

  it("secrets are pending without a key", async () => {
    const dir = useDir();
    const first = useKept(dir);
    await first.watchType(secretUrl, "cert");
    await first.upstream.sink.commit({ put: [put("cert", "key", {}, secretUrl)] });
    await first.close();
    const again = useKept(dir);
    await again.watchType(secretUrl, "cert");
    expect(again.shown("cert", secretUrl)).toBe("pending");
  });

  it("a collection that was not known completely is not settled [B-RELAY-9]", async () => {
    const dir = useDir();
    const first = useKept(dir);
    await first.watch(glob);
    await first.upstream.sink.commit({ put: [put(a)] });
    await first.close();
    const relay = useKept(dir);
    await relay.watch(glob);
    expect([relay.members(glob), relay.cache.topic(flagUrl, { name: glob }).settled]).toEqual([
      ["a=1"],
      false,
    ]);
  });

  it("what was known to be empty is so, and `*` is restored as a collection [B-RELAY-9]", async () => {
    const dir = useDir();
    const first = useKept(dir);
    await first.watch(glob, "*");
    await first.upstream.sink.commit({
      put: [put("x"), put("y")],
      complete: all(glob),
      settled: all("*"),
    });
    await first.close();
    const relay = useKept(dir);
    await relay.watch(glob, "*");
    expect([
      relay.shown(glob),
      relay.members("*"),
      relay.cache.topic(flagUrl, { name: "*" }).settled,
    ]).toEqual(["~none", ["x=1", "y=1"], true]);
  });

  it("why a glob is empty is told again after a restart, and no more once upstream says that it just is [B-RELAY-9] [S-ERR-5]", async () => {
    const dir = useDir();
    const error = new XdsError("PERMISSION_DENIED", "the server says: not for you", {
      said: "not for you",
    });
    const told = (relay: ReturnType<typeof useKept>) =>
      relay.cache
        .topic(flagUrl, { name: glob })
        .members()
        .map((entry) => [
          entry.name,
          entry.error?.code,
          entry.error?.text,
          entry.error?.context.said,
        ]);
    const first = useKept(dir);
    await first.watch(glob);
    await first.upstream.sink.commit({
      settled: [{ typeUrl: flagUrl, interest: { name: glob }, error }],
    });
    const before = told(first);
    await first.close();
    const second = useKept(dir);
    await second.watch(glob);
    expect([before, told(second)]).toEqual([
      [[glob, "PERMISSION_DENIED", "the server says: not for you", "not for you"]],
      before,
    ]);
    const { head } = second.cache.topic(flagUrl, { name: glob });
    await second.upstream.sink.commit({
      settled: [{ typeUrl: flagUrl, interest: { name: glob }, error }],
    });
    expect(second.cache.topic(flagUrl, { name: glob }).head).toBe(head);
    await second.upstream.sink.commit({ settled: all(glob) });
    await second.close();
    const third = useKept(dir);
    await third.watch(glob);
    expect([told(third), third.cache.topic(flagUrl, { name: glob }).settled]).toEqual([
      [[glob, undefined, undefined, undefined]],
      true,
    ]);
  });

  it("what was rejected is not stored; what was held before it is", async () => {
    const dir = useDir();
    const relay = useKept(dir);
    relay.cache.check(flagUrl, { name: glob }, (resource) =>
      Buffer.from(resource.payload.value).toString() === "bad"
        ? new XdsError("INVALID_ARGUMENT", "bad")
        : undefined,
    );
    await relay.watch(glob);
    await relay.upstream.sink.commit({ put: [put(a, "good"), put(b, "bad")] });
    await relay.upstream.sink.commit({ put: [put(a, "bad"), put(c, "good")], settled: all(glob) });
    await relay.close();
    expect(stateOf(useKept(dir).store)).toEqual([`${glob}!`, `${a}=good`, `${c}=good`]);
  });

  it("what is stored has the version of what is held, where that is older than an answer that took its time [B-RELAY-9] [S-VER-4]", async () => {
    const { store } = useKept(useDir());
    const upstream = createUpstream();
    const held = keepResource(put(a, "old", { version: "v0" }).resource);
    let answer: (committed: Committed) => void = () => undefined;
    const sink: ResourceSink = {
      commit: () => ({
        revision: 0,
        decided: new Promise((resolve) => {
          answer = resolve;
        }),
      }),
      held: () => [{ name: a, version: "v0", resource: held }],
      unavailable: () => undefined,
    };
    void keepSnapshot(upstream.feed, store, { inWildcard: () => true }).run(
      sink,
      new AbortController().signal,
    );
    const committed = upstream.sink.commit({ put: [put(a, "new", { version: "v1" })] });
    answer({ revision: 1 });
    await committed;
    expect([...store.index].map(({ name, version, served }) => [name, version, served])).toEqual([
      [a, "v0", "v0"],
    ]);
  });

  it("what nobody asks for any more is restored to who asks again, if upstream is away then [B-RELAY-9]", async () => {
    const dir = useDir();
    const relay = useKept(dir);
    await relay.watch(a, b);
    await relay.upstream.sink.commit({ put: [put(a), put(b)] });
    await relay.unwatch(a);
    await relay.watch(a);
    expect([relay.shown(a), [...relay.upstream.wanted]]).toEqual(["pending", [b, a]]);
    relay.upstream.sink.unavailable({}, away);
    expect([relay.shown(a), relay.shown(b)]).toEqual(["~1", "~1"]);
    relay.upstream.sink.unavailable({}, undefined);
    expect([relay.shown(a), relay.shown(b)]).toEqual(["~1", "1"]);
    await relay.upstream.sink.commit({ put: [put(a, "2")] });
    expect(relay.shown(a)).toBe("2");
  });

  it("what is asked for by an alias is restored by it, and goes when upstream does not know the alias any more [B-RELAY-9]", async () => {
    const dir = useDir();
    await leave(dir, put("real", "1", { aliases: ["other"] }));
    const relay = useKept(dir);
    await relay.watch("other");
    expect(relay.shown("other")).toBe("~1");
    await relay.upstream.sink.commit({ remove: [{ typeUrl: flagUrl, name: "other" }] });
    expect(relay.shown("other")).toBe("none");
    await relay.close();
    expect(stateOf(useKept(dir).store).filter((one) => one.startsWith("real"))).toEqual([]);
  });

  it("an alias that went while nobody asked for it does not come back after a restart, once upstream has said so [B-RELAY-9]", async () => {
    const dir = useDir();
    const relay = useKept(dir);
    await relay.watch("other", "one");
    await relay.upstream.sink.commit({
      put: [put("real", "1", { aliases: ["other"] }), put("wanted", "1", { aliases: ["one"] })],
    });
    await relay.unwatch("other");
    await relay.watch("other", "wanted");
    await relay.upstream.sink.commit({ remove: [{ typeUrl: flagUrl, name: "other" }] });
    await relay.close();
    const again = useKept(dir);
    await again.watch("other", "one");
    expect([again.shown("other"), again.shown("one"), stateOf(again.store)]).toEqual([
      "pending",
      "~1",
      ["wanted=1"],
    ]);
  });

  it("an error of one name that will pass is not an answer: what the snapshot has of it is served [B-RELAY-9]", async () => {
    const dir = useDir();
    await leave(dir, put(a), put(b));
    const relay = useKept(dir);
    await relay.watch(b);
    await relay.upstream.sink.commit({ put: [put(b)] });
    await relay.watch(a);
    expect([relay.shown(b), relay.shown(a)]).toEqual(["1", "pending"]);
    relay.upstream.sink.unavailable({ typeUrl: flagUrl, interest: { name: a } }, away);
    expect(relay.shown(a)).toBe("~1");
    expect(relay.cache.topic(flagUrl, { name: a }).stale).toBeDefined();
  });

  it("what one of several nodes is told is not shown to another [B-RELAY-16]", async () => {
    const dir = useDir();
    const first = useKept(dir, { space: "one" });
    await first.watch("opaque", "*");
    await first.upstream.sink.commit({ put: [put("opaque")], settled: all("*") });
    await first.close();
    const other = useKept(dir, { space: "two" });
    await other.watch("opaque", "*");
    expect([other.shown("opaque"), other.members("*")]).toEqual(["pending", []]);
    await other.close();
    const same = useKept(dir, { space: "one" });
    await same.watch("opaque", "*");
    expect([same.shown("opaque"), same.members("*")]).toEqual(["~1", ["opaque=1"]]);
  });

  it("variants of a name are stored apart, and what upstream says takes the place of those for the same clients [S-DYN-4]", async () => {
    const dir = useDir();
    const [prod, test] = ["prod", "test"].map((value) =>
      encodeConstraints({ kind: "equals", key: "env", value }),
    ) as [Uint8Array, Uint8Array];
    const asked = (env: string) => ({ name: a, parameters: new Map([["env", env]]) });
    const text = (relay: ReturnType<typeof useKept>, env: string): string => {
      const topic = relay.cache.topic(flagUrl, asked(env));
      return `${topic.members()[0]?.resource === undefined ? "none" : Buffer.from(topic.members()[0]?.resource?.payload.value ?? []).toString()} ${topic.members()[0]?.error?.text ?? ""}`.trim();
    };
    const first = useKept(dir);
    await first.watch(asked("prod"), asked("test"));
    await first.upstream.sink.commit({
      put: [put(a, "p", { constraints: prod }), put(a, "t", { constraints: test })],
    });
    await first.close();
    const relay = useKept(dir);
    await relay.watch(asked("prod"), asked("test"));
    expect([text(relay, "prod"), text(relay, "test")]).toEqual(["p", "t"]);
    await relay.upstream.sink.commit({ put: [put(a, "for everyone")] });
    expect([text(relay, "prod"), text(relay, "test")]).toEqual(["for everyone", "for everyone"]);
  });

  it("upstream is told to hold only what it has given itself, so that it says all of it again [C-RECON-3]", async () => {
    const dir = useDir();
    await leave(dir, put(a), put(b));
    const relay = useKept(dir);
    await relay.watch(glob);
    const held = Array.from(relay.upstream.sink.held(flagUrl), ({ name }) => name);
    expect(held).toEqual([]);
    await relay.upstream.sink.commit({ put: [put(a)] });
    expect(Array.from(relay.upstream.sink.held(flagUrl), ({ name }) => name)).toEqual([a]);
  });
});
