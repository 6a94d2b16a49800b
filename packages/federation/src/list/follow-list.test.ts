import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { show, useList, useScene } from "../../test/follow.ts";
import { inline, listOf, listUrl, located, locatedByText, memberUrl } from "../../test/lists.ts";
import { turn } from "../../test/turn.ts";

const L = "xdstp://a/acme.v1.FlagCollection/l";
const at = (id: string): string => `xdstp://a/acme.v1.Flag/${id}`;
const [bar, baz, burp] = [at("bar"), at("baz"), at("burp")];

describe("followList()", () => {
  it("asks for what is located one by one, and not any more for what the list has no more; what stays is not asked for anew [C-LIST-5]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    const said: string[] = [];
    const next = async (...entries: readonly Uint8Array[]): Promise<void> => {
      scene.putList(L, ...entries);
      await turn();
      said.push(scene.told.splice(0).join(" "));
    };
    await turn();
    scene.told.splice(0);
    await next(located(bar), located(baz));
    await next(locatedByText(baz));
    await next(located(baz), located(burp), located(baz));
    expect(said).toEqual([`+${bar} +${baz}`, `-${bar}`, `+${burp}`]);
    expect(list.members.map(show)).toEqual(["baz pending", "burp pending"]);
    list.close();
    await turn();
    expect([...scene.wanted]).toEqual([]);
  });

  it("has members in the order of the list, and is settled when something is known of each [C-LIST-6]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    expect([list.holding.state, list.settled]).toEqual(["pending", false]);
    scene.putList(L, located(baz), inline("x", "on", "7"), located(bar));
    expect([list.holding.state, list.settled, list.members.map(show)]).toEqual([
      "held",
      false,
      ["baz pending", "x=on@7", "bar pending"],
    ]);
    scene.put(bar, "1");
    scene.remove(baz);
    expect([list.settled, list.members.map(show)]).toEqual([
      true,
      ["baz missing !NOT_FOUND", "x=on@7", "bar=1@1"],
    ]);
    scene.putList(L, located(bar), inline("x", "on", "7"));
    expect([list.settled, list.members.map(show)]).toEqual([true, ["bar=1@1", "x=on@7"]]);
  });

  it("goes on with the same object for an inline entry whose version did not change, whatever stands around it [C-LIST-6]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, inline("a", "1", "v1"), inline("b", "1", "v1"), inline("c", "1", "v1"));
    const before = list.members;
    scene.putList(L, inline("c", "1", "v1"), inline("b", "2", "v2"), inline("a", "1", "v1"));
    expect([
      list.members[0] === before[2],
      list.members[1] === before[1],
      list.members[2] === before[0],
    ]).toEqual([true, false, true]);
    const after = list.members;
    scene.putList(L, inline("c", "1", "v1"), inline("b", "2", "v2"), inline("a", "1", "v1"));
    expect(list.members).toBe(after);
  });

  it("notices a version that changed, also where the content did not [C-LIST-6]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, inline("a", "1", "v1"));
    const before = list.members;
    scene.putList(L, inline("a", "1", "v2"));
    expect([list.members.map(show), list.members[0] === before[0]]).toEqual([["a=1@v2"], false]);
  });

  it("keeps no state of a list alive for the members that came with it", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, inline("a", "1"), inline("b", "long".repeat(20)));
    expect(list.members.map(({ resource }) => resource?.payload.value.buffer.byteLength)).toEqual([
      1, 80,
    ]);
  });

  it("notices other content under a version that was used before [B-VER-5]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, inline("a", "1", "v1"), inline("b", "1", ""));
    const before = list.members;
    scene.putList(L, inline("a", "2", "v1"), inline("b", "2", ""));
    expect([
      list.members.map(show),
      list.members.some((member) => before.includes(member)),
    ]).toEqual([["a=2@v1", "b=2@"], false]);
  });

  it("tells entries without a name apart by their versions", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, inline("", "1", "v1"), inline("", "2", "v2"), inline("", "2", "v2"));
    const before = list.members;
    scene.putList(L, inline("", "2", "v2"), inline("", "3", "v3"));
    expect([list.members.map(show), list.members[0] === before[1]]).toEqual([
      ["=2@v2", "=3@v3"],
      true,
    ]);
  });

  describe("a member that is located now and inline then [C-LIST-8]", () => {
    it("goes from located to inline without a gap, and without a change where nothing changed", async () => {
      const scene = await useScene();
      const list = useList(scene, L);
      scene.putList(L, located(bar), located(baz));
      scene.put(bar, "on", "1");
      scene.put(baz, "on", "1");
      const before = list.members;
      scene.putList(L, inline("bar", "on", "1"), inline("baz", "off", "2"));
      expect([list.members.map(show), list.members[0] === before[0]]).toEqual([
        ["bar=on@1", "baz=off@2"],
        true,
      ]);
      await turn();
      expect([...scene.wanted]).toEqual([L]);
    });

    it("goes from inline to located, and keeps what was inline until something is known of the other", async () => {
      const scene = await useScene();
      const list = useList(scene, L);
      scene.putList(
        L,
        inline("bar", "on", "1"),
        inline("baz", "on", "1"),
        inline("burp", "on", "1"),
      );
      const before = list.members;
      scene.putList(L, located(bar), located(baz), located(burp));
      expect([list.members === before, list.settled]).toEqual([true, false]);
      scene.put(bar, "on", "1");
      scene.put(baz, "off", "2");
      scene.remove(burp);
      expect([list.members[0] === before[0], list.members.map(show), list.settled]).toEqual([
        true,
        ["bar=on@1", "baz=off@2", "burp missing !NOT_FOUND"],
        true,
      ]);
    });

    it("keeps what was inline also while nobody can be reached for the other, and says so", async () => {
      const scene = await useScene();
      const list = useList(scene, L);
      scene.putList(L, inline("bar", "on"));
      await turn();
      scene.putList(L, located(bar));
      await turn();
      scene.sink.unavailable(
        { typeUrl: memberUrl, interest: { name: bar } },
        new XdsError("UNAVAILABLE", "away"),
      );
      expect(list.members.map(show)).toEqual(["bar=on@1 !UNAVAILABLE"]);
      scene.sink.unavailable({ typeUrl: memberUrl, interest: { name: bar } }, undefined);
      scene.put(bar, "on");
      expect(list.members.map(show)).toEqual(["bar=on@1"]);
      scene.sink.unavailable(
        { typeUrl: memberUrl, interest: { name: bar } },
        new XdsError("UNAVAILABLE", "away"),
      );
      scene.remove(bar);
      expect(list.members.map(show)).toEqual(["bar failed !UNAVAILABLE"]);
    });

    it("may have an id of several segments, context parameters, or another authority: its entry has the same id, or the same name", async () => {
      const scene = await useScene();
      const list = useList(scene, L);
      const names = [at("x/bar"), `${at("bar")}?p=1`, "xdstp://b/acme.v1.Flag/bar"];
      scene.putList(L, ...names.map(located));
      for (const name of names) scene.put(name, "on");
      const before = list.members;
      scene.putList(
        L,
        inline("x/bar", "on"),
        inline(`${at("bar")}?p=1`, "on"),
        inline("xdstp://b/acme.v1.Flag/bar", "on"),
      );
      expect([list.members, list.members.map(({ name }) => name)]).toEqual([before, names]);
      expect(list.members).toBe(before);
    });

    it("may change how it is located", async () => {
      const scene = await useScene();
      const list = useList(scene, L);
      const other = `${bar}#alt=xdstp://b/acme.v1.Flag/bar`;
      scene.putList(L, located(bar));
      scene.put(bar, "on");
      const before = list.members;
      scene.putList(L, located(other));
      expect(list.members).toBe(before);
      await turn();
      expect([...scene.wanted]).toEqual([L, other]);
      scene.put(other, "off", "2");
      expect(list.members.map(show)).toEqual(["bar=off@2"]);
    });
  });

  it("lets no member that is missing, fails or is rejected take others with it [C-LIST-9]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, located(bar), located(baz), located(burp), inline("x", "on"));
    await turn();
    scene.put(burp, "on");
    scene.remove(bar);
    void scene.sink.commit({
      remove: [
        { typeUrl: memberUrl, name: baz, error: new XdsError("PERMISSION_DENIED", "not for you") },
      ],
    });
    expect([list.members.map(show), list.settled]).toEqual([
      ["bar missing !NOT_FOUND", "baz failed !PERMISSION_DENIED", "burp=on@1", "x=on@1"],
      true,
    ]);
    scene.sink.unavailable(
      { typeUrl: memberUrl, interest: { name: burp } },
      new XdsError("UNAVAILABLE", "away"),
    );
    expect(list.members.map(show)).toEqual([
      "bar missing !NOT_FOUND",
      "baz failed !PERMISSION_DENIED",
      "burp=on@1 !UNAVAILABLE",
      "x=on@1",
    ]);
  });

  it("asks for an entry of another list, and for alternatives, under the locator as it is printed [C-LIST-7]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    const entry = "xdstp://b/acme.v1.FlagCollection/m#entry=n";
    const alt = `${bar}#alt=${entry.replace("#", "%23")}`;
    scene.putList(L, located(entry), located(alt));
    await turn();
    expect([...scene.wanted]).toEqual([L, entry, alt]);
    scene.put(entry, "on");
    scene.put(alt, "off");
    expect([list.members.map(show), list.members.map(({ name }) => name)]).toEqual([
      ["m#entry=n=on@1", "bar=off@1"],
      [entry, bar],
    ]);
  });

  it("counts an entry once that is also listed by a locator to it, and a name with and without an alternative [C-LIST-5]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(
      L,
      inline("n", "on"),
      located(`${L}#entry=n`),
      located(bar),
      located(`${bar}#alt=${baz}`),
      located(at("n")),
    );
    expect(list.members.map(show)).toEqual(["n=on@1", "bar pending"]);
  });

  it.each([
    ["a glob", at("x/*"), "INVALID_ARGUMENT", "is a collection"],
    ["a list", "xdstp://a/acme.v1.FlagCollection/m", "INVALID_ARGUMENT", "is a collection"],
    ["another type", "xdstp://a/acme.v1.Other/x", "INVALID_ARGUMENT", "acme.v1.Flag"],
    [
      "an entry of what is not a list",
      `${bar}#entry=n`,
      "INVALID_ARGUMENT",
      "acme.v1.FlagCollection",
    ],
    ["a glob as an alternative", `${bar}#alt=${at("x/*")}`, "INVALID_ARGUMENT", "is a glob"],
    [
      "a file with an alternative",
      `file:///b.yaml#alt=${bar}`,
      "UNIMPLEMENTED",
      "a file, which has no alternatives",
    ],
    ["a web page", "http://a/acme.v1.Flag/b", "UNIMPLEMENTED", "scheme http"],
  ])(
    "rejects %s as a member, and the others live [C-LIST-7] [C-LIST-9]",
    async (_, uri, code, text) => {
      const scene = await useScene();
      const list = useList(scene, L);
      scene.putList(L, located(uri), inline("y", "on"));
      expect([
        list.members[0]?.state,
        list.members[0]?.error?.code,
        list.members[0]?.error?.text,
        list.members.slice(1).map(show),
        list.settled,
      ]).toEqual(["failed", code, expect.stringContaining(text), ["y=on@1"], true]);
      await turn();
      expect([...scene.wanted]).toEqual([L]);
    },
  );

  it("tells a list that is gone from one that is empty [S-LIST-11]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, located(bar), inline("x", "on"));
    await turn();
    scene.putList(L);
    expect([list.holding.state, list.holding.error, list.members, list.settled]).toEqual([
      "held",
      undefined,
      [],
      true,
    ]);
    scene.putList(L, located(bar));
    void scene.sink.commit({ remove: [{ typeUrl: listUrl, name: L }] });
    expect([list.holding, list.members, list.settled]).toMatchObject([
      { state: "missing", version: "", error: { code: "NOT_FOUND" } },
      [],
      true,
    ]);
    await turn();
    expect([...scene.wanted]).toEqual([L]);
    scene.putList(L, inline("x", "on"));
    expect([list.holding.state, list.members.map(show)]).toEqual(["held", ["x=on@1"]]);
  });

  it("keeps what it has while the list cannot be had, and says so", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, inline("x", "on"));
    scene.sink.unavailable(
      { typeUrl: listUrl, interest: { name: L } },
      new XdsError("UNAVAILABLE", "away"),
    );
    expect([list.holding.state, list.holding.error?.code, list.members.map(show)]).toEqual([
      "held",
      "UNAVAILABLE",
      ["x=on@1"],
    ]);
  });

  it("is found under the very name that was asked, parameters included [S-LIST-2]", async () => {
    const scene = await useScene();
    const name = `${L}?some=thing`;
    const [list, other] = [useList(scene, name), useList(scene, L)];
    scene.putList(name, located(bar), inline("x", "on"));
    expect([
      list.members.map((member) => member.name),
      other.members,
      [...list.members].map(show),
    ]).toEqual([[bar, at("x")], [], ["bar pending", "x=on@1"]]);
  });

  it("keeps the state before where a list is not a list, and where there is none says why [B-LIST-3] [B-LIST-4]", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, inline("a", "on"), inline("a", "on"));
    expect([list.holding.state, list.holding.error?.context.rule, list.settled]).toEqual([
      "failed",
      "B-LIST-4",
      true,
    ]);
    scene.putList(L, located(bar));
    expect([list.holding.state, list.holding.error, list.members.map(show)]).toEqual([
      "held",
      undefined,
      ["bar pending"],
    ]);
    scene.putList(L, located(baz), Uint8Array.of(10, 0));
    expect([
      list.holding.state,
      list.holding.version,
      list.holding.error?.context.rule,
      list.members.map(show),
    ]).toEqual(["held", "list 2", "B-LIST-3", ["bar pending"]]);
    scene.putList(L, located(baz));
    expect([list.holding.error, list.members.map(show)]).toEqual([undefined, ["baz pending"]]);
  });

  it("takes no more entries than it may [C-LIM-7]", async () => {
    const scene = await useScene();
    const list = useList(scene, L, { maxEntries: 1 });
    scene.putList(L, located(bar), located(baz));
    expect([list.holding.error?.text, list.members]).toEqual([
      expect.stringContaining("at most 1 are accepted"),
      [],
    ]);
  });

  it("asks what a locator stands for, and has an error for a member of which nobody can be asked", async () => {
    const scene = await useScene();
    const wanted: string[] = [];
    const list = useList(scene, L, {
      interestOf(name) {
        if (name === baz) throw new XdsError("UNIMPLEMENTED", "not this one");
        return { name, parameters: new Map([["p", "1"]]) };
      },
      onWanted: ({ name }) => {
        wanted.push(`+${name}`);
        return () => {
          wanted.push(`-${name}`);
        };
      },
    });
    scene.putList(L, located(bar), located(baz));
    expect([list.members.map(show), wanted]).toEqual([
      ["bar pending", "baz failed !UNIMPLEMENTED"],
      [`+${bar}`],
    ]);
    scene.putList(L, located(baz), located(bar), located(burp));
    expect([list.members.map(show), wanted]).toEqual([
      ["baz failed !UNIMPLEMENTED", "bar pending", "burp pending"],
      [`+${bar}`, `+${burp}`],
    ]);
    scene.putList(L, located(baz), located(burp));
    expect([list.members.map(show), wanted]).toEqual([
      ["baz failed !UNIMPLEMENTED", "burp pending"],
      [`+${bar}`, `+${burp}`, `-${bar}`],
    ]);
  });

  it("asks of what was there before whether it can be used, and of the entries of a list that is to be checked, but not of what it has", async () => {
    const scene = await useScene();
    const asked: string[] = [];
    const faultOf = (
      { payload }: { readonly payload: { readonly value: Uint8Array } },
      name: string,
    ) => {
      asked.push(name.slice(name.lastIndexOf("/") + 1));
      return Buffer.from(payload.value).toString() === "bad"
        ? new XdsError("INVALID_ARGUMENT", "it is bad")
        : undefined;
    };
    useList(scene, L);
    scene.putList(L, located(bar), located(baz), inline("x", "on"));
    scene.put(bar, "bad");
    scene.put(baz, "good");
    const list = useList(scene, L, { faultOf });
    expect([asked.splice(0).sort(), list.members.map(show)]).toEqual([
      ["bar", "baz", "x"],
      ["bar failed !INVALID_ARGUMENT", "baz=good@1", "x=on@1"],
    ]);
    scene.put(bar, "better", "2");
    expect([asked.splice(0), list.members.map(show)]).toEqual([
      [],
      ["bar=better@2", "baz=good@1", "x=on@1"],
    ]);
    const check = (...entries: readonly Uint8Array[]) =>
      list.check({ name: L, version: "", payload: { typeUrl: listUrl, value: listOf(...entries) } })
        ?.text;
    expect([
      check(inline("x", "on"), inline("y", "good")),
      check(inline("x", "on"), inline("z", "bad")),
      asked,
    ]).toEqual([undefined, `entry 2 of the list is rejected (${at("z")}): it is bad`, ["y", "z"]]);
  });

  it("cannot use a list that was there before and has a bad entry", async () => {
    const scene = await useScene();
    useList(scene, L);
    scene.putList(L, inline("x", "bad"));
    const list = useList(scene, L, {
      faultOf: () => new XdsError("INVALID_ARGUMENT", "it is bad"),
    });
    expect([list.holding.state, list.holding.error?.text]).toEqual([
      "failed",
      `entry 1 of the list is rejected (${at("x")}): it is bad`,
    ]);
  });

  it("wakes whoever watches it for what changes, and after its end nobody", async () => {
    const scene = await useScene();
    const list = useList(scene, L);
    scene.putList(L, located(bar));
    await turn();
    const { wakes } = list;
    scene.put(bar, "on");
    expect([wakes, list.wakes, list.members.map(show)]).toEqual([1, 2, ["bar=on@1"]]);
    list.close();
    scene.put(bar, "off", "2");
    scene.putList(L);
    await turn();
    expect([list.wakes, list.members.map(show)]).toEqual([2, ["bar=on@1"]]);
  });
});
