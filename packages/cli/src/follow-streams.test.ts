import { describe, expect, it } from "vitest";
import { followStreams } from "./follow-streams.ts";
import type { WatchEvent } from "./watch-event.ts";

const ignored = { server: "s:1", typeUrl: "type.googleapis.com/test.T", names: 1 };

describe("followStreams()", () => {
  it("reports every response by delta with ignored names, since each has other names [C-AUTH-7]", () => {
    const told: WatchEvent[] = [];
    const { onForeign } = followStreams((event) => {
      told.push(event);
    });
    for (let at = 0; at < 2; at++) onForeign(ignored, { variant: "delta" });
    expect(told).toEqual([
      { kind: "ignored", ...ignored },
      { kind: "ignored", ...ignored },
    ]);
  });

  it("reports ignored names by SotW once, since a server repeats them with each response, and again when their number changes [C-AUTH-7]", () => {
    const told: WatchEvent[] = [];
    const { onForeign } = followStreams((event) => {
      told.push(event);
    });
    for (const names of [1, 1, 2, 2, 1]) onForeign({ ...ignored, names }, { variant: "sotw" });
    expect(told.map((event) => (event.kind === "ignored" ? event.names : 0))).toEqual([1, 2, 1]);
  });
});
