import { StatusCode } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { clusterOf, clusterType, clusterUrl as T, type Cluster } from "../test/cluster.ts";
import { useClient, useOrigin, type Origin } from "../test/use-origin.ts";
import type { Snapshot } from "./index.ts";

function putCluster({ cache }: Origin, name: string, seconds = 1, as = name): void {
  cache.put({ typeUrl: T, name: as, value: clusterOf(name, seconds) });
}

/** The next snapshot of a watch. */
async function next(
  watch: AsyncIterator<Snapshot<Cluster>, undefined>,
): Promise<Snapshot<Cluster>> {
  const { value } = await watch.next();
  if (value === undefined) throw new Error("the watch has ended");
  return value;
}

const secondsOf = ({ value }: Snapshot<Cluster>): number =>
  Number(value?.connectTimeout?.seconds ?? -1n);

describe.each(["delta", "sotw"] as const)("a %s client", (variant) => {
  it("gets what is, each change, and the end of it [C-GRPC-2]", async () => {
    const origin = await useOrigin();
    putCluster(origin, "blue");
    const { client } = useClient([origin.uri], { variant });
    const watch = client.watch(clusterType, "blue")[Symbol.asyncIterator]();
    expect(secondsOf(await next(watch))).toBe(1);
    putCluster(origin, "blue", 2);
    expect(secondsOf(await next(watch))).toBe(2);
    origin.cache.remove(T, "blue");
    const gone = await next(watch);
    expect([gone.error?.code, secondsOf(gone)]).toEqual(["NOT_FOUND", 2]);
  });

  it("rejects what a program does not want, keeps what it has, and says so to both", async () => {
    const origin = await useOrigin();
    putCluster(origin, "blue");
    const { client, events } = useClient([origin.uri], { variant });
    const watch = client
      .watch(clusterType, "blue", {
        validate: ({ connectTimeout }) =>
          connectTimeout?.seconds === 9n ? "connect_timeout: 9 s is too long" : undefined,
      })
      [Symbol.asyncIterator]();
    await watch.next();
    putCluster(origin, "blue", 9);
    const rejected = await next(watch);
    expect([secondsOf(rejected), rejected.error?.message]).toEqual([
      1,
      '[INVALID_ARGUMENT] connect_timeout: 9 s is too long (node "me")',
    ]);
    expect(events.flatMap((event) => (event.kind === "rejected" ? [event.reason] : []))).toEqual([
      '"blue": connect_timeout: 9 s is too long',
    ]);
    const [row] = (await client.dump()).genericXdsConfigs;
    expect([row?.name, row?.clientStatus, row?.errorState?.details]).toEqual([
      "blue",
      4,
      "[INVALID_ARGUMENT] connect_timeout: 9 s is too long",
    ]);
    putCluster(origin, "blue", 3);
    const good = await next(watch);
    expect([secondsOf(good), good.error]).toEqual([3, undefined]);
  });

  it("reads once, and says what does not exist", async () => {
    const origin = await useOrigin();
    putCluster(origin, "blue");
    expect(
      secondsOf(await useClient([origin.uri], { variant }).client.read(clusterType, "blue")),
    ).toBe(1);
    const hasty = useClient([origin.uri], { variant, fetchMs: 300 }).client;
    await expect(hasty.read(clusterType, "red")).rejects.toThrow("[NOT_FOUND]");
  });

  it("follows all of a type as one changing set", async () => {
    const origin = await useOrigin();
    for (const name of ["a", "b"]) putCluster(origin, name);
    const { client } = useClient([origin.uri], { variant });
    const watch = client.watchAll(clusterType, "*");
    const seen = { added: [] as string[], removed: [] as string[] };
    for await (const { added, removed, complete } of watch) {
      seen.added.push(...added.map(({ name }) => name));
      seen.removed.push(...removed);
      if (complete && seen.added.length === 2) {
        putCluster(origin, "c");
        origin.cache.remove(T, "a");
      }
      if (seen.removed.length === 1 && seen.added.length === 3) break;
    }
    expect([seen, [...watch.members.keys()]]).toEqual([
      { added: ["a", "b", "c"], removed: ["a"] },
      ["b", "c"],
    ]);
  });

  it("goes on when the server is down and come back", async () => {
    const first = await useOrigin();
    putCluster(first, "blue");
    const { client, events } = useClient([first.uri], { variant });
    const watch = client.watch(clusterType, "blue")[Symbol.asyncIterator]();
    await watch.next();
    await first.close();
    const away = await next(watch);
    expect([secondsOf(away), away.error?.code]).toEqual([1, "UNAVAILABLE"]);
    const second = await useOrigin(Number(first.uri.split(":")[1]));
    putCluster(second, "blue", 5);
    let back = await next(watch);
    while (secondsOf(back) !== 5) back = await next(watch);
    expect(back.error).toBeUndefined();
    expect(
      events.some((event) => event.kind === "closed" && event.status.code !== StatusCode.OK),
    ).toBe(true);
  });
});
