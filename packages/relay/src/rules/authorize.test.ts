import { createPolicy } from "@xdstp/policy";
import type { Authorize } from "@xdstp/server";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";

const [open, closed] = [flagName("open"), flagName("closed")];

/**
 * Guests may see what is open. The policy depends on the identity; in this test the node is used
 * instead.
 */
const authorize: Authorize = ({ node }) =>
  createPolicy({
    key: node?.cluster ?? "",
    allows: (_, name) => node?.cluster === "staff" || !/closed|secret/.test(name),
  });

describe.each(["delta", "sotw"] as const)("%s downstream", (variant) => {
  it("what is held gives no right to it, whoever has warmed it [B-RELAY-16]", async () => {
    const world = useWorld({ server: { authorize } });
    const staff = world.connect(variant, { id: "s", cluster: "staff" });
    staff.ask(flagUrl, open, closed);
    await world.settle();
    world.up.reply(flagUrl, {
      resources: [
        { name: open, text: "1" },
        { name: closed, text: "1" },
      ],
    });
    await world.settle();
    expect(staff.take().map(({ shown }) => shown.toSorted())).toEqual([["closed=1", "open=1"]]);
    const guest = world.connect(variant, { id: "g", cluster: "guests" });
    guest.ask(flagUrl, open, closed);
    await world.settle();
    expect(guest.take().map(({ shown, removed }) => [shown, removed])).toEqual([
      [["open=1"], variant === "delta" ? [closed] : []],
    ]);
    world.up.reply(flagUrl, { version: "2", resources: [{ name: closed, text: "2" }] });
    await world.settle();
    expect([guest.read(), staff.take().map(({ shown }) => shown)]).toEqual([[], [["closed=2"]]]);
  });

  it("what a client may not see is not asked upstream for it [B-RELAY-16]", async () => {
    const world = useWorld({ server: { authorize } });
    const guest = world.connect(variant, { id: "g", cluster: "guests" });
    guest.ask(flagUrl, closed);
    await world.settle();
    expect([guest.take().flatMap(({ resources }) => resources), world.up.calls]).toEqual([[], []]);
  });

  it("opaque names are looked up by all that selects content, and only where they are allowed [B-RELAY-16] [B-RELAY-2]", async () => {
    const world = useWorld({ relay: { opaqueKey: ["cluster"] }, server: { authorize } });
    const staff = world.connect(variant, { id: "s", cluster: "staff" });
    staff.ask(flagUrl, "secret", "plain");
    await world.settle();
    world.up.reply(flagUrl, {
      resources: [
        { name: "secret", text: "1" },
        { name: "plain", text: "of staff" },
      ],
    });
    await world.settle();
    expect(
      staff
        .take()
        .flatMap(({ shown }) => shown)
        .toSorted(),
    ).toEqual(["plain=of staff", "secret=1"]);
    const guest = world.connect(variant, { id: "g", cluster: "guests" });
    guest.ask(flagUrl, "secret", "plain");
    await world.settle();
    expect(world.up.requests().map(({ names }) => names)).toEqual([["plain"]]);
    expect(guest.take().flatMap(({ resources }) => resources)).toEqual([]);
    world.up.reply(flagUrl, { resources: [{ name: "plain", text: "of guests" }] });
    await world.settle();
    expect(guest.take().flatMap(({ shown }) => shown)).toEqual(["plain=of guests"]);
  });
});
