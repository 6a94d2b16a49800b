import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import {
  LIST,
  of,
  listNamed,
  resource,
  scene,
  T,
  type Answering,
  type Scene,
} from "../../test/scene.ts";
import { settle, turn } from "../../test/turn.ts";
import type { FederationOptions } from "../index.ts";

const alt = (...places: readonly string[]): string =>
  places.reduceRight((inner, place) => `${place}#alt=${encodeURIComponent(inner)}`);
const [A, B, C] = [of("a", "x"), of("b", "x"), of("c", "x")];

/** Creates three authorities, each with a text of its own for `x`. */
async function useThree(
  options: Partial<FederationOptions> = {},
  answering: Answering = ["a", "b", "c"],
): Promise<Scene> {
  const three = await scene(answering, options);
  for (const authority of ["a", "b", "c"])
    for (const id of ["x", "y"])
      three.servers[authority]?.put(T, resource(of(authority, id), `${id} of ${authority}`, "1"));
  return three;
}

describe("a name with an alternative", () => {
  it("asks the primary by its bare name, and nobody else while that answers [C-ALT-1, C-ALT-2]", async () => {
    const { at, watch } = await useThree();
    const x = watch(alt(A, B));
    await settle();
    expect([x.now, at("a").wanted, at("b").opened]).toEqual(["x of a", [A], 0]);
  });

  it("asks the alternative by its bare name when the primary's source fails and nothing is cached [C-ALT-1, C-ALT-2]", async () => {
    const { at, watch, federation } = await useThree();
    at("a").fail("a is down");
    const x = watch(alt(A, B));
    await settle();
    expect([x.now, at("a").wanted, at("b").wanted]).toEqual(["x of b", [A], [B]]);
    expect(federation.traces()).toEqual([
      { typeUrl: T, name: alt(A, B), state: "held", hops: [{ kind: "alt", to: B }] },
    ]);
  });

  it("asks it when nothing comes of the name in time, and not when the primary says that there is none [C-ALT-2]", async () => {
    const { at, watch } = await useThree();
    at("a").remove(T, of("a", "y"));
    at("a").silent = true;
    const x = watch(alt(A, B));
    await settle();
    expect(x.now).toBe("?");
    at("a").silent = false;
    at("a").late(T, A);
    await settle();
    expect(x.now).toBe("x of b");
    const y = watch(alt(of("a", "y"), of("b", "y")));
    await settle();
    expect([y.now, at("b").wanted]).toEqual([expect.stringContaining("does not exist"), [B]]);
  });

  it("asks it where a name is unavailable as such, as of servers for which being late is that [C-ALT-2, C-GRPC-10]", async () => {
    const { at, watch } = await useThree();
    at("a").silent = true;
    const x = watch(alt(A, B));
    await settle();
    at("a").sink.unavailable(
      { typeUrl: T, interest: { name: A } },
      new XdsError("UNAVAILABLE", "late"),
    );
    await settle();
    expect(x.now).toBe("x of b");
  });

  it("asks it where the one stream of its type fails, at a server that has one for each [C-ALT-2, C-AGG-2]", async () => {
    const { at, watch } = await useThree();
    at("a").silent = true;
    const x = watch(alt(A, B));
    await settle();
    at("a").sink.unavailable({ typeUrl: LIST }, new XdsError("UNAVAILABLE", "another type"));
    await settle();
    expect(x.now).toBe("?");
    at("a").sink.unavailable({ typeUrl: T }, new XdsError("UNAVAILABLE", "no stream"));
    await settle();
    expect(x.now).toBe("x of b");
  });

  it("asks it for what does not exist too, where that is configured [C-ALT-2]", async () => {
    const { at, watch } = await useThree({ altOn: "missing" });
    at("a").remove(T, A);
    const x = watch(alt(A, B));
    await settle();
    expect(x.now).toBe("x of b");
  });

  it("is told apart from silence where both servers say that there is none [C-ALT-2]", async () => {
    const { at, watch } = await useThree({ altOn: "missing" });
    at("a").remove(T, A);
    at("b").remove(T, B);
    const x = watch(alt(A, B));
    await settle();
    const error = x.topic.members()[0]?.error;
    expect(error?.code).toBe("NOT_FOUND");
    expect(error?.context.reason).toBe("no-alternative");
  });

  it("stays with what is cached, and says why it may be old [C-ALT-3]", async () => {
    const { at, watch } = await useThree();
    const x = watch(alt(A, B));
    await settle();
    at("a").fail("a is down");
    await settle();
    expect([x.now, at("b").opened]).toEqual(["x of a (a is down)", 0]);
    const late = watch(alt(A, C));
    await settle();
    expect([late.now, at("c").opened]).toEqual(["x of a (a is down)", 0]);
  });

  it("takes what readers have under the bare name for cached too [C-ALT-3]", async () => {
    const { at, watch } = await useThree();
    watch(A);
    await settle();
    at("a").fail("a is down");
    const x = watch(alt(A, B));
    await settle();
    expect([x.now, at("b").opened]).toEqual(["x of a (a is down)", 0]);
  });

  it("changes over on unreachability alone, where that is configured for the authority [C-ALT-3]", async () => {
    const { at, watch } = await useThree({ altOnUnreachable: (authority) => authority === "a" });
    const x = watch(alt(A, B));
    const other = watch(alt(C, B));
    await settle();
    at("a").fail("a is down");
    at("c").fail("c is down");
    await settle();
    expect([x.now, other.now]).toEqual(["x of b", "x of c (c is down)"]);
  });

  it("goes back with the first that comes from the primary, 5 s after it left it with jitter, and leaves the alternative then [C-ALT-4]", async () => {
    const { at, watch, pass } = await useThree({ random: () => 0.5 });
    at("a").fail("a is down");
    const x = watch(alt(A, B));
    await settle();
    await pass(1_000);
    at("a").fail(undefined);
    await settle();
    expect(x.now).toBe("x of b");
    await pass(4_499);
    expect([x.now, at("b").wanted]).toEqual(["x of b", [B]]);
    await pass(1);
    expect([x.now, at("b").wanted]).toEqual(["x of a", []]);
  });

  it("does not wait where nothing is shown [C-ALT-4]", async () => {
    const { at, watch } = await useThree();
    at("a").fail("a is down");
    at("b").fail("b is down");
    const x = watch(alt(A, B));
    await settle();
    expect(x.now).toBe("- a is down; its alternative: b is down");
    at("a").fail(undefined);
    await settle();
    expect([x.now, at("b").wanted]).toEqual(["x of a", []]);
  });

  it("changes over once in 5 s while the primary comes and goes [C-ALT-4]", async () => {
    const { at, watch, pass } = await useThree({ altOnUnreachable: () => true });
    const x = watch(alt(A, B));
    await settle();
    const changes: string[] = [];
    for (let second = 0; second < 30; second++) {
      at("a").fail(second % 2 === 0 ? "a is down" : undefined);
      await settle();
      await pass(1_000);
      if (changes.at(-1) !== x.version) changes.push(x.version ?? "");
    }
    expect([changes.length, changes.length <= 7]).toEqual([expect.any(Number), true]);
    expect(changes.length).toBeGreaterThan(1);
    at("a").fail(undefined);
    await pass(6_000);
    await pass(6_000);
    expect([x.now, at("b").wanted]).toEqual(["x of a", []]);
  });

  it("tries alternatives of alternatives in their order: of three sources two are down [C-ALT-5]", async () => {
    const { at, watch, federation, pass } = await useThree();
    at("a").fail("a is down");
    at("b").fail("b is down");
    const x = watch(alt(A, B, C));
    await settle();
    await settle();
    expect([x.now, at("a").wanted, at("b").wanted, at("c").wanted]).toEqual([
      "x of c",
      [A],
      [B],
      [C],
    ]);
    expect(federation.traces()[0]?.hops.map(({ to }) => to)).toEqual([`${B}#alt=${C}`, C]);
    at("b").fail(undefined);
    await pass(6_000);
    expect([x.now, at("c").wanted]).toEqual(["x of b", []]);
    at("a").fail(undefined);
    await pass(6_000);
    expect([x.now, at("b").wanted]).toEqual(["x of a", []]);
  });

  it("says of all of them why there is none, and of an alternative that says so itself that it is unreachable", async () => {
    const { at, watch } = await useThree();
    for (const id of ["a", "b"]) at(id).fail(`${id} is down`);
    at("c").remove(T, C);
    const x = watch(alt(A, B, C));
    await settle();
    await settle();
    expect(x.now).toContain("a is down; its alternative: b is down; its alternative: ");
  });

  it("has a version of its own for each source, so that a change of source is seen [S-VER-4, C-ALT-6]", async () => {
    const { at, watch, pass } = await useThree();
    const x = watch(alt(A, B));
    await settle();
    const direct = x.version;
    at("a").remove(T, A);
    at("a").fail("a is down");
    x.close();
    await settle();
    const again = watch(alt(A, B));
    await settle();
    expect([direct, again.now, again.version === "1"]).toEqual(["1", "x of b", false]);
    at("a").put(T, resource(A, "x of a", "1"));
    at("a").fail(undefined);
    await pass(6_000);
    expect([again.now, again.version]).toEqual(["x of a", "1"]);
  });

  it("presents to each server what that gave, under its own name and version, and nothing of the other [C-ALT-8, C-RECON-3]", async () => {
    const { at, watch, pass } = await useThree();
    at("b").put(T, resource(B, "x of b", "7"));
    at("a").fail("a is down");
    watch(alt(A, B));
    await settle();
    expect([at("a").held(T), at("b").held(T)]).toEqual([[], [`${B} 7`]]);
    at("a").fail(undefined);
    await settle();
    expect([at("a").held(T), at("b").held(T)]).toEqual([[`${A} 1`], [`${B} 7`]]);
    await pass(6_000);
    expect([at("a").held(T), at("b").held(T)]).toEqual([[`${A} 1`], []]);
  });

  it("is rejected where the alternative has another type, or is a glob of one name [C-ALT-7]", async () => {
    const { watch, at } = await useThree();
    const wrong = [
      watch(alt(A, "xdstp://b/t.U/x")),
      watch(alt(A, "xdstp://b/t.T/ns/*")),
      watch(alt("xdstp://a/t.T/ns/*", B)),
    ];
    await settle();
    expect(wrong.map(({ topic }) => topic.stale?.text)).toEqual([
      "its alternative xdstp://b/t.U/x has the type t.U; it has to be t.T",
      "its alternative xdstp://b/t.T/ns/* is a glob",
      `its alternative ${B} is not a glob`,
    ]);
    expect(at("a").opened).toBe(0);
    for (const one of wrong) one.close();
    await turn();
    expect(wrong.map(({ topic }) => topic.stale)).toEqual([undefined, undefined, undefined]);
  });

  it("may be a list [C-ALT-7]", async () => {
    const { at, watch } = await useThree();
    at("b").put(LIST, listNamed("xdstp://b/t.TCollection/all", { one: "1" }));
    at("a").fail("a is down");
    const all = watch(alt("xdstp://a/t.TCollection/all", "xdstp://b/t.TCollection/all"), LIST);
    const entry = watch(
      `${alt("xdstp://a/t.TCollection/all", "xdstp://b/t.TCollection/all#entry=one")},entry=one`,
    );
    await settle();
    expect([all.topic.members().map(({ name }) => name), entry.now]).toEqual([
      [alt("xdstp://a/t.TCollection/all", "xdstp://b/t.TCollection/all")],
      "1",
    ]);
  });

  it("goes with what the alternative has removed, though the primary cannot be reached, and says why there is none [C-REM-2]", async () => {
    const { at, watch } = await useThree();
    at("a").fail("a is down");
    const x = watch(alt(A, B));
    await settle();
    expect(x.now).toBe("x of b");
    at("b").remove(T, B);
    await settle();
    expect([x.now.startsWith("- a is down; its alternative: "), at("b").wanted]).toEqual([
      true,
      [B],
    ]);
  });

  it("goes with what the primary has removed, though the alternative that is asked for it then cannot be reached [C-REM-2]", async () => {
    const { at, watch } = await useThree({ altOn: "missing" });
    const x = watch(alt(A, B));
    await settle();
    at("b").fail("b is down");
    at("a").remove(T, A);
    await settle();
    expect(x.now).toMatch(/^- .* does not exist; its alternative: b is down$/);
  });

  it.each([
    ["is rejected", "INVALID_ARGUMENT"],
    ["is removed, and kept with the error beside it", "NOT_FOUND"],
    ["may not be seen any more", "PERMISSION_DENIED"],
  ] as const)(
    "stays where what a live primary has given %s: that is not unreachability [C-ALT-2, C-ALT-3]",
    async (why, code) => {
      const { at, watch } = await useThree({ altOnUnreachable: () => true });
      at("a").silent = true;
      const none = watch(alt(of("a", "y"), of("b", "y")));
      await settle();
      at("a").silent = false;
      const x = watch(alt(A, B));
      await settle();
      for (const id of ["x", "y"])
        at("a").sink.unavailable(
          { typeUrl: T, interest: { name: of("a", id) } },
          new XdsError(code, why),
        );
      await settle();
      expect([x.now, none.now, at("b").opened]).toEqual([`x of a (${why})`, `- ${why}`, 0]);
      at("a").fail("a is down");
      await settle();
      expect([x.now, none.now]).toEqual(["x of b", "y of b"]);
    },
  );

  it("stays with the alternative while the primary is back and gives only what is rejected [C-ALT-4]", async () => {
    const { at, watch, pass } = await useThree();
    at("a").fail("a is down");
    const x = watch(alt(A, B));
    await settle();
    at("a").silent = true;
    at("a").fail(undefined);
    at("a").sink.unavailable(
      { typeUrl: T, interest: { name: A } },
      new XdsError("INVALID_ARGUMENT", "rejected"),
    );
    await pass(10_000);
    at("b").put(T, resource(B, "newer of b"));
    expect(x.now).toBe("newer of b");
  });

  it("asks the next server of the primary's source before the alternative [C-AUTH-3, C-ALT-2]", async () => {
    const { at, watch } = await useThree({}, { a: ["a", "a2"], b: ["b"] });
    at("a2").put(T, resource(A, "x of a2"));
    at("a").fail("a is down");
    const x = watch(alt(A, B));
    await settle();
    expect([x.now, at("b").opened]).toEqual(["x of a2", 0]);
  });
});
