import { describe, expect, it } from "vitest";

import { LIST, listNamed, of, redirect, resource, scene, T } from "../../test/scene.ts";
import { inline, listOf } from "../../test/lists.ts";
import { turn } from "../../test/turn.ts";

const ALL = "xdstp://a/t.TCollection/all";

describe("an entry of a list", () => {
  it("is delivered by its name; the list is asked for by its own, once [C-LIST-7, C-ALT-1, N-71]", async () => {
    const { at, watch } = await scene(["a"]);
    at("a").put(LIST, listNamed(ALL, { one: "1", two: "2" }));
    const [one, two] = [watch(`${ALL}#entry=one`), watch(`${ALL}#entry=two`)];
    await turn();
    expect([one.now, two.now, at("a").wanted]).toEqual(["1", "2", [ALL]]);
  });

  it("does not exist where it is not in the list, or has no name there, or where there is no list [C-LIST-7]", async () => {
    const { at, watch } = await scene(["a"]);
    at("a").put(LIST, listNamed(ALL, { "": "anonymous", one: "1" }));
    const [three, none] = [
      watch(`${ALL}#entry=three`),
      watch("xdstp://a/t.TCollection/none#entry=one"),
    ];
    await turn();
    expect(three.now).toBe(`- the list ${ALL} has no inline entry "three"`);
    expect(three.topic.members()[0]?.error?.context).toMatchObject({
      reason: "no-entry",
      rule: "C-LIST-7",
    });
    expect(none.now).toContain("does not exist");
    at("a").put(LIST, listNamed(ALL, { three: "3" }));
    expect(three.now).toBe("3");
    at("a").put(LIST, listNamed(ALL, { one: "1" }));
    expect(three.now).toContain("has no inline entry");
  });

  it("is not delivered again, and keeps its version, while it is the same in a list that changes [C-LIST-6, C-LIST-7]", async () => {
    const { at, watch } = await scene(["a"]);
    at("a").put(LIST, listNamed(ALL, { one: "1", two: "2" }));
    const [one, two] = [watch(`${ALL}#entry=one`), watch(`${ALL}#entry=two`)];
    await turn();
    const [version, head, before] = [one.version, one.topic.head, two.version];
    at("a").put(LIST, listNamed(ALL, { one: "1", two: "new" }));
    expect([
      one.version === version,
      one.topic.head === head,
      two.now,
      two.version === before,
    ]).toEqual([true, true, "new", false]);
  });

  it("is found in the list that a list leads to, and in that of an alternative [C-LIST-7, C-REDIR-6, C-ALT-2]", async () => {
    const { at, watch } = await scene(["a", "b"]);
    at("a").put(LIST, redirect(ALL, "xdstp://b/t.TCollection/all"));
    at("b").put(LIST, listNamed("xdstp://b/t.TCollection/all", { one: "1 of b" }));
    const one = watch(`${ALL}#entry=one`);
    await turn();
    await turn();
    expect([one.now, at("a").wanted, at("b").wanted]).toEqual([
      "1 of b",
      [ALL],
      ["xdstp://b/t.TCollection/all"],
    ]);
    at("a").put(LIST, listNamed(ALL, { one: "1 of a" }));
    await turn();
    expect([one.now, at("b").wanted]).toEqual(["1 of a", []]);
  });

  it("may lead on, where the list has it as a redirect of a name", async () => {
    const { at, watch } = await scene(["a", "b"]);
    at("a").put(T, redirect(of("a", "x"), `${ALL}#entry=one`));
    at("a").put(LIST, listNamed(ALL, { one: "1" }));
    const [x, one] = [watch(of("a", "x")), watch(`${ALL}#entry=one`)];
    await turn();
    expect([x.now, one.now, at("a").wanted, x.version === one.version]).toEqual([
      "1",
      "1",
      [of("a", "x"), ALL].sort(),
      false,
    ]);
  });

  it("is rejected of a glob, and of a name that is not a list [C-LIST-7]", async () => {
    const { watch } = await scene(["a"]);
    const [glob, name] = [
      watch("xdstp://a/t.TCollection/ns/*#entry=one"),
      watch(`${of("a", "x")}#entry=one`),
    ];
    await turn();
    expect([glob.topic.stale?.text ?? glob.now, name.topic.stale?.text ?? name.now]).toEqual([
      expect.stringContaining("is a glob, which has no entries"),
      `${of("a", "x")}#entry=one has the type t.T; it has to be t.TCollection`,
    ]);
  });

  it("ends with the time of its list, and lives on with it [C-TTL-4]", async () => {
    const { at, watch, pass } = await scene(["a"]);
    at("a").put(LIST, { ...listNamed(ALL, { one: "1" }), expireMs: 1_000 });
    const one = watch(`${ALL}#entry=one`);
    await turn();
    await pass(900);
    void at("a").sink.commit({ refresh: [{ typeUrl: LIST, name: ALL, expireMs: 1_000 }] });
    await pass(900);
    expect(one.now).toBe("1");
    await pass(100);
    expect(one.now).toBe(`- "${ALL}" has not been refreshed within its TTL`);
    at("a").put(LIST, listNamed(ALL, { one: "again" }));
    expect(one.now).toBe("again");
  });

  it("that is none of its type is rejected, and the server that gave it is told [C-ACK-3]", async () => {
    const { at, watch } = await scene(["a"]);
    at("a").put(LIST, listNamed(ALL, { one: "1" }));
    const one = watch(`${ALL}#entry=one`);
    await turn();
    at("a").put(LIST, { ...resource(ALL, ""), payload: { typeUrl: LIST, value: wrongList() } });
    expect([
      one.now.startsWith("1"),
      at("a")
        .answers.at(-1)
        ?.rejected?.map(({ name }) => name),
    ]).toEqual([true, [ALL]]);
  });

  it("is reported again for another version of a list that cannot be read for the same reason, and not for the same version [C-ACK-18]", async () => {
    const { at, watch } = await scene(["a"]);
    at("a").put(LIST, listNamed(ALL, { one: "1" }));
    const { topic } = watch(`${ALL}#entry=one`);
    await turn();
    let reports = 0;
    topic.watch({
      wake() {
        reports++;
      },
    });
    const after = ["2", "2", "3"].map((version) => {
      const payload = { typeUrl: LIST, value: wrongList() };
      at("a").put(LIST, { ...resource(ALL, "", version), payload });
      return [reports, at("a").answers.at(-1)?.rejected?.length];
    });
    expect(after).toEqual([
      [1, 1],
      [1, 1],
      [2, 1],
    ]);
  });
});

function wrongList(): Uint8Array {
  return listOf(inline("one", "U", "2", "type.googleapis.com/t.U"));
}
