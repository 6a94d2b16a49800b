import { describe, expect, it } from "vitest";

import type { Topic } from "@xdstp/core";
import { askedBy } from "./asked-by.ts";

/** The members of a topic that the function reads. */
function topicOf(name: string, members: readonly string[] = []): Topic {
  return {
    interest: { name },
    members: () =>
      members.map((member) => ({ name: member, revision: 1, since: 1, superseded: false })),
  } as unknown as Topic;
}

describe("askedBy()", () => {
  it("knows names in each spelling, and those behind an alias", () => {
    const isAsked = askedBy([topicOf("alias", ["real"]), topicOf("xdstp://a/acme.v1.Flag/%78")]);
    expect(
      ["real", "alias", "xdstp://a/acme.v1.Flag/x", "xdstp://a/acme.v1.Flag/y"].map(isAsked),
    ).toEqual([true, true, true, false]);
  });

  it.each(["*", "xdstp://a/acme.v1.Flag/ns/*"])(
    "takes %s for one that may ask for anything",
    (name) => {
      expect(askedBy([topicOf(name)])("anything")).toBe(true);
    },
  );

  it("knows that nothing is asked for", () => {
    expect(askedBy([])("x")).toBe(false);
  });
});
