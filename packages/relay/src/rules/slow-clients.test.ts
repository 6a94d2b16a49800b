import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const names = ["a", "b", "c"].map(flagName);

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  it.each(["does not answer", "does not read"] as const)(
    "a client that %s holds up nobody, and catches up in one response with the newest of each name [B-RELAY-7] [C-ACK-13]",
    async (why) => {
      const world = useWorld({ upstream });
      const [slow, quick] = [world.connect(downstream), world.connect(downstream)];
      for (const client of [slow, quick]) client.ask(flagUrl, ...names);
      await world.settle();
      const publish = async (text: string, of: readonly string[] = names): Promise<void> => {
        world.up.requests();
        const nonce = world.up.reply(flagUrl, {
          version: text,
          resources: of.map((name) => ({ name, text })),
        });
        await world.settle();
        // The relay reads on from upstream, and has sent the ACK.
        expect([
          world.up.stream.paused,
          world.up.requests().map((request) => request.nonce),
        ]).toEqual([false, [nonce]]);
        expect(quick.take().map(({ shown }) => shown.toSorted())).toEqual([
          of.map((name) => `${name.slice(-1)}=${text}`),
        ]);
        await world.settle();
      };
      await publish("0");
      if (why === "does not read") {
        slow.take();
        slow.stream.fill();
        await publish("full");
      }
      for (const text of ["1", "2", "3"]) await publish(text);
      await publish("4", names.slice(0, 1));
      const [stuck, ...more] = slow.read();
      expect(more).toEqual([]);
      slow.stream.drain();
      if (stuck !== undefined) slow.ack(stuck);
      await world.settle();
      expect(slow.take().map(({ shown }) => shown.toSorted())).toEqual([["a=4", "b=3", "c=3"]]);
      await world.settle();
      expect(slow.read()).toEqual([]);
    },
  );
});
