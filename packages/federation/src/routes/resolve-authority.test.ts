import { describe, expect, it } from "vitest";

import { of, redirect, resource, scene, T } from "../../test/scene.ts";
import { createStoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";

async function settle(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await turn();
}

function deferred<What>(): { readonly promise: Promise<What>; readonly resolve: (what: What) => void } {
  let resolve: (what: What) => void = () => undefined;
  const promise = new Promise<What>((done) => { resolve = done; });
  return { promise, resolve };
}

describe("a resolver of authorities", () => {
  it("is asked once for an authority that nothing configures, and only for such", async () => {
    const found = createStoreServer("found");
    found.put(T, resource(of("b", "x"), "x of b"));
    const asked: string[] = [];
    const { watch } = await scene(["a"], { resolveAuthority: (authority) => { asked.push(authority); return { servers: [found] }; } });
    const all = [watch(of("b", "x")), watch(of("b", "y")), watch(of("a", "x"))];
    await settle();
    expect([asked, all.map(({ now }) => now), found.wanted]).toEqual([["b"], ["x of b", "-", "-"], [of("b", "x"), of("b", "y")]]);
  });

  it("may take its time: until then nothing is known, also of names that lead there", async () => {
    const found = createStoreServer("found");
    for (const id of ["x", "ns/x"]) found.put(T, resource(of("b", id), "x of b"));
    const { promise, resolve } = deferred<{ servers: readonly [typeof found] }>();
    const { at, watch } = await scene(["a"], { resolveAuthority: () => promise });
    at("a").put(T, redirect(of("a", "x"), of("b", "x")));
    const all = [watch(of("b", "x")), watch(of("a", "x")), watch(`${of("b", "x")}#alt=${of("a", "z")}`), watch(`${of("b", "ns/*")}#alt=${of("a", "ns/*")}`)];
    await settle();
    expect(all.map(({ now }) => now)).toEqual(["?", "?", "?", "?"]);
    resolve({ servers: [found] });
    await settle();
    expect(all.map(({ now }) => now)).toEqual(["x of b", "x of b", "x of b", "x of b"]);
  });

  it("finds out about each of many authorities that a server leads to without a look at all the others [C-LIM-7]", async () => {
    const names = Array.from({ length: 2_000 }, (_, n) => `ns/${n}`);
    const asked = new Set<string>();
    const { at, watch } = await scene(["a"], { resolveAuthority: (authority) => { asked.add(authority); return undefined; } });
    for (const [n, name] of names.entries()) at("a").put(T, redirect(of("a", name), of(`b${n}`, "x")));
    const all = watch(of("a", "ns/*"));
    await settle();
    expect([asked.size, all.topic.settled]).toEqual([2_000, true]);
  }, 15_000); // with a look at all the others it takes twice as long

  it("opens nobody that is found when all is closed", async () => {
    const found = createStoreServer("found");
    const { promise, resolve } = deferred<{ servers: readonly [typeof found] }>();
    const { cache, watch } = await scene(["a"], { resolveAuthority: () => promise });
    for (const name of [of("b", "x"), `${of("b", "y")}#alt=${of("a", "y")}`, `${of("b", "ns/*")}#alt=${of("a", "ns/*")}`]) watch(name);
    await settle();
    await cache.close();
    resolve({ servers: [found] });
    await settle();
    expect(found.opened).toBe(0);
  });

  it("says with its error why there is none, and is asked again with the next that is wanted; who waits is served too [C-AUTH-5]", async () => {
    const found = createStoreServer("found");
    found.put(T, resource(of("b", "x"), "x of b"));
    let is: "missing" | "broken" | "there" = "missing";
    const { watch, at } = await scene(["a"], { resolveAuthority: () => { if (is === "broken") throw new Error("no directory"); return is === "there" ? { servers: [found] } : undefined; } });
    at("a").put(T, redirect(of("a", "x"), of("b", "x")));
    const [x, linked] = [watch(of("b", "x")), watch(of("a", "x"))];
    await settle();
    expect([x.now, linked.now]).toEqual([expect.stringContaining("nobody is known to answer for the authority \"b\" (C-AUTH-5)"), expect.stringContaining("nobody is known")]);
    is = "broken";
    const again = watch(of("b", "y"));
    await settle();
    expect(again.now).toContain("looking for it failed: no directory");
    is = "there";
    watch(of("b", "z"));
    await settle();
    expect([x.now, again.now, linked.now]).toEqual(["x of b", "-", "x of b"]);
  });

  it("is asked again by a name with directives too", async () => {
    const found = createStoreServer("found");
    found.put(T, resource(of("b", "x"), "x of b"));
    let isThere = false;
    const { watch } = await scene(["a"], { resolveAuthority: () => (isThere ? { servers: [found] } : undefined) });
    const directed = (id: string): string => `${of("b", "x")}#alt=${of("a", id)}`;
    const first = watch(directed("1"));
    await settle();
    expect(first.now).toContain("nobody is known");
    isThere = true;
    const second = watch(directed("2"));
    await settle();
    expect([first.now, second.now]).toEqual(["x of b", "x of b"]);
  });

  it("leaves nothing behind of who has gone in the meantime", async () => {
    const found = createStoreServer("found");
    const { promise, resolve } = deferred<{ servers: readonly [typeof found] }>();
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
});
