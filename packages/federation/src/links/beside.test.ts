import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { of, redirect, resource, scene, T, type Scene } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

const [X, Y] = [of("a", "x"), of("b", "y")];

/** Creates a redirect from `x` of a to `y` of b. */
async function useLink(): Promise<Scene> {
  const link = await scene(["a", "b"]);
  link.at("a").put(T, redirect(X, Y));
  link.at("b").put(T, resource(Y, "Y"));
  return link;
}

describe("a name that is asked for while others follow it", () => {
  it("has what is known of it at once, and is asked for once", async () => {
    const { at, watch } = await useLink();
    const x = watch(X);
    await turn();
    at("b").silent = true;
    const y = watch(Y);
    await turn();
    expect([y.now, at("b").wanted]).toEqual(["Y", [Y]]);
    at("b").silent = false;
    at("b").put(T, resource(Y, "Y2"));
    expect([x.now, y.now]).toEqual(["Y2", "Y2"]);
    x.close();
    await turn();
    at("b").put(T, resource(Y, "Y3"));
    expect([y.now, at("b").wanted]).toEqual(["Y3", [Y]]);
  });

  it("is known not to exist, or not to be had, at once", async () => {
    const { at, watch } = await useLink();
    at("a").put(T, redirect(of("a", "z"), of("b", "z")));
    watch(X);
    watch(of("a", "z"));
    await turn();
    at("b").silent = true;
    at("b").sink.unavailable(
      { typeUrl: T, interest: { name: Y } },
      new XdsError("UNAVAILABLE", "not now"),
    );
    const [y, z] = [watch(Y), watch(of("b", "z"))];
    await turn();
    expect([y.now, z.now]).toEqual(["Y (not now)", expect.stringContaining("does not exist")]);
    at("b").sink.unavailable({ typeUrl: T, interest: { name: Y } }, undefined);
    expect(y.now).toBe("Y");
  });

  it("is had by a collection that it is a member of", async () => {
    const { at, watch } = await scene(["a", "b"]);
    at("a").put(T, redirect(X, of("b", "ns/y")));
    at("b").put(T, resource(of("b", "ns/y"), "Y"));
    watch(X);
    await turn();
    at("b").silent = true;
    const glob = watch(of("b", "ns/*"));
    await turn();
    expect([glob.members, glob.topic.settled]).toEqual(["y=Y", false]);
  });
});

describe("a name that others come to follow while it is asked for", () => {
  it("is delivered to them from what readers have, though the server says nothing again", async () => {
    const { at, watch } = await useLink();
    const y = watch(Y);
    await turn();
    at("b").silent = true;
    const x = watch(X);
    await turn();
    expect([x.now, at("b").wanted]).toEqual(["Y", [Y]]);
    at("b").silent = false;
    y.close();
    await turn();
    at("b").put(T, resource(Y, "Y2"));
    expect([x.now, at("b").wanted, at("b").held(T)]).toEqual(["Y2", [Y], [`${Y} Y2`]]);
  });

  it("is known to them not to exist", async () => {
    const { at, watch } = await useLink();
    at("b").remove(T, Y);
    watch(Y);
    await turn();
    at("b").silent = true;
    const x = watch(X);
    await turn();
    expect(x.now).toContain("does not exist");
  });

  it("is delivered as the member of a glob that readers have", async () => {
    const { at, watch } = await scene(["a", "b"]);
    at("b").put(T, resource(of("b", "ns/y"), "Y", "1"));
    at("a").put(T, redirect(X, of("b", "ns/y")));
    const glob = watch(of("b", "ns/*"));
    await turn();
    at("b").silent = true;
    const x = watch(X);
    await turn();
    expect(x.now).toBe("Y");
    at("b").silent = false;
    glob.close();
    await turn();
    at("b").put(T, resource(of("b", "ns/y"), "Y2"));
    expect([x.now, at("b").wanted]).toEqual(["Y2", [of("b", "ns/y")]]);
  });

  it("is itself led elsewhere, and both show the same", async () => {
    const { at, watch } = await scene(["a", "b", "c"]);
    at("a").put(T, redirect(X, Y));
    at("b").put(T, redirect(Y, of("c", "z")));
    at("c").put(T, resource(of("c", "z"), "Z", "1"));
    const [x, y] = [watch(X), watch(Y)];
    await turn();
    await turn();
    expect([x.now, y.now, x.version === y.version, at("c").wanted]).toEqual([
      "Z",
      "Z",
      false,
      [of("c", "z")],
    ]);
    y.close();
    await turn();
    expect([x.now, at("b").wanted]).toEqual(["Z", [Y]]);
    x.close();
    await turn();
    expect(["a", "b", "c"].map((id) => at(id).wanted)).toEqual([[], [], []]);
  });
});

it("is one name in a transaction, whatever the parameters that it is asked for with (TP2)", async () => {
  const { at, watch, cache } = await useLink();
  for (const env of ["prod", "test"])
    cache
      .topic(T, { name: `${X}#alt=${Y}`, parameters: new Map([["env", env]]) })
      .watch({ wake: () => undefined });
  await turn();
  await turn();
  expect(
    cache.topic(T, { name: `${X}#alt=${Y}`, parameters: new Map([["env", "prod"]]) }).members()[0]
      ?.resource?.name,
  ).toBe(Y);
  at("a").remove(T, X);
  expect(watch(`${X}#alt=${Y}`).now).toContain("does not exist");
});

describe("what is let go of and taken up again in one turn", () => {
  it("is as it was: a server would not say it again", async () => {
    const { at, watch } = await useLink();
    const x = watch(X);
    await turn();
    at("b").silent = true;
    at("a").put(T, resource(X, "real"));
    at("a").put(T, redirect(X, Y));
    await turn();
    expect([x.now, at("b").wanted]).toEqual(["Y", [Y]]);
  });
});

describe("an error beside what is held", () => {
  it("is that of the target: of its authority, of its name; and none of another's [C-GRPC-4]", async () => {
    const { at, watch } = await useLink();
    const [x, other] = [watch(X), watch(of("a", "other"))];
    at("a").put(T, resource(of("a", "other"), "O"));
    await turn();
    at("b").fail("b is down");
    expect([x.now, other.now]).toEqual(["Y (b is down)", "O"]);
    at("b").fail(undefined);
    expect(x.now).toBe("Y");
    at("b").sink.unavailable(
      { typeUrl: T, interest: { name: Y } },
      new XdsError("UNAVAILABLE", "not now"),
    );
    expect(x.now).toBe("Y (not now)");
    at("b").put(T, resource(Y, "Y2"));
    at("b").sink.unavailable({ typeUrl: T, interest: { name: Y } }, undefined);
    expect(x.now).toBe("Y2");
    at("a").fail("a is down");
    expect([x.now, other.now]).toEqual(["Y2 (a is down)", "O (a is down)"]);
  });

  it("stands beside a collection of which a member leads there, and beside one that is asked for later", async () => {
    const { at, watch } = await scene(["a", "b"]);
    at("a").put(T, redirect(of("a", "ns/x"), Y));
    at("b").put(T, resource(Y, "Y"));
    const one = watch(of("a", "ns/x"));
    await turn();
    at("b").fail("b is down");
    const glob = watch(of("a", "ns/*"));
    await turn();
    expect([one.now, glob.members, glob.topic.stale?.text]).toEqual([
      "Y (b is down)",
      "x=Y",
      "b is down",
    ]);
    one.close();
    await turn();
    const again = watch(of("a", "ns/x"));
    at("b").fail(undefined);
    expect([again.topic.stale, glob.topic.stale]).toEqual([undefined, undefined]);
  });

  it("goes with what it is an error of", async () => {
    const { at, watch } = await useLink();
    const x = watch(X);
    await turn();
    at("b").fail("b is down");
    at("a").put(T, resource(X, "real"));
    expect(x.now).toBe("real");
    at("a").put(T, redirect(X, of("b", "none")));
    await turn();
    expect(x.now).toBe("real (b is down)");
    at("a").remove(T, X);
    expect(x.now).toBe("-");
  });
});

describe("what a reader rejects", () => {
  const check = ({
    payload,
  }: {
    readonly payload: { readonly value: Uint8Array };
  }): XdsError | undefined =>
    new TextDecoder().decode(payload.value).startsWith("bad")
      ? new XdsError("INVALID_ARGUMENT", "it is bad")
      : undefined;

  it("under the name that led there is rejected to the server that gave it; what was held stays, with the error [C-ACK-3, C-REDIR-1]", async () => {
    const { at, watch, cache } = await useLink();
    cache.check(T, { name: X }, check);
    const [x, y] = [watch(X), watch(Y)];
    await turn();
    at("b").put(T, resource(Y, "bad"));
    const rejected = at("b").answers.at(-1)?.rejected ?? [];
    expect(rejected.map(({ typeUrl, name, error }) => [typeUrl, name, error.text])).toEqual([
      [T, Y, "it is bad"],
    ]);
    expect([x.now, y.now]).toEqual(["Y (it is bad)", "bad"]);
    at("b").put(T, resource(Y, "good"));
    expect([x.now, at("b").answers.at(-1)?.rejected]).toEqual(["good", undefined]);
  });

  it("is told once, however many names it is rejected under, and not again while it is the same", async () => {
    const { at, watch, cache } = await useLink();
    at("a").put(T, redirect(of("a", "x2"), Y));
    for (const name of [X, of("a", "x2")]) {
      cache.check(T, { name }, check);
      watch(name);
    }
    await turn();
    at("b").put(T, resource(Y, "bad", "7"));
    expect(at("b").answers.at(-1)?.rejected?.length).toBe(1);
    const before = cache.counters.rejected;
    at("b").fail("down");
    at("a").put(T, redirect(of("a", "x2"), Y));
    await turn();
    expect([
      cache.counters.rejected,
      at("a").answers.flatMap(({ rejected = [] }) => rejected),
    ]).toEqual([before, []]);
  });

  it("is reported again for another version, though the error is the same, and not for the same version [C-ACK-18]", async () => {
    const { at, watch, cache } = await useLink();
    cache.check(T, { name: X }, check);
    const { topic } = watch(X);
    await turn();
    let reports = 0;
    topic.watch({
      wake() {
        reports++;
      },
    });
    const after = ["7", "7", "8"].map((version) => {
      at("b").put(T, resource(Y, "bad", version));
      return [reports, topic.stale?.text, at("b").answers.at(-1)?.rejected?.length];
    });
    expect(after).toEqual([
      [1, "it is bad", 1],
      [1, "it is bad", 1],
      [2, "it is bad", 1],
    ]);
    at("b").put(T, resource(Y, "good"));
    expect([topic.stale, at("b").answers.at(-1)?.rejected]).toEqual([undefined, undefined]);
  });
});
