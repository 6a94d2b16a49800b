import type { Client } from "@xdstp/client";
import { describe, expect, it } from "vitest";

import { flag, flagName, flagUrl } from "../test/flag.ts";
import { useClient, useOrigin, useRelay, type Origin } from "../test/use-relay.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const [a, b] = [flagName("a"), flagName("b")];

/** Reads until the value arrives. */
async function until(client: Client, name: string, value: string): Promise<void> {
  for await (const snapshot of client.watch(flag, name)) if (snapshot.value === value) return;
}

function put({ cache }: Origin, name: string, text: string): void {
  cache.put({ typeUrl: flagUrl, name, value: Buffer.from(text) });
}

describe.each(ways)("over sockets, %s upstream, %s downstream", (upstream, downstream) => {
  it("changes arrive, what is held outlives the server, and goes on with the next one on its port [B-RELAY-15] [B-RELAY-18] [B-RELAY-10]", async () => {
    const origin = await useOrigin();
    put(origin, a, "1");
    const relay = await useRelay([origin.uri], { variant: upstream });
    const first = useClient([relay.uri], { variant: downstream });
    await until(first, a, "1");
    put(origin, a, "2");
    await until(first, a, "2");
    await origin.close();
    const second = useClient([relay.uri], { variant: downstream });
    await until(second, a, "2");
    const pushes = relay.events.filter(({ kind }) => kind === "push").length;
    const again = await useOrigin(Number(origin.uri.split(":")[1]));
    put(again, a, "2");
    put(again, b, "new");
    await until(second, b, "new");
    // Clients do not get equal content of the new server again.
    expect(relay.events.filter(({ kind }) => kind === "push")).toHaveLength(pushes + 1);
    put(again, a, "3");
    await Promise.all([until(first, a, "3"), until(second, a, "3")]);
  });

  it("a rejection stays with the client that says it, and the others go on [B-RELAY-5]", async () => {
    const origin = await useOrigin();
    put(origin, a, "good");
    const relay = await useRelay([origin.uri], { variant: upstream });
    const [strict, easy] = [
      useClient([relay.uri], { variant: downstream }),
      useClient([relay.uri], { variant: downstream }),
    ];
    const strictFlag = {
      ...flag,
      decode: (payload: Uint8Array): string => {
        if (Buffer.from(payload).toString() === "bad") throw new Error("no such mode");
        return flag.decode(payload);
      },
    };
    const seen: string[] = [];
    for await (const { value, error } of strict.watch(strictFlag, a)) {
      seen.push(`${value ?? ""}${error === undefined ? "" : "!"}`);
      if (seen.length === 1) {
        put(origin, a, "bad");
        await until(easy, a, "bad");
      }
      if (error !== undefined && value === "good") put(origin, a, "better");
      if (value === "better" && error === undefined) break;
    }
    expect(seen).toEqual(["good", "good!", "better"]);
    expect(origin.events.filter(({ kind }) => kind === "nack")).toEqual([]);
    expect(relay.relay.rejections()).toMatchObject([{ name: a, clients: 1 }]);
  });
});

it("clients of different keys have opaque names of their own, over real streams with their nodes [B-RELAY-2] [B-RELAY-4]", async () => {
  const origin = await useOrigin();
  put(origin, "opaque", "1");
  const relay = await useRelay([origin.uri], { opaqueKey: ["id"] });
  await Promise.all([
    until(useClient([relay.uri], { id: "one" }), "opaque", "1"),
    until(useClient([relay.uri], { id: "two" }), "opaque", "1"),
  ]);
  const nodes = origin.events.flatMap((event) =>
    event.kind === "subscribe" ? [event.stream.node?.id] : [],
  );
  expect(nodes.toSorted()).toEqual(["one", "two"]);
  expect(
    relay.relay
      .tenants()
      .map(({ values }) => values.id)
      .toSorted(),
  ).toEqual(["one", "two"]);
});
