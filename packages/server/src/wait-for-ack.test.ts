import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import {
  adsVariants,
  readyCache,
  serve,
  types,
  variants,
  type Harness,
  type OpenCall,
  type VariantName,
} from "../test/harness.ts";
import { AckError, type AckReport, type XdsServer } from "./index.ts";

type Outcome = { readonly report: AckReport } | { readonly error: AckError };

interface Subject extends Harness {
  readonly cache: ReturnType<typeof readyCache>;
  /** Creates a client that has accepted what it subscribed to. */
  readonly client: (
    variant: VariantName,
    id: string,
    names?: readonly string[],
    typeUrl?: string,
  ) => OpenCall;
  /** Starts to wait. `outcome` of the returned object is set once there is a result. */
  readonly wait: (
    revision: number,
    options?: Parameters<XdsServer["waitForAck"]>[1],
  ) => { outcome: Outcome | undefined };
  readonly put: (name: string, text: string) => number;
}

function useServer(...names: readonly string[]): Subject {
  const cache = readyCache();
  const put: Subject["put"] = (name, text) =>
    cache.put({ typeUrl: types.cluster, name, value: payload(name, text) }).revision;
  for (const name of names) put(name, "first");
  const harness = serve(cache);
  return {
    ...harness,
    cache,
    put,
    client(variant, id, wanted = ["*"], typeUrl = types.cluster) {
      const call = harness.open(variant, { id });
      call.ask(typeUrl, wanted);
      harness.turn();
      call.ack(call.next());
      return call;
    },
    wait(revision, options) {
      const seen: { outcome: Outcome | undefined } = { outcome: undefined };
      harness.server.waitForAck(revision, options).then(
        (report) => {
          seen.outcome = { report };
        },
        (error: unknown) => {
          seen.outcome = { error: error as AckError };
        },
      );
      return seen;
    },
  };
}

/** Waits until promises have settled. */
async function settle(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

describe.each(variants)("waitForAck() (%s)", (variant) => {
  it(`resolves with the ACK of the last client that wants what changed (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a", "b");
    const [one, two] = [client(variant, "one", ["a"]), client(variant, "two", ["a", "b"])];
    client(variant, "other", ["b"]);
    const waiting = wait(put("a", "second"));
    turn();
    one.ack(one.next());
    await settle();
    expect(waiting.outcome).toBeUndefined();
    two.ack(two.next());
    await settle();
    expect(waiting.outcome).toMatchObject({
      report: {
        revision: 4,
        noSubscribers: false,
        accepted: [{ node: "one", typeUrls: [types.cluster] }, { node: "two" }],
      },
    });
  });

  it(`resolves at once where nobody is concerned, and says so (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait } = useServer("a", "b");
    client(variant, "one", ["a"]);
    const revision = put("b", "second");
    const waiting = wait(revision);
    await settle();
    expect(waiting.outcome).toEqual({
      report: { revision, noSubscribers: true, accepted: [], gone: [] },
    });
  });

  it(`counts a later state, and what was accepted before it was asked (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a");
    const call = client(variant, "one", ["a"]);
    const revision = put("a", "second");
    const waiting = wait(revision);
    put("a", "third");
    turn();
    const third = call.next();
    put("a", "fourth");
    call.ack(third);
    await settle();
    expect(waiting.outcome).toMatchObject({ report: { revision, accepted: [{ node: "one" }] } });
    turn();
    call.ack(call.next());
    const again = wait(revision);
    await settle();
    expect(again.outcome).toMatchObject({
      report: { noSubscribers: false, accepted: [{ node: "one" }] },
    });
  });

  it(`does not take the ACK of an older response for it (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a");
    const call = client(variant, "one", ["a"]);
    put("a", "second");
    turn();
    const second = call.next();
    const waiting = wait(put("a", "third"));
    call.ack(second);
    await settle();
    expect(waiting.outcome).toBeUndefined();
    turn();
    call.ack(call.next());
    await settle();
    expect(waiting.outcome).toMatchObject({ report: { noSubscribers: false } });
  });

  it(`rejects with the first NACK, and lists who is missing (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a");
    const [bad, good, slow] = [
      client(variant, "bad", ["a"]),
      client(variant, "good", ["a"]),
      client(variant, "slow", ["a"]),
    ];
    const revision = put("a", "second");
    const waiting = wait(revision);
    turn();
    good.ack(good.next());
    bad.nack(bad.next(), "no such thing");
    await settle();
    const { error } = waiting.outcome as { readonly error: AckError };
    expect(error).toBeInstanceOf(AckError);
    expect(error).toMatchObject({
      code: "ABORTED",
      text: `revision ${revision}: bad has rejected it`,
    });
    expect(error.missing).toMatchObject([
      {
        node: "bad",
        state: "rejected",
        typeUrl: types.cluster,
        names: ["a"],
        peer: "192.0.2.1:5",
        error: { code: 3, message: "no such thing" },
      },
      { node: "slow", state: "in-flight", names: ["a"] },
    ]);
    expect(slow.unread).toBe(1);
    const after = wait(revision);
    await settle();
    expect(after.outcome).toMatchObject({
      error: { code: "ABORTED", missing: [{ node: "bad", state: "rejected" }, { node: "slow" }] },
    });
  });

  it(`does not mind that something else is rejected, or was before (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a", "b");
    const [one, other] = [client(variant, "one", ["a"]), client(variant, "other", ["b"])];
    put("b", "second");
    turn();
    other.nack(other.next(), "no");
    const waiting = wait(put("a", "second"));
    put("b", "third");
    turn();
    other.nack(other.next(), "no");
    one.ack(one.next());
    await settle();
    expect(waiting.outcome).toMatchObject({
      report: { noSubscribers: false, accepted: [{ node: "one" }] },
    });
  });

  it(`rejects when the time is over, on the clock that was given, and leaves no timer (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn, clock } = useServer("a");
    client(variant, "slow", ["a"]);
    const before = clock.pending;
    const waiting = wait(put("a", "second"), { timeout: 500 });
    turn();
    clock.advance(499);
    await settle();
    expect(waiting.outcome).toBeUndefined();
    clock.advance(1);
    await settle();
    expect(waiting.outcome).toMatchObject({
      error: { code: "DEADLINE_EXCEEDED", missing: [{ node: "slow", state: "in-flight" }] },
    });
    expect(clock.pending).toBeLessThanOrEqual(before + 1); // the repair of the unanswered response
  });

  it(`waits for a named node that is away until it has come and accepted (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, open, turn, clock } = useServer("a");
    client(variant, "other", ["a"]);
    const revision = put("a", "second");
    const waiting = wait(revision, { nodes: ["late"], timeout: 1_000 });
    const tooLate = wait(revision, { nodes: ["never"], timeout: 1_000 });
    await settle();
    expect(waiting.outcome).toBeUndefined();
    const late = open(variant, { id: "late" });
    late.ask(types.cluster, ["a"]);
    turn();
    await settle();
    expect(waiting.outcome).toBeUndefined();
    late.ack(late.next());
    await settle();
    expect(waiting.outcome).toMatchObject({ report: { accepted: [{ node: "late" }] } });
    clock.advance(1_000);
    await settle();
    expect(tooLate.outcome).toMatchObject({
      error: { code: "DEADLINE_EXCEEDED", missing: [{ node: "never", state: "absent" }] },
    });
  });

  it(`lets those go who leave, unless they are named; who has accepted may leave (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a");
    const [leaver, fine] = [client(variant, "leaver", ["a"]), client(variant, "fine", ["a"])];
    const revision = put("a", "second");
    const anybody = wait(revision);
    const named = wait(revision, { nodes: ["leaver", "fine"] });
    turn();
    fine.ack(fine.next());
    fine.cancel();
    leaver.cancel();
    await settle();
    expect(anybody.outcome).toMatchObject({ report: { accepted: [{ node: "fine" }] } });
    expect(named.outcome).toBeUndefined();
    const back = client(variant, "leaver", ["a"]);
    await settle();
    expect(named.outcome).toMatchObject({
      report: { accepted: [{ node: "fine" }, { node: "leaver" }] },
    });
    back.cancel();
  });

  it(`tells clients that have left without an answer from nobody (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a", "b");
    const [leaver, other] = [client(variant, "leaver", ["a"]), client(variant, "other", ["b"])];
    const revision = put("a", "second");
    const waiting = wait(revision);
    turn();
    other.cancel();
    leaver.cancel();
    await settle();
    expect(waiting.outcome).toMatchObject({
      report: {
        revision,
        noSubscribers: false,
        accepted: [],
        gone: [{ node: "leaver", typeUrls: [types.cluster] }],
      },
    });
  });

  it(`does not wait for what a client unsubscribes before it was sent (${variant}) [S-ACK-9] [S-SUB-4]`, async () => {
    const { client, put, wait, turn } = useServer("a", "b");
    const call = client(variant, "one", ["a", "b"]);
    const revision = put("a", "second");
    const waiting = wait(revision);
    call.drop(types.cluster, ["a"]);
    turn();
    await settle();
    expect(waiting.outcome).toEqual({
      report: { revision, noSubscribers: false, accepted: [], gone: [] },
    });
  });

  it(`waits again for what a client subscribes to again (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a", "b");
    const call = client(variant, "one", ["a", "b"]);
    const other = client(variant, "other", ["a"]);
    const waiting = wait(put("a", "second"));
    call.drop(types.cluster, ["a"]);
    await settle();
    call.ask(types.cluster, ["a", "b"]);
    turn();
    other.ack(other.next());
    await settle();
    expect(waiting.outcome).toBeUndefined();
    call.ack(call.next());
    await settle();
    expect(waiting.outcome).toMatchObject({
      report: { accepted: [{ node: "one" }, { node: "other" }] },
    });
  });

  it(`takes those for whom a test holds (${variant}) [S-ACK-9]`, async () => {
    const { client, put, wait, turn } = useServer("a");
    const web = client(variant, "web-1", ["a"]);
    client(variant, "api-1", ["a"]);
    const waiting = wait(put("a", "second"), { nodes: ({ id }) => id.startsWith("web") });
    turn();
    web.ack(web.next());
    await settle();
    expect(waiting.outcome).toMatchObject({ report: { accepted: [{ node: "web-1" }] } });
  });
});

describe.each(adsVariants)("waitForAck() for removals (%s)", (variant) => {
  it(`waits for the ACK of a removal where it can be said (${variant}) [S-ACK-9]`, async () => {
    const { client, wait, turn, cache } = useServer("a", "b");
    const call = client(variant, "one", ["*"]);
    const waiting = wait(cache.remove(types.cluster, "a").revision);
    await settle();
    expect(waiting.outcome).toBeUndefined();
    turn();
    call.ack(call.next());
    await settle();
    expect(waiting.outcome).toMatchObject({ report: { accepted: [{ node: "one" }] } });
  });

  it(`waits for a removal that has to wait itself, and not only for what goes before it (${variant}) [S-ACK-9] [S-ORD-3]`, async () => {
    const { client, wait, turn, cache } = useServer("a");
    const call = client(variant, "one", ["*"]);
    call.ask(types.listener, ["*"]);
    turn();
    call.ack(call.next());
    const { revision } = cache.transaction(({ put, remove }) => {
      put({ typeUrl: types.cluster, name: "b", value: payload("b") });
      put({ typeUrl: types.listener, name: "l", value: payload("l") });
      remove(types.cluster, "a");
    });
    const waiting = wait(revision, { timeout: 1_000 });
    for (let answers = 0; answers < 3; answers++) {
      turn();
      await settle();
      expect(waiting.outcome).toBeUndefined();
      call.ack(call.next());
    }
    await settle();
    expect(waiting.outcome).toMatchObject({
      report: { accepted: [{ node: "one", typeUrls: [types.cluster, types.listener] }] },
    });
  });

  it(`does not wait for endpoints that a client unsubscribes with their cluster (${variant}) [S-ACK-9] [S-SUB-4]`, async () => {
    const { client, wait, turn, cache } = useServer("c");
    cache.put({ typeUrl: types.assignment, name: "c", value: payload("c") });
    const call = client(variant, "one", ["*"]);
    call.ask(types.assignment, ["c"]);
    turn();
    call.ack(call.next());
    const { revision } = cache.transaction(({ remove }) => {
      remove(types.cluster, "c");
      remove(types.assignment, "c");
    });
    const waiting = wait(revision);
    turn();
    const removal = call.next();
    expect(removal.typeUrl).toBe(types.cluster);
    call.drop(types.assignment, ["c"]);
    call.ack(removal);
    turn();
    await settle();
    expect(waiting.outcome).toMatchObject({
      report: { accepted: [{ node: "one", typeUrls: [types.cluster] }], gone: [] },
    });
  });

  it(`does not wait for removals that SotW cannot say (${variant}) [S-ACK-9]`, async () => {
    const { client, wait, cache } = useServer();
    cache.put({ typeUrl: types.assignment, name: "e", value: payload("e") });
    client(variant, "one", ["e"], types.assignment);
    const waiting = wait(cache.remove(types.assignment, "e").revision);
    await settle();
    if (variant === "sotw/ads")
      expect(waiting.outcome).toMatchObject({ report: { noSubscribers: true } });
    else expect(waiting.outcome).toBeUndefined();
  });
});

describe("waitForAck() of a client that starts again without names", () => {
  it("does not wait for what it had subscribed to [S-ACK-9] [S-NONCE-7]", async () => {
    const { client, put, wait, turn, events } = useServer("a");
    const call = client("sotw/ads", "one", ["a"]);
    const waiting = wait(put("a", "second"));
    call.ask(types.cluster, []);
    turn();
    await settle();
    expect(events.at(-1)).toMatchObject({ kind: "subscribe", added: [], dropped: ["a"] });
    expect(waiting.outcome).toMatchObject({ report: { accepted: [], gone: [] } });
  });
});

describe("waitForAck(), what it rejects", () => {
  it("names a revision that does not exist, and a time that cannot be", async () => {
    const { server } = useServer("a");
    for (const revision of [3, -1, 0.5, NaN])
      await expect(server.waitForAck(revision)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        text: `revision ${revision} does not exist; the newest is 2`,
      });
    for (const timeout of [-1, NaN, 2 ** 31])
      await expect(server.waitForAck(1, { timeout })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });

  it("ends with the caller's signal, and with the server", async () => {
    const { client, put, wait, server, turn } = useServer("a");
    client("delta/ads", "one");
    const revision = put("a", "second");
    const controller = new AbortController();
    const cancelled = wait(revision, { signal: controller.signal });
    const already = wait(revision, { signal: AbortSignal.abort() });
    const closed = wait(revision);
    controller.abort();
    await settle();
    expect(cancelled.outcome).toMatchObject({ error: { code: "CANCELLED" } });
    expect(already.outcome).toMatchObject({ error: { code: "CANCELLED" } });
    expect(closed.outcome).toBeUndefined();
    const closing = server.close();
    await settle();
    expect(closed.outcome).toMatchObject({ error: { code: "UNAVAILABLE" } });
    turn();
    await closing;
  });
});

describe("AckError", () => {
  it("is told from other errors of these packages, and is one of them", async () => {
    const { server } = useServer();
    const other: unknown = await server.waitForAck(9).catch((error: unknown) => error);
    expect(other).not.toBeInstanceOf(AckError);
    expect(new AckError("ABORTED", "no", [])).toMatchObject({
      message: "[ABORTED] no",
      name: "AckError",
    });
  });
});
