import { createDnsResolver } from "@xdstp/bootstrap";
import { describe, expect, it } from "vitest";

import { of, redirect, resource, scene, T } from "../../test/scene.ts";
import { createStoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";
import { createSources } from "../create-sources.ts";
import type { FederationOptions } from "../federation.ts";

async function settle(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await turn();
}

describe("a resolver of authorities", () => {
  it("is asked once for an authority that nothing configures, and only for such", async () => {
    const found = createStoreServer("found");
    found.put(T, resource(of("b", "x"), "x of b"));
    const asked: string[] = [];
    const { watch } = await scene(["a"], {
      resolveAuthority: (authority) => {
        asked.push(authority);
        return { servers: [found] };
      },
    });
    const all = [watch(of("b", "x")), watch(of("b", "y")), watch(of("a", "x"))];
    await settle();
    expect([asked, all.map(({ now }) => now), found.wanted]).toEqual([
      ["b"],
      ["x of b", "-", "-"],
      [of("b", "x"), of("b", "y")],
    ]);
  });

  it("may take its time: until then nothing is known, also of names that lead there", async () => {
    const found = createStoreServer("found");
    for (const id of ["x", "ns/x"]) found.put(T, resource(of("b", id), "x of b"));
    const { promise, resolve } = Promise.withResolvers<{ servers: readonly [typeof found] }>();
    const { at, watch } = await scene(["a"], { resolveAuthority: () => promise });
    at("a").put(T, redirect(of("a", "x"), of("b", "x")));
    const all = [
      watch(of("b", "x")),
      watch(of("a", "x")),
      watch(`${of("b", "x")}#alt=${of("a", "z")}`),
      watch(`${of("b", "ns/*")}#alt=${of("a", "ns/*")}`),
    ];
    await settle();
    expect(all.map(({ now }) => now)).toEqual(["?", "?", "?", "?"]);
    resolve({ servers: [found] });
    await settle();
    expect(all.map(({ now }) => now)).toEqual(["x of b", "x of b", "x of b", "x of b"]);
  });

  it("finds out about each of many authorities that a server leads to without a look at all the others [C-LIM-7]", async () => {
    const names = Array.from({ length: 2_000 }, (_, n) => `ns/${n}`);
    const asked = new Set<string>();
    const { at, watch } = await scene(["a"], {
      resolveAuthority: (authority) => {
        asked.add(authority);
        return undefined;
      },
    });
    for (const [n, name] of names.entries())
      at("a").put(T, redirect(of("a", name), of(`b${n}`, "x")));
    const all = watch(of("a", "ns/*"));
    await settle();
    expect([asked.size, all.topic.settled]).toEqual([2_000, true]);
  }, 15_000); // takes twice as long if all other tests run at the same time

  it("that gives what is not a source is an error of its names [C-AUTH-5]", async () => {
    const { watch } = await scene(["a"], {
      resolveAuthority: (() => null) as unknown as NonNullable<
        FederationOptions["resolveAuthority"]
      >,
    });
    const b = watch(of("b", "x"));
    await settle();
    expect(b.now).toContain("the search for a server failed");
  });

  it("opens nobody that is found when all is closed", async () => {
    const found = createStoreServer("found");
    const { promise, resolve } = Promise.withResolvers<{ servers: readonly [typeof found] }>();
    const { cache, watch } = await scene(["a"], { resolveAuthority: () => promise });
    for (const name of [
      of("b", "x"),
      `${of("b", "y")}#alt=${of("a", "y")}`,
      `${of("b", "ns/*")}#alt=${of("a", "ns/*")}`,
    ])
      watch(name);
    await settle();
    await cache.close();
    resolve({ servers: [found] });
    await settle();
    expect(found.opened).toBe(0);
  });

  it("says with its error why there is none, and is asked again while somebody waits; who waits is served too [C-AUTH-5]", async () => {
    const found = createStoreServer("found");
    found.put(T, resource(of("b", "x"), "x of b"));
    let is: "missing" | "broken" | "there" = "missing";
    const { watch, at, pass } = await scene(["a"], {
      resolveAuthority: () => {
        if (is === "broken") throw new Error("no directory");
        return is === "there" ? { servers: [found] } : undefined;
      },
    });
    at("a").put(T, redirect(of("a", "x"), of("b", "x")));
    const all = [
      watch(of("b", "x")),
      watch(of("a", "x")),
      watch(`${of("b", "x")}#alt=${of("a", "1")}`),
      watch(`${of("b", "*")}#alt=${of("a", "ns/*")}`),
    ];
    await settle();
    expect(all.map(({ now }) => now)).toEqual(
      all.map(
        () => expect.stringContaining('no server is configured for the authority "b"') as string,
      ),
    );
    is = "broken";
    await pass(800);
    await settle();
    const again = watch(of("b", "y"));
    await settle();
    expect([...all, again].map(({ now }) => now)).toEqual(
      [...all, again].map(
        () => expect.stringContaining("the search for a server failed: no directory") as string,
      ),
    );
    is = "there";
    await pass(1_280);
    await settle();
    expect([...all, again].map(({ now }) => now)).toEqual([
      "x of b",
      "x of b",
      "x of b",
      "x of b",
      "-",
    ]);
  });

  it.each([
    ["names that readers ask for", of("b", "x")],
    ["names with directives", `${of("b", "x")}#alt=${of("a", "z")}`],
    ["globs with directives", `${of("b", "*")}#alt=${of("a", "ns/*")}`],
    ["names that servers lead to", of("a", "x")],
  ])("is asked again after waits that grow to two minutes, for %s [C-RECON-1]", async (_, name) => {
    const asked: number[] = [];
    const { at, watch, pass, clock } = await scene(["a"], {
      resolveAuthority: () => {
        asked.push(clock.now());
        throw new Error("no directory");
      },
    });
    at("a").put(T, redirect(of("a", "x"), of("b", "x")));
    const one = watch(name);
    await settle();
    for (let tenths = 0; tenths < 6_000; tenths++) {
      await pass(100);
    }
    const waits = asked.slice(1).map((time, index) => (time - (asked[index] ?? 0)) / 100);
    expect(waits.slice(0, 4)).toEqual([8, 13, 21, 33]);
    expect(waits.slice(-2)).toEqual([960, 960]);
    one.close();
    await settle();
    const { length } = asked;
    await pass(96_000);
    expect([asked.length, clock.pending]).toEqual([length, 0]);
  });

  it("is asked at once for who comes when the wait is over, and within it who comes has the reason", async () => {
    let asked = 0;
    const { watch, pass } = await scene(["a"], {
      resolveAuthority: () => {
        asked++;
        return undefined;
      },
    });
    watch(of("b", "x")).close();
    await settle();
    const within = watch(of("b", "y"));
    await settle();
    expect([asked, within.now]).toEqual([1, expect.stringContaining("no server is configured")]);
    within.close();
    await settle();
    await pass(800);
    expect(asked).toBe(1);
    watch(of("b", "z"));
    await settle();
    expect(asked).toBe(2);
  });

  it("has 15 s to answer; then its names have an error that says so, and what comes late is taken", async () => {
    const found = createStoreServer("found");
    for (const id of ["x", "ns/x"]) found.put(T, resource(of("b", id), "x of b"));
    const { promise, resolve } = Promise.withResolvers<{ servers: readonly [typeof found] }>();
    const { at, watch, pass } = await scene(["a"], { resolveAuthority: () => promise });
    at("a").put(T, redirect(of("a", "x"), of("b", "x")));
    const all = [
      watch(of("b", "x")),
      watch(of("a", "x")),
      watch(`${of("b", "x")}#alt=${of("a", "z")}`),
      watch(`${of("b", "ns/*")}#alt=${of("a", "ns/*")}`),
    ];
    await settle();
    await pass(14_999);
    expect(all.map(({ now }) => now)).toEqual(["?", "?", "?", "?"]);
    await pass(1);
    await settle();
    const why =
      'no server is configured for the authority "b"; known: "a"; the search for a server failed: resolveAuthority has not answered in 15 s';
    expect(all.map(({ now }) => now)).toEqual([
      `- ${why}`,
      `- ${of("a", "x")} -> ${of("b", "x")}: ${why}`,
      `- ${why}`,
      `- ${why}`,
    ]);
    resolve({ servers: [found] });
    await settle();
    expect(all.map(({ now }) => now)).toEqual(["x of b", "x of b", "x of b", "x of b"]);
  });

  it("that never answers is asked again, and any of its answers is taken", async () => {
    const found = createStoreServer("found");
    found.put(T, resource(of("b", "x"), "x of b"));
    const calls: PromiseWithResolvers<{ servers: readonly [typeof found] }>[] = [];
    const { watch, pass, clock } = await scene(["a"], {
      resolveMs: 2_000,
      resolveAuthority: () => {
        const call = Promise.withResolvers<{ servers: readonly [typeof found] }>();
        calls.push(call);
        return call.promise;
      },
    });
    const one = watch(of("b", "x"));
    await settle();
    await pass(2_000);
    expect([calls.length, one.now]).toEqual([
      1,
      expect.stringContaining("has not answered in 2 s"),
    ]);
    await pass(800);
    expect(calls).toHaveLength(2);
    calls[0]?.resolve({ servers: [found] });
    await settle();
    expect([one.now, found.opened]).toEqual(["x of b", 1]);
    calls[1]?.resolve({ servers: [createStoreServer("other")] });
    await settle();
    await pass(200_000);
    expect([one.now, calls.length, clock.pending]).toEqual(["x of b", 2, 0]);
  });

  it("is not for opaque names: who is found for the empty authority is not asked for them [C-AUTH-2, C-AUTH-6]", async () => {
    const found = createStoreServer("found");
    const { watch } = await scene(["a"], { resolveAuthority: () => ({ servers: [found] }) });
    const [opaque, empty] = [watch("opaque"), watch(of("", "x"))];
    await settle();
    expect([opaque.now, empty.now, found.wanted]).toEqual([
      "- no source is configured for opaque names; add a source for it",
      "-",
      [of("", "x")],
    ]);
  });

  it("that fails is an error that may pass, as it is asked again; that there is nobody is none [C-AUTH-5]", async () => {
    const { watch } = await scene(["a"], {
      resolveAuthority: (authority) => {
        if (authority === "b") throw new Error("no directory");
        return undefined;
      },
    });
    const both = [watch(of("b", "x")), watch(of("c", "x"))];
    await settle();
    expect(both.map(({ topic }) => topic.stale?.code)).toEqual(["UNAVAILABLE", "INVALID_ARGUMENT"]);
  });

  it("leaves nothing behind of who has gone in the meantime", async () => {
    const found = createStoreServer("found");
    const { promise, resolve } = Promise.withResolvers<{ servers: readonly [typeof found] }>();
    const { watch, federation } = await scene(["a"], { resolveAuthority: () => promise });
    const [x, glob] = [watch(of("b", "x")), watch(`${of("b", "ns/*")}#alt=${of("a", "ns/*")}`)];
    await settle();
    x.close();
    glob.close();
    await settle();
    resolve({ servers: [found] });
    await settle();
    expect([found.opened, federation.traces()]).toEqual([0, []]);
  });

  it("makes what DNS does not have an end, and what it does not say an error that may pass [C-AUTH-5]", async () => {
    const failure = (code: string): Promise<never> =>
      Promise.reject(Object.assign(new Error(code), { code }));
    const find = createDnsResolver({
      queries: {
        resolveSrv: (name) => failure(name === "_xds._tcp.c.example" ? "ETIMEOUT" : "ENOTFOUND"),
        resolve4: () => failure("ENOTFOUND"),
        resolve6: () => failure("ENOTFOUND"),
      },
    });
    const { watch } = await scene(["a"], {
      resolveAuthority: async (authority) => createSources([await find(authority)], {} as never)[0],
    });
    const all = [watch(of("b.example", "x")), watch(of("c.example", "x")), watch(of("b", "x"))];
    await expect
      .poll(() => all.map(({ topic }) => topic.stale?.code))
      .toEqual(["INVALID_ARGUMENT", "UNAVAILABLE", "INVALID_ARGUMENT"]);
    expect(all[0]?.now).toContain(
      "the search for a server failed: DNS has no SRV _xds._tcp.b.example and no address of b.example",
    );
  });
});
