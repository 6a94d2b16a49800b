import { describe, expect, it } from "vitest";

import { fieldChanges } from "./field-changes.ts";

describe("fieldChanges()", () => {
  it.each([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [{ path: "a", before: 1, after: 2 }]],
    [{ a: { b: true } }, {}, [{ path: "a", before: { b: true } }]],
    [{}, { "a.b": null }, [{ path: '["a.b"]', after: null }]],
    [
      { a: [1, 2] },
      { a: [1, 3, 4] },
      [
        { path: "a[1]", before: 2, after: 3 },
        { path: "a[2]", after: 4 },
      ],
    ],
    [
      { hosts: [{ name: "x", v: 1 }, { name: "y" }] },
      { hosts: [{ name: "new" }, { name: "x", v: 2 }] },
      [
        { path: 'hosts["new"]', after: { name: "new" } },
        { path: 'hosts["x"].v', before: 1, after: 2 },
        { path: 'hosts["y"]', before: { name: "y" } },
      ],
    ],
    [
      { hosts: [{ name: "x" }, { name: "y" }] },
      { hosts: [{ name: "y" }, { name: "x" }] },
      [{ path: "hosts[order]", before: ["x", "y"], after: ["y", "x"] }],
    ],
    [{ __proto__x: 1 }, { __proto__x: 2 }, [{ path: "__proto__x", before: 1, after: 2 }]],
  ])("%j and %j", (before, after, changes) => {
    expect(fieldChanges(before, after)).toEqual(changes);
  });

  it("lists 1,000 differences at most", () => {
    const list = Array.from({ length: 5_000 }, (_, at) => at);
    expect(fieldChanges(list, [])).toHaveLength(1_000);
  });
});
