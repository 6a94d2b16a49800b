import { describe, expect, it } from "vitest";
import { followStreams, type StreamFollower } from "./watch.ts";

const ignored = { server: "s:1", typeUrl: "type.googleapis.com/test.T", names: 1, namesHash: 1 };

describe("followStreams()", () => {
  it("reports every response by delta with ignored names, since each has other names [C-AUTH-7]", () => {
    const { told, onForeign } = follower();
    for (let at = 0; at < 2; at++) onForeign({ ...ignored, variant: "delta" });
    expect(told).toEqual([1, 1]);
  });

  it("reports ignored names of a SotW server once, since it repeats them with each response, and again when the names change, even if their number does not [C-AUTH-7]", () => {
    const { told, onForeign } = follower();
    for (const [names, namesHash] of [
      [1, 1],
      [1, 1],
      [2, 2],
      [2, 2],
      [2, 3],
      [2, 3],
      [1, 1],
    ] as const)
      onForeign({ ...ignored, names, namesHash, variant: "sotw" });
    expect(told).toEqual([1, 2, 2, 1]);
  });
});

function follower(): Pick<StreamFollower, "onForeign"> & { readonly told: readonly number[] } {
  const told: number[] = [];
  const { onForeign } = followStreams((event) => {
    if (event.kind === "ignored") told.push(event.names);
  });
  return { told, onForeign };
}
