import { XdsError } from "@xdstp/core";
import type { UpstreamStatus } from "@xdstp/relay";
import { describe, expect, it } from "vitest";
import { textWidth } from "./fit-text.ts";
import { renderUpstreams } from "./render-upstreams.ts";

const good: UpstreamStatus = {
  id: "a",
  name: "a:1",
  authorities: ["a.example"],
  isDefault: false,
  state: "answering",
  lastWordAt: 90_000,
  lookUps: { held: 2, asked: 1 },
};
const gone: UpstreamStatus = {
  id: "b",
  name: "b:1",
  authorities: [],
  isDefault: true,
  state: "unreachable",
  staleSince: 40_000,
  failure: new XdsError("UNAVAILABLE", "no way"),
  lookUps: { held: 0, asked: 0 },
};

function shown(upstreams: readonly UpstreamStatus[], most = 9, columns = 100): readonly string[] {
  return renderUpstreams(upstreams, { now: 100_000, most, columns }).map((line) =>
    line
      .map(([, text]) => text)
      .join("")
      .trimEnd(),
  );
}

describe("renderUpstreams()", () => {
  it("shows those in trouble first, with the reason below", () => {
    expect(shown([good, gone])).toEqual([
      "UPSTREAM  AUTHORITIES  STATE        LAST  HITS  STALE",
      "b:1       (default)    unreachable  -     -     1m",
      "    no way",
      "a:1       a.example    answering    10s   66%   -",
    ]);
  });

  it("fits, and counts what it leaves out", () => {
    const many = Array.from({ length: 50 }, (_, at) => ({
      ...good,
      name: `${"long".repeat(30)}:${at}`,
      authorities: ["b".repeat(99)],
    }));
    const lines = shown(many, 5, 80);
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toBe("and 47 upstreams more");
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(80);
  });
});
