import type { Client } from "@xdstp/client";
import { describe, expect, it } from "vitest";

import { flag, flagName, flagUrl } from "../test/flag.ts";
import { useClient, useOrigin, useRelay, type Origin } from "../test/use-relay.ts";

function subscribed({ events }: Origin): readonly string[] {
  return events.flatMap((event) => (event.kind === "subscribe" ? event.added : []));
}

describe("a relay", () => {
  it("asks upstream once for what its clients want, over one stream, and gives each its own [B-RELAY-1]", async () => {
    const origin = await useOrigin();
    for (const name of ["a/1", "a/2", "b/1"])
      origin.cache.put({ typeUrl: flagUrl, name: flagName(name), value: Buffer.from(name) });
    const relay = await useRelay([origin.uri]);
    const [one, other, both] = [
      useClient([relay.uri]),
      useClient([relay.uri]),
      useClient([relay.uri]),
    ];
    const names = async (client: Client, glob: string): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { added, complete } of client.watchAll(flag, flagName(glob))) {
        found.push(...added.map(({ value }) => value));
        if (complete) break;
      }
      return found.toSorted();
    };
    expect(
      await Promise.all([
        names(one, "a/*"),
        names(other, "b/*"),
        names(both, "a/*"),
        names(both, "b/*"),
      ]),
    ).toEqual([["a/1", "a/2"], ["b/1"], ["a/1", "a/2"], ["b/1"]]);
    expect(subscribed(origin).toSorted()).toEqual([flagName("a/*"), flagName("b/*")]);
    expect(origin.events.filter(({ kind }) => kind === "connect")).toHaveLength(1);
  });
});
