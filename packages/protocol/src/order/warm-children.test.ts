import { describe, expect, it } from "vitest";
import { added, removed } from "../../test/entries.ts";
import type { ResourceType } from "@xdstp/core";
import type { TypeHost } from "../stream/type-machine.ts";
import { warmChildren } from "./warm-children.ts";

/** A stream on which these types are subscribed; it records the names that are warmed. */
function useHost(...subscribed: readonly string[]): {
  readonly host: TypeHost;
  readonly warmed: readonly string[];
} {
  const warmed: string[] = [];
  const fail = (): never => {
    throw new Error("not asked for here");
  };
  const sibling: TypeHost["sibling"] = (typeUrl) =>
    subscribed.includes(typeUrl)
      ? {
          isBusy: false,
          mayBeCold: false,
          rank: 0,
          awaits: fail,
          removed: fail,
          lacks: fail,
          hasAccepted: fail,
          isCold: fail,
          misses: fail,
          warm: (name) => {
            warmed.push(`${typeUrl}/${name}`);
          },
        }
      : undefined;
  return {
    warmed,
    host: {
      node: undefined,
      lastNonce: 0,
      canSend: true,
      sibling,
      thaw: fail,
      schedule: fail,
      send: fail,
      end: fail,
    },
  };
}

describe("warmChildren()", () => {
  const reads: string[] = [];
  const names = (payload: Uint8Array): readonly string[] => {
    reads.push(String(payload.length));
    return ["x", "y"];
  };
  const parent: ResourceType = { typeUrl: "parent", warms: [{ typeUrl: "child", names }] };

  it("warms each name of each resource sent, on the same stream", () => {
    const { host, warmed } = useHost("child", "other");
    warmChildren(parent, host, [added("a"), removed("b"), added("c")]);
    expect(warmed).toEqual(["child/x", "child/y", "child/x", "child/y"]);
  });

  it("reads a payload once, whoever sends it", () => {
    const entry = added("a");
    const before = reads.length;
    for (let stream = 0; stream < 10; stream++)
      warmChildren(parent, useHost("child").host, [entry]);
    expect(reads.length).toBe(before + 1);
  });

  it("reads nothing where the child is not subscribed, and needs no descriptor", () => {
    const before = reads.length;
    const { host, warmed } = useHost("other");
    warmChildren(parent, host, [added("a")]);
    warmChildren(undefined, host, [added("a")]);
    warmChildren({ typeUrl: "plain" }, host, [added("a")]);
    expect(reads.length).toBe(before);
    expect(warmed).toEqual([]);
  });
});
