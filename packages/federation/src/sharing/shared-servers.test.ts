import { XdsError, type Resource } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { of, redirect, resource, scene, T, type Answering, type Scene } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";
import { createSharedServers } from "../index.ts";

const [X, Y, Z] = [of("a", "x"), of("a", "y"), of("b", "z")];

/** Creates two federations that share the same servers. */
async function useTwo(
  first: Answering,
  second: Answering = first,
): Promise<readonly [Scene, Scene]> {
  const servers = createSharedServers();
  const one = await scene(first, { servers });
  return [one, await scene(second, { servers, clock: one.clock }, one.servers)];
}

const reject =
  (what: string) =>
  ({ payload: { value } }: Resource): XdsError | undefined =>
    Buffer.from(value).toString() === what
      ? new XdsError("INVALID_ARGUMENT", `it is ${what}`)
      : undefined;

describe("a server that two federations share", () => {
  it("has one stream, and each of them gets what it asks for [C-AGG-1]", async () => {
    const [one, two] = await useTwo(["a"]);
    one.at("a").put(T, resource(X, "X"));
    one.at("a").put(T, resource(Y, "Y"));
    const [x, y] = [one.watch(X), two.watch(Y)];
    await turn();
    const { revision } = one.cache;
    one.at("a").put(T, resource(Y, "Y2"));
    expect(one.cache.revision).toBe(revision);
    expect([x.now, y.now, one.at("a").opened, one.at("a").wanted]).toEqual(["X", "Y2", 1, [X, Y]]);
    expect([one, two].map(({ cache }) => cache.counters.resources)).toEqual([1, 1]);
    expect([one, two].flatMap(({ events }) => events)).toEqual([]);
  });

  it("is asked anew for what only one of them knows: what is there, what is not, what leads elsewhere, collections [C-AGG-1]", async () => {
    const [one, two] = await useTwo(["a", "b"]);
    const { at } = one;
    at("a").put(T, resource(of("a", "ns/m"), "M"));
    at("a").put(T, redirect(X, Z));
    at("b").put(T, resource(Z, "Z"));
    const watched = (by: Scene): readonly (string | boolean)[][] =>
      [X, Y, of("a", "ns/*"), Z]
        .map((name) => by.watch(name))
        .map(({ now, members, topic }) => [now, members, topic.settled]);
    watched(one);
    await turn();
    watched(two);
    await turn();
    await turn();
    expect(watched(two)).toEqual(watched(one));
    expect([at("a").opened, at("b").opened, watched(two).map(([now]) => now)]).toEqual([
      1,
      1,
      ["Z", "-", "M", "Z"],
    ]);
  });

  it("is let go of by each for itself: what nobody wants any more is given up, and it is closed when nobody uses it [C-STREAM-14]", async () => {
    const [one, two] = await useTwo(["a"]);
    const { at } = one;
    at("a").put(T, resource(X, "X"));
    const watches = [one.watch(X), one.watch(Y), two.watch(X)];
    await turn();
    watches[2]?.close();
    await turn();
    expect(at("a").wanted).toEqual([X, Y]);
    await one.pass(10_000);
    watches[1]?.close();
    await turn();
    expect([
      at("a").wanted,
      at("a").isOpen,
      one.federation.status().map(({ status }) => status !== undefined),
      two.federation.status().map(({ status }) => status !== undefined),
    ]).toEqual([[X], true, [true], [false]]);
    watches[0]?.close();
    await turn();
    await one.pass(10_000);
    expect(at("a").isOpen).toBe(false);
    const again = two.watch(X);
    await turn();
    expect([again.now, at("a").opened]).toEqual(["X", 2]);
  });

  it("goes on for one when the other ends with all that it wanted", async () => {
    const [one, two] = await useTwo(["a"]);
    const { at } = one;
    at("a").put(T, resource(X, "X"));
    const x = one.watch(X);
    two.watch(X);
    two.watch(Y);
    await turn();
    await two.cache.close();
    await turn();
    at("a").put(T, resource(X, "X2"));
    expect([x.now, at("a").wanted]).toEqual(["X2", [X]]);
  });

  it("is rejected what one of them rejects, for whom the error stands beside what is held; the other takes it [C-ACK-3]", async () => {
    const [one, two] = await useTwo(["a"]);
    const { at } = one;
    at("a").put(T, resource(X, "X"));
    one.cache.check(T, { name: X }, reject("bad"));
    for (const { cache } of [one, two]) cache.check(T, { name: X }, reject("worse"));
    const [first, second] = [one.watch(X), two.watch(X)];
    await turn();
    at("a").put(T, resource(X, "bad"));
    const [rejection] = at("a").answers.at(-1)?.rejected ?? [];
    expect(rejection?.error.context).toMatchObject({ reason: "rejected", typeUrl: T, resource: X });
    const { code, text, context } = rejection?.error ?? new XdsError("INTERNAL", "none");
    // An error with the same data as the original, but not the same object: its data determine whom
    // it concerns.
    at("a").sink.unavailable(
      { typeUrl: T, interest: { name: X } },
      new XdsError(code, text, context),
    );
    expect([rejection?.name, rejection?.error.text, first.now, second.now]).toEqual([
      X,
      "it is bad",
      "X (it is bad)",
      "bad",
    ]);
    at("a").put(T, resource(X, "worse"));
    expect([
      at("a")
        .answers.at(-1)
        ?.rejected?.map(({ name }) => name),
      second.now,
    ]).toEqual([[X], "bad"]);
    at("a").sink.unavailable({ typeUrl: T, interest: { name: X } }, undefined);
    at("a").put(T, resource(X, "good"));
    expect([first.now, second.now, at("a").answers.at(-1)?.rejected]).toEqual([
      "good",
      "good",
      undefined,
    ]);
  });

  it("takes what is rejected, where its features say so, from those who reject it alone [C-GRPC-9]", async () => {
    const [one, two] = await useTwo(["a"]);
    const { at } = one;
    at("a").put(T, resource(X, "X"));
    one.cache.check(T, { name: X }, reject("bad"));
    const [first, second] = [one.watch(X), two.watch(X)];
    await turn();
    at("a").put(T, resource(X, "bad"));
    const [rejection] = at("a").answers.at(-1)?.rejected ?? [];
    void at("a").sink.commit({
      remove: [{ typeUrl: T, name: X, ...(rejection !== undefined && { error: rejection.error }) }],
    });
    expect([first.now, second.now]).toEqual(["- it is bad", "bad"]);
  });

  it("tells also who holds a resource by an alias what comes of it without one, as if it were alone [C-ALIAS-3]", async () => {
    const [one, two] = await useTwo({ default: ["s"] });
    const { at } = one;
    const [alias, name] = [one.watch("al"), two.watch("x")];
    await turn();
    at("s").put(T, { ...resource("x", "1"), aliases: ["al"] });
    expect([alias.now, name.now]).toEqual(["1", "1"]);
    at("s").put(T, resource("x", "2"));
    expect([alias.now, name.now]).toEqual(["-", "2"]);
  });

  it("is out of reach for both, also for who asks later [C-GRPC-4]", async () => {
    const [one, two] = await useTwo(["a"]);
    const { at } = one;
    const first = one.watch(X);
    await turn();
    at("a").fail("down");
    const second = two.watch(X);
    await turn();
    expect([first.now, second.now]).toEqual(["- down", "- down"]);
    at("a").put(T, resource(X, "X"));
    at("a").fail(undefined);
    expect([first.now, second.now]).toEqual(["X", "X"]);
  });

  it("is told what all of them hold, and to say again what one of them lacks or has otherwise [C-RECON-3]", async () => {
    const [one, two] = await useTwo(["a"]);
    const { at } = one;
    for (const name of [X, Y, of("a", "w")]) at("a").put(T, resource(name, "1"));
    two.cache.check(T, { name: Y }, reject("2"));
    one.watch(of("a", "*"));
    two.watch(X);
    two.watch(Y);
    await turn();
    at("a").put(T, resource(Y, "2"));
    expect(
      at("a")
        .held(T)
        .map((held) => held.replace("xdstp://a/t.T/", ""))
        .sort(),
    ).toEqual(["w 1", "x 1", "y may have been replaced"]);
    expect(Array.from(at("a").sink.held(T, { name: Y }), ({ name }) => name)).toEqual([Y]);
  });

  it("has no name for the wildcard of one of them that this asks another server for, though the other one asks this one [C-AUTH-7]", async () => {
    const [one, two] = await useTwo({ a: ["s"] }, { default: ["s"], a: ["t"] });
    const { at } = one;
    const [all, x] = [two.watch("*"), one.watch(X)];
    await turn();
    at("s").put(T, resource(X, "1"));
    at("s").put(T, resource("o", "1"));
    expect([all.members, x.now, two.events, at("s").held(T).toSorted()]).toEqual([
      "o=1",
      "1",
      [],
      ["o 1", `${X} 1`],
    ]);
  });

  it("tells one that begins to reject what another rejects already [C-ACK-18]", async () => {
    const [one, two] = await useTwo(["a"]);
    const { at } = one;
    one.cache.check(T, { name: X }, reject("bad"));
    const [first, second] = [one.watch(X), two.watch(X)];
    await turn();
    at("a").put(T, resource(X, "bad"));
    at("a").sink.unavailable(
      { typeUrl: T, interest: { name: X } },
      at("a").answers.at(-1)?.rejected?.[0]?.error,
    );
    expect([first.now, second.now]).toEqual(["- it is bad", "bad"]);
    two.cache.check(T, { name: X }, reject("bad"));
    at("a").put(T, resource(X, "bad"));
    expect([first.now, second.now]).toEqual(["- it is bad", "bad (it is bad)"]);
  });

  it("gives an opaque name to those that ask it for that, and not to those that ask another for it [C-AUTH-6]", async () => {
    const [one, two] = await useTwo({ default: ["s"], a: ["t"] }, { default: ["t"] });
    const { at } = one;
    at("s").put(T, resource("x", "of s"));
    at("t").put(T, resource("x", "of t"));
    at("t").put(T, resource(Y, "Y"));
    const [x, y, other] = [one.watch("x"), one.watch(Y), two.watch("x")];
    await turn();
    expect([x.now, y.now, other.now, at("t").opened, at("t").wanted]).toEqual([
      "of s",
      "Y",
      "of t",
      1,
      ["x", Y],
    ]);
    at("t").remove(T, "x");
    expect([x.now, other.now]).toEqual(["of s", "-"]);
  });
});
