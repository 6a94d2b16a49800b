import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";
import { anyOf, type WireResource } from "../../../rollout/test/wire-bytes.ts";

const LOCATOR = "type.googleapis.com/xds.core.v3.ResourceLocator";
const collectionUrl = `${flagUrl}Collection`;
const listName = "xdstp://acme/acme.v1.FlagCollection/all";
const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);

/** Returns the locator of a flag, with another one as its alternative. */
function locator(id: string, alt?: string): Uint8Array {
  return concatBytes([
    lengthDelimited(2, id),
    lengthDelimited(3, "acme"),
    lengthDelimited(4, "acme.v1.Flag"),
    ...(alt === undefined ? [] : [lengthDelimited(6, lengthDelimited(1, locator(alt)))]),
  ]);
}

const redirect: WireResource = {
  name: flagName("a"),
  version: "1",
  any: anyOf(LOCATOR, locator("b", "c")),
};
const list: WireResource = {
  name: listName,
  version: "1",
  any: anyOf(
    collectionUrl,
    lengthDelimited(1, lengthDelimited(1, lengthDelimited(1, locator("b", "c")))),
  ),
};

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  it.each([
    ["redirect", flagUrl, redirect],
    ["list", collectionUrl, list],
  ] as const)(
    "a %s with its alternative passes as it is, and nothing else is asked upstream [B-RELAY-14]",
    async (_, typeUrl, resource) => {
      const world = useWorld({ upstream });
      const client = world.connect(downstream);
      client.ask(typeUrl, resource.name);
      await world.settle();
      world.up.reply(typeUrl, { resources: [resource] });
      await world.settle();
      expect(client.take().map(({ resources }) => resources)).toEqual([[resource]]);
      expect(
        world.up
          .requests()
          .map(({ type, names, error }) => [type, upstream === "delta" ? names : [], error]),
      ).toEqual([
        [typeUrl, upstream === "delta" ? [resource.name] : [], undefined],
        [typeUrl, [], undefined],
      ]);
    },
  );

  it("with `follow` a redirect is resolved, under the name that was asked for [B-RELAY-14]", async () => {
    const world = useWorld({ upstream, relay: { follow: true } });
    const client = world.connect(downstream);
    client.ask(flagUrl, flagName("a"));
    await world.settle();
    world.up.reply(flagUrl, { resources: [redirect] });
    await world.settle();
    expect(client.read()).toEqual([]);
    expect(world.up.requests().flatMap(({ names }) => names)).toContain(flagName("b"));
    world.up.reply(flagUrl, {
      resources:
        upstream === "delta"
          ? [{ name: flagName("b"), text: "1" }]
          : [redirect, { name: flagName("b"), text: "1" }],
    });
    await world.settle();
    expect(client.take().map(({ shown }) => shown)).toEqual([["a=1"]]);
  });

  it("with `follow` names that redirects lead to count among those of a server, and wait for room there [B-RELAY-14] [S-LIM-4]", async () => {
    const world = useWorld({ upstream, relay: { follow: true, upstreamNames: 1 } });
    const client = world.connect(downstream);
    client.ask(flagUrl, flagName("a"));
    await world.settle();
    world.up.reply(flagUrl, { resources: [redirect] });
    await world.pass(5_000);
    expect(new Set(world.up.requests().flatMap(({ names }) => names))).toEqual(
      new Set([flagName("a")]),
    );
    const errors = client.take().flatMap((answer) => answer.errors);
    expect([errors.map(({ name }) => name), errors.map(({ text }) => text).join()]).toEqual([
      [flagName("a")],
      expect.stringContaining("raise upstreamNames"),
    ]);
  });
});
