import { XdsError } from "@xdstp/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { of, redirect, resource, scene, T, type Scene, type Watched } from "../../test/scene.ts";
import { settle, turn } from "../../test/turn.ts";
import type { FederationOptions } from "../index.ts";
import { Search } from "../links/search.ts";

const GLOB = `${of("a", "ns/*")}#alt=${of("b", "ns/*")}`;
const memberName = (id: string): string => `${of("a", `ns/${id}`)}#alt=${of("b", "ns/*")}`;
const directed = (id: string): string => `${of("a", `ns/${id}`)}#alt=${of("b", `ns/${id}`)}`;
const complete = [{ typeUrl: T, interest: { name: of("a", "ns/*") } }];

/** Creates two servers: `a` has m and n, `b` has n and o. */
async function useTwo(options: Partial<FederationOptions> = {}): Promise<Scene> {
  const two = await scene(["a", "b", "c"], options);
  for (const [authority, ids] of [
    ["a", ["m", "n"]],
    ["b", ["n", "o"]],
  ] as const)
    for (const id of ids)
      two.at(authority).put(T, resource(of(authority, `ns/${id}`), `${id} of ${authority}`, "1"));
  return two;
}

/**
 * Prints the members by the last part of their own name. Each has the name under the primary, with
 * the alternative of the glob.
 */
function members({ topic }: Watched): string {
  return topic
    .members()
    .flatMap(({ name, resource: held }) => {
      const id = /^xdstp:\/\/a\/t\.T\/ns\/([^/#]+)#alt=xdstp:\/\/b\/t\.T\/ns\/\*$/.exec(name)?.[1];
      return held === undefined
        ? []
        : [`${id ?? name}=${new TextDecoder().decode(held.payload.value)}`];
    })
    .sort()
    .join(", ");
}

/** Collects all states that a reader sees. */
function states(watched: Watched): readonly string[] {
  const seen: string[] = [];
  let last = members(watched);
  watched.topic.watch({
    wake: () => {
      if (last !== members(watched)) seen.push((last = members(watched)));
    },
  });
  return seen;
}

describe("a glob with an alternative", () => {
  it("has the members of the primary under its own names, asked for by the bare glob [C-ALT-1, C-ALT-7]", async () => {
    const { at, watch } = await useTwo();
    const glob = watch(GLOB);
    await settle();
    expect([members(glob), glob.topic.settled, at("a").wanted, at("b").opened]).toEqual([
      "m=m of a, n=n of a",
      true,
      [of("a", "ns/*")],
      0,
    ]);
    at("a").put(T, resource(of("a", "ns/p"), "p of a"));
    at("a").put(T, resource(of("a", "ns/m"), "m2 of a"));
    at("a").remove(T, of("a", "ns/n"));
    expect([members(glob), at("a").wanted]).toEqual(["m=m2 of a, p=p of a", [of("a", "ns/*")]]);
  });

  it("has those of the alternative while the primary's source cannot be reached and nothing is cached [C-ALT-2, C-ALT-7]", async () => {
    const { at, watch, federation } = await useTwo();
    at("a").fail("a is down");
    const glob = watch(GLOB);
    await settle();
    expect([members(glob), glob.topic.settled, glob.topic.stale, at("b").wanted]).toEqual([
      "n=n of b, o=o of b",
      true,
      undefined,
      [of("b", "ns/*")],
    ]);
    at("b").put(T, resource(of("b", "ns/n"), "n2 of b"));
    at("b").remove(T, of("b", "ns/o"));
    expect(members(glob)).toBe("n=n2 of b");
    expect(federation.traces().map(({ name, hops }) => [name, hops])).toEqual([
      [memberName("n"), [{ kind: "alt", to: of("b", "ns/n") }]],
    ]);
  });

  it("changes over in one transaction when the primary has settled again, after the hold [C-ALT-4, C-ALT-7]", async () => {
    const { at, watch, pass } = await useTwo();
    at("a").fail("a is down");
    const glob = watch(GLOB);
    await settle();
    const seen = states(glob);
    at("a").silent = true;
    at("a").fail(undefined);
    at("a").silent = false;
    await pass(6_000);
    at("a").put(T, resource(of("a", "ns/m"), "m of a", "1"));
    await settle();
    expect([members(glob), seen]).toEqual(["n=n of b, o=o of b", []]);
    void at("a").sink.commit({
      put: [{ typeUrl: T, resource: resource(of("a", "ns/n"), "n of a", "1") }],
      settled: complete,
    });
    expect([members(glob), seen]).toEqual(["m=m of a, n=n of a", ["m=m of a, n=n of a"]]);
    await turn();
    expect([at("b").wanted, at("a").wanted]).toEqual([[], [of("a", "ns/*")]]);
  });

  it("has versions of its own on each side, though those of the servers are equal [S-VER-4, C-ALT-6]", async () => {
    const { at, watch, pass } = await useTwo();
    at("a").fail("a is down");
    const glob = watch(GLOB);
    await settle();
    const version = (): string | undefined => glob.topic.get(memberName("n"))?.resource?.version;
    const before = version();
    const one = watch(directed("n"));
    await settle();
    expect([before === "1", one.version]).toEqual([false, before]);
    one.close();
    at("a").fail(undefined);
    await pass(6_000);
    expect(version()).toBe("1");
  });

  it("holds what it has chosen for 5 s [C-ALT-4, C-ALT-7]", async () => {
    const { at, watch, pass } = await useTwo();
    at("a").fail("a is down");
    const glob = watch(GLOB);
    await settle();
    await pass(1_000);
    at("a").fail(undefined);
    await settle();
    await pass(3_999);
    expect([members(glob), at("b").wanted]).toEqual(["n=n of b, o=o of b", [of("b", "ns/*")]]);
    await pass(1);
    expect([members(glob), at("b").wanted]).toEqual(["m=m of a, n=n of a", []]);
  });

  it("stays with what is cached, with the reason beside it [C-ALT-3, C-ALT-7]", async () => {
    const { at, watch } = await useTwo();
    const glob = watch(GLOB);
    await settle();
    at("a").fail("a is down");
    await settle();
    expect([members(glob), glob.topic.stale?.text, at("b").opened]).toEqual([
      "m=m of a, n=n of a",
      "a is down",
      0,
    ]);
    at("a").fail(undefined);
    await settle();
    expect([members(glob), glob.topic.stale]).toEqual(["m=m of a, n=n of a", undefined]);
  });

  it("changes over on unreachability alone where that is configured, when all of the alternative is known [C-ALT-3, C-ALT-7]", async () => {
    const { at, watch, pass } = await useTwo({ altOnUnreachable: () => true });
    const glob = watch(GLOB);
    await settle();
    const seen = states(glob);
    at("b").silent = true;
    at("a").fail("a is down");
    await settle();
    at("b").silent = false;
    at("b").put(T, resource(of("b", "ns/n"), "n of b", "1"));
    expect(members(glob)).toBe("m=m of a, n=n of a");
    void at("b").sink.commit({
      put: [{ typeUrl: T, resource: resource(of("b", "ns/o"), "o of b", "1") }],
      settled: [{ typeUrl: T, interest: { name: of("b", "ns/*") } }],
    });
    expect([members(glob), glob.topic.stale]).toEqual(["n=n of b, o=o of b", undefined]);
    at("a").fail(undefined);
    await pass(6_000);
    expect(seen).toEqual(["n=n of b, o=o of b", "m=m of a, n=n of a"]);
  });

  it("follows members that lead elsewhere, on either side, and does not change over before it is known where to [C-ALT-7, C-REDIR-6]", async () => {
    const { at, watch, pass } = await useTwo();
    at("c").put(T, resource(of("c", "one"), "one of c"));
    at("c").put(T, resource(of("c", "two"), "two of c"));
    at("b").put(T, redirect(of("b", "ns/n"), of("c", "one")));
    at("a").put(T, redirect(of("a", "ns/n"), of("c", "two")));
    at("a").fail("a is down");
    const glob = watch(GLOB);
    await settle();
    expect([members(glob), at("c").wanted]).toEqual(["n=one of c, o=o of b", [of("c", "one")]]);
    await pass(6_000);
    at("c").silent = true;
    at("a").fail(undefined);
    await settle();
    expect([members(glob), at("c").wanted]).toEqual([
      "n=one of c, o=o of b",
      [of("c", "one"), of("c", "two")],
    ]);
    at("c").silent = false;
    at("c").put(T, resource(of("c", "two"), "two of c"));
    await settle();
    expect([members(glob), at("c").wanted]).toEqual(["m=m of a, n=two of c", [of("c", "two")]]);
    at("c").put(T, resource(of("c", "two"), "new of c"));
    expect(members(glob)).toBe("m=m of a, n=new of c");
    at("a").put(T, resource(of("a", "ns/n"), "real"));
    await settle();
    expect([members(glob), at("c").wanted]).toEqual(["m=m of a, n=real", []]);
  });

  it("tries alternatives of alternatives, and says why there is none [C-ALT-5, C-ALT-7]", async () => {
    const { at, watch } = await scene(["a", "b", "c"]);
    for (const id of ["a", "b", "c"]) at(id).fail(`${id} is down`);
    at("c").put(T, resource(of("c", "other/m"), "m of c"));
    const glob = watch(
      `${of("a", "ns/*")}#alt=${encodeURIComponent(`${of("b", "ns/*")}#alt=${of("c", "other/*")}`)}`,
    );
    await settle();
    await settle();
    expect([glob.topic.stale?.text, glob.topic.settled]).toEqual([
      "a is down; its alternative: b is down; its alternative: c is down",
      false,
    ]);
    const other = watch(GLOB);
    await settle();
    expect(other.topic.stale?.text).toBe("a is down; its alternative: b is down");
    other.close();
    await settle();
    expect(other.topic.stale).toBeUndefined();
    at("c").fail(undefined);
    await settle();
    expect([glob.topic.stale, glob.topic.members().map(({ name }) => name)]).toEqual([
      undefined,
      [`${of("a", "ns/m")}#alt=${of("b", "ns/*")}%23alt=${of("c", "other/*")}`],
    ]);
    at("a").fail(undefined);
    await settle();
    expect([glob.topic.settled]).toEqual([true]);
  });

  it("is empty when the primary says so; then the alternative is asked only where that is configured [C-ALT-2, C-ALT-7, C-GLOB-8]", async () => {
    for (const [altOn, expected] of [
      ["unreachable", ""],
      ["missing", "n=n of b, o=o of b"],
    ] as const) {
      const { at, watch } = await useTwo({ altOn });
      for (const id of ["m", "n"]) at("a").remove(T, of("a", `ns/${id}`));
      const glob = watch(GLOB);
      await settle();
      expect([members(glob), glob.topic.settled]).toEqual([expected, true]);
      at("a").fail("a is down");
      expect(glob.topic.stale?.text).toBe(altOn === "missing" ? undefined : "a is down");
    }
  });

  it("drops what is not in it when the server says all of it again [C-GLOB-8]", async () => {
    const { at, watch } = await useTwo();
    const glob = watch(GLOB);
    await settle();
    void at("a").sink.commit({
      put: [{ typeUrl: T, resource: resource(of("a", "ns/q"), "q of a") }],
      complete,
    });
    expect(members(glob)).toBe("q=q of a");
    void at("a").sink.commit({ complete });
    expect([members(glob), glob.topic.settled]).toEqual(["", true]);
  });

  it("drops what only a server has given that has been left [C-GRPC-11]", async () => {
    const { at, watch } = await scene({ a: ["a1", "a2"], b: ["b"] });
    at("a1").put(T, resource(of("a", "ns/m"), "m of a1"));
    for (const id of ["m", "n"]) at("a2").put(T, resource(of("a", `ns/${id}`), `${id} of a2`));
    at("a1").fail("a1 is down");
    const glob = watch(GLOB);
    await settle();
    expect(members(glob)).toBe("m=m of a2, n=n of a2");
    at("a1").silent = true;
    at("a1").fail(undefined);
    at("a1").silent = false;
    void at("a1").sink.commit({
      put: [{ typeUrl: T, resource: resource(of("a", "ns/m"), "m of a1") }],
    });
    expect(members(glob)).toBe("m=m of a1, n=n of a2");
    void at("a1").sink.commit({ settled: complete });
    await settle();
    expect([members(glob), at("a2").wanted]).toEqual(["m=m of a1", []]);
  });

  it("shares its primary with who asks for that, whoever comes first, and each keeps what it has when the other goes", async () => {
    const { at, watch } = await useTwo();
    const bare = watch(of("a", "ns/*"));
    await settle();
    const glob = watch(GLOB);
    await settle();
    const late = watch(of("a", "ns/m"));
    await settle();
    expect([bare.members, members(glob), glob.topic.settled, late.now]).toEqual([
      "m=m of a n=n of a",
      "m=m of a, n=n of a",
      true,
      "m of a",
    ]);
    bare.close();
    late.close();
    await settle();
    at("a").put(T, resource(of("a", "ns/m"), "m2 of a"));
    expect([members(glob), at("a").wanted]).toEqual(["m=m2 of a, n=n of a", [of("a", "ns/*")]]);
    const again = watch(of("a", "ns/*"));
    await settle();
    expect([again.members, again.topic.settled]).toEqual(["m=m2 of a n=n of a", true]);
    glob.close();
    await settle();
    at("a").put(T, resource(of("a", "ns/m"), "m3 of a"));
    expect(again.members).toBe("m=m3 of a n=n of a");
  });

  it("has no member of which a server is silent, as a glob without alternatives [C-ALT-7, C-GRPC-11]", async () => {
    const { at, watch } = await useTwo();
    const [glob, plain] = [watch(GLOB), watch(of("a", "ns/*"))];
    watch(directed("m"));
    await settle();
    const error = new XdsError("NOT_FOUND", "m has not come in time", { reason: "late" });
    void at("a").sink.commit({ remove: [{ typeUrl: T, name: of("a", "ns/m"), error }] });
    await settle();
    const held = plain.topic
      .members()
      .filter(({ resource: one }) => one !== undefined)
      .map(({ name }) => name);
    expect([members(glob), held]).toEqual(["n=n of a", [of("a", "ns/n")]]);
  });

  it("leaves a member to who asks for it by its own name, and takes it up again", async () => {
    const { at, watch } = await useTwo();
    const glob = watch(GLOB);
    await settle();
    const one = watch(directed("m"));
    await settle();
    expect([one.now, members(glob), at("a").wanted]).toEqual([
      "m of a",
      "m=m of a, n=n of a",
      [of("a", "ns/*"), of("a", "ns/m")],
    ]);
    at("a").put(T, resource(of("a", "ns/m"), "m2 of a"));
    expect([one.now, members(glob)]).toEqual(["m2 of a", "m=m2 of a, n=n of a"]);
    one.close();
    await settle();
    at("a").put(T, resource(of("a", "ns/m"), "m3 of a"));
    expect([members(glob), at("a").wanted]).toEqual(["m=m3 of a, n=n of a", [of("a", "ns/*")]]);
  });

  it("stays on one side, whatever a name with the same alternative has chosen for itself, and leaves that alone [C-ALT-4, C-ALT-7]", async () => {
    const { at, watch, pass } = await useTwo();
    at("a").fail("a is down");
    const [glob, one] = [watch(GLOB), watch(directed("n"))];
    await settle();
    await pass(6_000);
    at("a").silent = true;
    at("a").fail(undefined);
    at("a").silent = false;
    at("a").put(T, resource(of("a", "ns/n"), "n of a"));
    expect([one.now, members(glob)]).toEqual(["n of a", "n=n of b, o=o of b"]);
    at("b").put(T, resource(of("b", "ns/n"), "n2 of b"));
    expect([one.now, members(glob)]).toEqual(["n of a", "n=n2 of b, o=o of b"]);
    one.close();
    await settle();
    expect(members(glob)).toBe("n=n2 of b, o=o of b");
    const again = watch(directed("n"));
    await settle();
    expect([again.now, members(glob)]).toEqual(["n of a", "n=n2 of b, o=o of b"]);
    glob.close();
    await settle();
    expect(again.now).toBe("n of a");
  });

  it("has members that nobody can ask for by themselves: the alternative of a name is not a glob [C-ALT-7]", async () => {
    const { watch } = await useTwo();
    const [glob, one] = [watch(GLOB), watch(memberName("n"))];
    await settle();
    expect([members(glob), one.topic.stale?.text]).toEqual([
      "m=m of a, n=n of a",
      `its alternative ${of("b", "ns/*")} is a glob`,
    ]);
    one.close();
    await settle();
    expect(members(glob)).toBe("m=m of a, n=n of a");
  });

  it("leaves nothing of the other side when a member of the one changed over to cannot be had, or is rejected [C-ALT-7]", async () => {
    const { at, watch, pass, cache } = await useTwo();
    for (const id of ["p", "q"]) at("b").put(T, resource(of("b", `ns/${id}`), `${id} of b`));
    at("a").put(T, redirect(of("a", "ns/n"), of("c", "none")));
    at("a").put(T, redirect(of("a", "ns/o"), of("none", "o")));
    at("a").put(T, redirect(of("a", "ns/p"), of("c", "p")));
    at("a").put(T, resource(of("a", "ns/q"), "bad"));
    cache.check(T, { name: GLOB }, ({ payload }) =>
      new TextDecoder().decode(payload.value) === "bad"
        ? new XdsError("INVALID_ARGUMENT", "bad")
        : undefined,
    );
    at("a").fail("a is down");
    const glob = watch(GLOB);
    await settle();
    at("a").fail(undefined);
    await settle();
    at("c").fail("c is down");
    await pass(6_000);
    expect(members(glob)).toBe("m=m of a, q=q of b");
    at("a").remove(T, of("a", "ns/q"));
    expect(members(glob)).toBe("m=m of a");
  });

  it("ends a member whose time is over [C-TTL-4]", async () => {
    const { at, watch, pass } = await useTwo();
    const glob = watch(GLOB);
    at("a").put(T, { ...resource(of("a", "ns/m"), "short"), expireMs: 1_000 });
    await settle();
    await pass(999);
    void at("a").sink.commit({ refresh: [{ typeUrl: T, name: of("a", "ns/m"), expireMs: 1_000 }] });
    await pass(999);
    expect(members(glob)).toBe("m=short, n=n of a");
    await pass(1);
    expect(members(glob)).toBe("n=n of a");
  });

  it("tells the server that gave it what a reader rejects of a member [C-ACK-3]", async () => {
    const { at, watch, cache } = await useTwo();
    const glob = watch(GLOB);
    cache.check(T, { name: GLOB }, ({ payload }) =>
      new TextDecoder().decode(payload.value) === "bad"
        ? new XdsError("INVALID_ARGUMENT", "bad")
        : undefined,
    );
    await settle();
    at("a").put(T, resource(of("a", "ns/m"), "bad"));
    expect([
      at("a")
        .answers.at(-1)
        ?.rejected?.map(({ name }) => name),
      members(glob),
    ]).toEqual([[of("a", "ns/m")], "m=m of a, n=n of a"]);
  });

  it("stays on its side where one of its members is rejected: that is not unreachability [C-ALT-3, C-ALT-7]", async () => {
    const { at, watch } = await useTwo({ altOnUnreachable: () => true });
    const glob = watch(GLOB);
    await settle();
    at("a").sink.unavailable(
      { typeUrl: T, interest: { name: of("a", "ns/*") } },
      new XdsError("INVALID_ARGUMENT", "n is rejected"),
    );
    await settle();
    expect([members(glob), glob.topic.stale?.text, at("b").opened]).toEqual([
      "m=m of a, n=n of a",
      "n is rejected",
      0,
    ]);
  });

  it("is complete though a member is rejected that would lead to a glob [C-REDIR-6, C-GLOB-9]", async () => {
    const { at, watch } = await useTwo();
    at("a").put(T, redirect(of("a", "ns/bad"), of("b", "ns/*")));
    const glob = watch(GLOB);
    await settle();
    expect([
      members(glob),
      glob.topic.settled,
      at("a")
        .answers.at(-1)
        ?.rejected?.map(({ name }) => name),
    ]).toEqual(["m=m of a, n=n of a", true, [of("a", "ns/bad")]]);
  });

  it("presents to each server what that gave [C-ALT-8, C-RECON-3]", async () => {
    const { at, watch } = await useTwo();
    at("a").fail("a is down");
    watch(GLOB);
    await settle();
    at("a").fail(undefined);
    await settle();
    expect([at("a").held(T), at("b").held(T)]).toEqual([
      [`${of("a", "ns/m")} 1`, `${of("a", "ns/n")} 1`],
      [`${of("b", "ns/n")} 1`, `${of("b", "ns/o")} 1`],
    ]);
  });

  it("leaves nothing behind", async () => {
    const { at, watch, pass, federation, clock, cache } = await useTwo();
    at("a").fail("a is down");
    at("b").put(T, redirect(of("b", "ns/n"), of("c", "one")));
    const glob = watch(GLOB);
    await settle();
    glob.close();
    await settle();
    await pass(30_000);
    expect([
      federation.traces(),
      ["a", "b", "c"].map((id) => [at(id).isOpen, at(id).wanted]),
      clock.pending,
      cache.counters.resources,
    ]).toEqual([
      [],
      [
        [false, []],
        [false, []],
        [false, []],
      ],
      0,
      0,
    ]);
  });

  it("looks at one member for the change of one, however many there are [C-ALT-7]", async () => {
    const { at, watch } = await scene(["a", "b"]);
    for (let n = 0; n < 100; n++) at("a").put(T, resource(of("a", `ns/${n}`), "v"));
    const glob = watch(GLOB);
    await settle();
    const looks = vi.spyOn(Search.prototype, "run");
    onTestFinished(() => {
      looks.mockRestore();
    });
    at("a").put(T, resource(of("a", "ns/0"), "w"));
    expect([glob.topic.members().length, looks.mock.calls.length]).toEqual([100, 1]);
    at("a").put(T, resource(of("a", "ns/new"), "w"));
    at("a").remove(T, of("a", "ns/1"));
    expect([glob.topic.members().length, looks.mock.calls.length]).toEqual([100, 3]);
  });
});
