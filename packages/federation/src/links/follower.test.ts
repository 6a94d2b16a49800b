import { parseLocator, type XdstpLocator } from "@xdstp/uri";
import { describe, expect, it } from "vitest";

import { of, T } from "../../test/scene.ts";
import { Follower } from "./follower.ts";

function locatorOf(name: string): XdstpLocator {
  const parsed = parseLocator(name);
  if (!parsed.ok || parsed.value.scheme !== "xdstp") throw new Error(name);
  return parsed.value;
}

describe("the choices of a follower", () => {
  const name = of("a", "x");

  it("are remembered for each place of the way [C-ALT-4]", () => {
    const follower = new Follower(
      { typeUrl: T, interest: { name }, start: locatorOf(name) },
      new Map() as never,
    );
    const [one, other] = [follower.choice("1"), follower.choice("2")];
    expect([follower.choice("1") === one, follower.choice("2") === other, one === other]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("do not grow with the places that a server leads to; those in use stay [C-LIM-7]", () => {
    const follower = new Follower(
      { typeUrl: T, interest: { name }, start: locatorOf(name) },
      new Map() as never,
    );
    const [kept, left] = [follower.choice("kept"), follower.choice("left")];
    for (let place = 0; place < 100; place++) {
      follower.choice(`place ${place}`);
      follower.choice("kept");
    }
    expect([follower.choice("kept") === kept, follower.choice("left") === left]).toEqual([
      true,
      false,
    ]);
  });
});
