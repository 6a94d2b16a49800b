import { describe, expect, it } from "vitest";

import { useChain } from "../../test/chain-world.ts";
import { flagName, flagUrl } from "../../test/flag.ts";
import { connectClient } from "../../../rollout/test/world-client.ts";

const [brief, plain] = [flagName("set/brief"), flagName("set/plain")];
const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);

describe.each(ways)("two relays in a chain, %s upstream, %s downstream", (upstream, downstream) => {
  it.each([
    ["a name", brief, [brief], [plain]],
    ...(`${upstream} ${downstream}` !== "delta delta"
      ? []
      : [["a glob", flagName("set/*"), [flagName("set/*")], [plain]] as const]),
  ] as const)(
    "%s with `do_not_cache` is one request at the origin for each client that asks after another [B-RELAY-11]",
    async (_, name, each) => {
      const { origin, asked, server, pass } = useChain(upstream);
      origin.put({ typeUrl: flagUrl, name: brief, value: Buffer.from("1"), noStore: true });
      for (let index = 0; index < 3; index++) {
        const client = connectClient(server, downstream, { id: `client-${index}` });
        client.ask(flagUrl, name);
        await pass(20_000);
        expect([index, client.take().flatMap(({ shown }) => shown), asked()]).toEqual([
          index,
          ["brief=1"],
          [each],
        ]);
        await pass(20_000);
      }
    },
  );
});
