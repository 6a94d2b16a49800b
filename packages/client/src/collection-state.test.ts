import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { nextCollectionState, requestedCollection } from "./collection-watch.ts";

const away = (): XdsError => new XdsError("UNAVAILABLE", "the server is away");

describe("nextCollectionState()", () => {
  it("goes from requested to partial or complete, and back to partial [C-GLOB-9]", () => {
    const partial = nextCollectionState(requestedCollection, false, away(), false);
    const complete = nextCollectionState(partial, true, undefined, false);
    const again = nextCollectionState(complete, false, undefined, false);
    expect([partial.kind, complete.kind, again.kind]).toEqual(["partial", "complete", "partial"]);
  });

  it("stays requested while nothing is known", () => {
    expect(nextCollectionState(requestedCollection, false, undefined, true)).toBe(
      requestedCollection,
    );
  });

  it("is the same object with an error that says the same, and another one where that is reported again", () => {
    const before = nextCollectionState(requestedCollection, true, away(), false);
    expect(nextCollectionState(before, true, away(), false)).toBe(before);
    expect(nextCollectionState(before, true, away(), true)).not.toBe(before);
  });

  it("is the same object without an error, whatever the supply reports", () => {
    const before = nextCollectionState(requestedCollection, true, undefined, false);
    expect(nextCollectionState(before, true, undefined, true)).toBe(before);
  });
});
