import type { Client } from "@xdstp/client";
import { expect, it } from "vitest";

import { flag, flagName, flagUrl } from "../test/flag.ts";
import { useHttpOrigin } from "../test/use-http-origin.ts";
import { useClient, useOrigin, useRelay } from "../test/use-relay.ts";

const [a, b] = [flagName("a"), flagName("b")];

/** Reads until the value arrives. */
async function until(client: Client, name: string, value: string): Promise<void> {
  for await (const snapshot of client.watch(flag, name)) if (snapshot.value === value) return;
}

it.each(["delta", "sotw"] as const)(
  "serves the resources of a server over HTTP to clients (%s), also while it is away, and its changes when it is back [B-HTTP-1] [B-RELAY-15]",
  async (variant) => {
    const origin = await useHttpOrigin();
    origin.put(a, "1");
    const relay = await useRelay([origin.uri]);
    const first = useClient([relay.uri], { variant });
    await until(first, a, "1");
    origin.put(a, "2");
    await until(first, a, "2");
    await origin.down();
    const second = useClient([relay.uri], { variant });
    await until(second, a, "2");
    origin.put(a, "3");
    await origin.up();
    await Promise.all([until(first, a, "3"), until(second, a, "3")]);
  },
);

it("requests each state of a name once for many clients [S-HTTP-13] [B-HTTP-1]", async () => {
  const origin = await useHttpOrigin();
  origin.put(a, "1");
  const relay = await useRelay([origin.uri]);
  const watches = Array.from({ length: 5 }, (_, id) =>
    useClient([relay.uri], { id: String(id) })
      .watch(flag, a)
      [Symbol.asyncIterator](),
  );
  const read = async (): Promise<readonly unknown[]> =>
    Promise.all(
      watches.map(async (watch) => ((await watch.next()).value as { value: unknown }).value),
    );
  expect(await read()).toEqual(["1", "1", "1", "1", "1"]);
  expect(relay.relay.status().upstreams).toMatchObject([{ name: origin.uri, state: "answering" }]);
  origin.put(a, "2");
  expect(await read()).toEqual(["2", "2", "2", "2", "2"]);
  expect(origin.requests.filter((target) => !target.includes("after="))).toHaveLength(1);
  expect(new Set(origin.requests).size).toBe(origin.requests.length);
});

it("uses a server over gRPC while the one over HTTP is unreachable, and the one over HTTP when it is back [C-GRPC-6]", async () => {
  const [http, grpc] = [await useHttpOrigin(), await useOrigin()];
  http.put(a, "http");
  http.put(b, "http");
  for (const name of [a, b]) grpc.cache.put({ typeUrl: flagUrl, name, value: Buffer.from("grpc") });
  await http.down();
  const client = useClient([http.uri, grpc.uri]);
  await until(client, a, "grpc");
  await http.up();
  await until(client, a, "http");
  await until(client, b, "http");
});

it("removes a resource that the server over HTTP removes, and reports a glob as one that HTTP does not have [B-HTTP-3] [S-HTTP-9]", async () => {
  const origin = await useHttpOrigin();
  origin.put(a, "1");
  const client = useClient([origin.uri]);
  await until(client, a, "1");
  origin.cache.remove(flagUrl, a);
  for await (const { value } of client.watch(flag, a)) if (value === undefined) break;
  for await (const { error } of client.watchAll(flag, flagName("*"))) {
    if (error === undefined) continue;
    expect(error).toMatchObject({ code: "UNIMPLEMENTED" });
    break;
  }
});
