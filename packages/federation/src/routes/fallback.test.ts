import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { LIST, of, redirect, resource, scene, T, type Scene } from "../../test/scene.ts";
import { createStoreServer } from "../../test/store-server.ts";
import { turn } from "../../test/turn.ts";
import type { FederationSource } from "../index.ts";

const X = of("a", "x");

/**
 * Creates the servers of one authority, in order. Each has its own text for `x`, `y` and the
 * members of `ns`.
 */
async function useServers(...ids: readonly string[]): Promise<Scene> {
  const servers = await scene({ a: ids });
  for (const id of ids)
    for (const name of ["x", "y"])
      servers.at(id).put(T, resource(of("a", name), `${name} of ${id}`, "1"));
  return servers;
}

describe("the servers of an authority", () => {
  it("asks the first alone [C-GRPC-6]", async () => {
    const { at, watch, federation } = await useServers("1", "2");
    const x = watch(X);
    await turn();
    expect([x.now, at("2").opened]).toEqual(["x of 1", 0]);
    expect(federation.status().map(({ name, status }) => [name, status !== undefined])).toEqual([
      ["1", true],
      ["2", false],
    ]);
  });

  it("asks the next at the start, where the first cannot be reached; readers hear of nothing [C-GRPC-6]", async () => {
    const { at, watch, federation } = await useServers("1", "2", "3");
    at("1").fail("1 is down");
    const x = watch(X);
    await turn();
    expect([x.now, at("1").wanted, at("3").opened]).toEqual(["x of 2", [X], 0]);
    expect(federation.status("a").map(({ failure }) => failure?.text)).toEqual([
      "1 is down",
      undefined,
      undefined,
    ]);
  });

  it("stays with a server that has gone while all is cached, and asks the next for all with the first that is not [C-GRPC-6]", async () => {
    const { at, watch } = await useServers("1", "2");
    const x = watch(X);
    await turn();
    at("1").fail("1 is down");
    await turn();
    expect([x.now, at("2").opened]).toEqual(["x of 1", 0]);
    const y = watch(of("a", "y"));
    await turn();
    expect([x.now, y.now, at("2").wanted]).toEqual(["x of 2", "y of 2", [X, of("a", "y")]]);
  });

  it("takes what is known not to exist, and a member of a glob, for cached [C-GRPC-6]", async () => {
    const { at, watch } = await useServers("1", "2");
    at("1").put(T, resource(of("a", "ns/m"), "m"));
    const [none, glob] = [watch(of("a", "none")), watch(of("a", "ns/*"))];
    await turn();
    at("1").fail("1 is down");
    await turn();
    expect([none.now, glob.members, at("2").opened]).toEqual(["-", "m=m", 0]);
  });

  it("goes back with the first that comes from a server before it, which closes the later ones at once [C-GRPC-6]", async () => {
    const { at, watch } = await useServers("1", "2", "3");
    at("1").fail("1 is down");
    at("2").fail("2 is down");
    const x = watch(X);
    await turn();
    expect([x.now, at("3").isOpen]).toEqual(["x of 3", true]);
    at("2").fail(undefined);
    await turn();
    expect([x.now, at("1").isOpen, at("2").isOpen, at("3").isOpen]).toEqual([
      "x of 2",
      true,
      true,
      false,
    ]);
    at("1").fail(undefined);
    await turn();
    expect([x.now, at("2").isOpen, at("3").isOpen]).toEqual(["x of 1", false, false]);
  });

  it("asks the third when the second has failed too and something is missing [C-GRPC-6]", async () => {
    const { at, watch } = await useServers("1", "2", "3");
    at("1").fail("1 is down");
    const x = watch(X);
    await turn();
    at("2").fail("2 is down");
    await turn();
    expect([x.now, at("3").opened]).toEqual(["x of 2", 0]);
    const y = watch(of("a", "y"));
    await turn();
    expect([x.now, y.now]).toEqual(["x of 3", "y of 3"]);
  });

  it("says of all of them that they cannot be reached, and no sooner; the first that answers ends it [C-GRPC-6]", async () => {
    const { at, watch } = await useServers("1", "2");
    at("1").fail("1 is down");
    at("2").silent = true;
    const x = watch(X);
    await turn();
    expect(x.now).toBe("?");
    at("2").fail("2 is down");
    expect(x.now).toBe("- 2 is down");
    const late = watch(of("a", "y"));
    await turn();
    expect(late.now).toBe("- 2 is down");
    at("2").silent = false;
    at("1").fail(undefined);
    expect([x.now, late.now]).toEqual(["x of 1", "y of 1"]);
  });

  it("knows of a failure that another authority of the server has met before [C-GRPC-4]", async () => {
    const { at, watch } = await scene({ a: ["1"], b: ["1"], c: ["1", "2"] });
    at("1").fail("1 is down");
    watch(X);
    await turn();
    at("2").put(T, resource(of("c", "x"), "x of 2"));
    const [b, c] = [watch(of("b", "x")), watch(of("c", "x"))];
    await turn();
    expect([b.now, c.now]).toEqual(["- 1 is down", "x of 2"]);
  });

  it("does not count what is concluded from the silence of a server that has come back [C-GRPC-6]", async () => {
    const { at, watch } = await useServers("1", "2");
    at("1").fail("1 is down");
    const x = watch(X);
    await turn();
    at("1").responded = false;
    at("1").silent = true;
    at("1").fail(undefined);
    at("1").silent = false;
    at("1").late(T, X);
    await turn();
    expect([x.now, at("2").wanted]).toEqual(["x of 2", [X]]);
    at("1").responded = true;
    at("1").put(T, resource(X, "x of 1 again"));
    await turn();
    expect([x.now, at("2").wanted]).toEqual(["x of 1 again", []]);
  });

  it("ends with the use of a server what that has said of single names [C-GRPC-6]", async () => {
    const { at, watch } = await useServers("1", "2");
    at("1").fail("1 is down");
    const x = watch(X);
    await turn();
    at("2").sink.unavailable(
      { typeUrl: T, interest: { name: X } },
      new XdsError("UNAVAILABLE", "not now"),
    );
    expect(x.now).toBe("x of 2 (not now)");
    at("1").fail(undefined);
    expect(x.now).toBe("x of 1");
  });

  it("ends with it also what that has said of names that are followed [C-GRPC-6]", async () => {
    const { at, watch } = await scene({ a: ["a"], b: ["1", "2"] });
    at("a").put(T, redirect(X, of("b", "y")));
    at("2").put(T, resource(of("b", "y"), "Y of 2"));
    at("1").fail("1 is down");
    const x = watch(X);
    await turn();
    await turn();
    at("2").sink.unavailable(
      { typeUrl: T, interest: { name: of("b", "y") } },
      new XdsError("UNAVAILABLE", "not now"),
    );
    expect(x.now).toBe("Y of 2 (not now)");
    at("1").silent = true;
    at("1").fail(undefined);
    at("1").silent = false;
    at("1").put(T, resource(of("b", "y"), "Y of 1"));
    expect(x.now).toBe("Y of 1");
  });

  it("takes a member of a glob that comes to be asked for by its name for cached [C-GRPC-6]", async () => {
    const { at, watch } = await useServers("1", "2");
    at("1").put(T, resource(of("a", "ns/m"), "m of 1"));
    watch(`${of("a", "ns/*")}#alt=${of("b", "ns/*")}`);
    await turn();
    at("1").silent = true;
    const m = watch(of("a", "ns/m"));
    await turn();
    at("1").fail("1 is down");
    await turn();
    expect([m.now, at("1").wanted, at("2").opened]).toEqual([
      "m of 1",
      [of("a", "ns/*"), of("a", "ns/m")],
      0,
    ]);
  });

  it("says nothing of an authority any more of which nothing is wanted [C-GRPC-4]", async () => {
    const { at, watch } = await scene({ a: ["1"], b: ["1"] });
    at("1").fail("1 is down");
    const a = watch(X);
    watch(of("b", "x"));
    await turn();
    expect(a.now).toBe("- 1 is down");
    a.close();
    await turn();
    at("1").fail(undefined);
    at("1").silent = true;
    const again = watch(X);
    await turn();
    expect(again.now).toBe("?");
  });

  it("drops members that only a later server had, once one before it has given all, and not sooner [C-GRPC-11]", async () => {
    const { at, watch } = await useServers("1", "2");
    for (const id of ["m", "n"]) at("2").put(T, resource(of("a", `ns/${id}`), `${id} of 2`));
    at("1").fail("1 is down");
    const glob = watch(of("a", "ns/*"));
    await turn();
    expect(glob.members).toBe("m=m of 2 n=n of 2");
    at("1").silent = true;
    at("1").fail(undefined);
    at("1").silent = false;
    at("1").put(T, resource(of("a", "ns/m"), "m of 1"));
    expect(glob.members).toBe("m=m of 1 n=n of 2");
    void at("1").sink.commit({ settled: [{ typeUrl: T, interest: { name: of("a", "ns/*") } }] });
    expect(glob.members).toBe("m=m of 1");
  });

  it("drops members too that only a later server has led elsewhere [C-GRPC-11, B-GLOB-11]", async () => {
    const { at, watch } = await scene({ a: ["1", "2"], b: ["b"] });
    at("2").put(T, redirect(of("a", "ns/m"), of("b", "m")));
    at("b").put(T, resource(of("b", "m"), "m of b"));
    at("1").fail("1 is down");
    const glob = watch(of("a", "ns/*"));
    await turn();
    await turn();
    expect(glob.members).toBe("m=m of b");
    at("1").silent = true;
    at("1").fail(undefined);
    at("1").silent = false;
    at("1").put(T, resource(of("a", "ns/n"), "n of 1"));
    expect(glob.members).toBe("m=m of b n=n of 1");
    void at("1").sink.commit({ settled: [{ typeUrl: T, interest: { name: of("a", "ns/*") } }] });
    await turn();
    expect([glob.members, at("b").wanted]).toEqual(["n=n of 1", []]);
  });

  it("counts deletion only by a server that is asked [C-GRPC-11]", async () => {
    const { at, watch } = await useServers("1", "2");
    at("1").fail("1 is down");
    const x = watch(X);
    await turn();
    const { sink } = at("2");
    at("1").fail(undefined);
    void sink.commit({ remove: [{ typeUrl: T, name: X }] });
    expect(x.now).toBe("x of 1");
    at("1").remove(T, X);
    expect(x.now).toBe("-");
  });

  it("presents to none of them what another gave, also of what is followed [C-RECON-3]", async () => {
    const { at, watch } = await scene({ a: ["a"], b: ["1", "2"] });
    at("a").put(T, redirect(X, of("b", "y")));
    at("2").put(T, resource(of("b", "y"), "Y", "7"));
    at("1").fail("1 is down");
    const x = watch(X);
    await turn();
    await turn();
    expect([x.now, at("1").held(T), at("2").held(T)]).toEqual(["Y", [], [`${of("b", "y")} 7`]]);
    at("1").silent = true;
    at("1").fail(undefined);
    expect(at("1").held(T)).toEqual([]);
  });

  it("asks the next server on unreachability alone, where that is configured [C-GRPC-7]", async () => {
    const servers = [createStoreServer("1"), createStoreServer("2")];
    const sources: readonly FederationSource[] = [
      { servers, authorities: ["a"], reachabilityOnly: true },
    ];
    const { watch } = await scene({}, { sources });
    const [first, second] = servers;
    first?.put(T, resource(X, "x of 1"));
    second?.put(T, resource(X, "x of 2"));
    const x = watch(X);
    await turn();
    first?.fail("1 is down");
    await turn();
    expect([x.now, second?.opened]).toEqual(["x of 2", 1]);
    first?.fail(undefined);
    await turn();
    expect([x.now, second?.isOpen]).toEqual(["x of 1", false]);
  });

  it("falls back for the one type whose stream fails, at a server that has one for each [C-GRPC-6, C-AGG-2]", async () => {
    const { at, watch } = await useServers("1", "2");
    at("1").silent = true;
    const [x, list] = [watch(X), watch("xdstp://a/t.TCollection/all", LIST)];
    await turn();
    at("1").sink.unavailable({ typeUrl: T }, new XdsError("UNAVAILABLE", "no stream"));
    await turn();
    expect([x.now, x.topic.stale, list.topic.stale]).toEqual(["x of 2", undefined, undefined]);
    at("2").sink.unavailable({ typeUrl: T }, new XdsError("UNAVAILABLE", "none here"));
    expect([x.now, list.topic.stale]).toEqual(["x of 2 (none here)", undefined]);
    at("1").sink.unavailable({ typeUrl: T }, undefined);
    expect(x.now).toBe("x of 2");
  });
});
