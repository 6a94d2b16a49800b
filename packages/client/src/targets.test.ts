import { describe, expect, it } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useClient, useOrigin, type Origin } from "../test/use-origin.ts";
import { createChannels, type Client } from "./index.ts";

const put = ({ cache }: Origin, name: string, seconds: number): void => {
  cache.put({ typeUrl: clusterUrl, name, value: clusterOf(name, seconds) });
};
const read = async (client: Client, name: string): Promise<number> =>
  Number((await client.read(clusterType, name)).value.connectTimeout?.seconds);
const inUse = (client: Client): readonly boolean[] =>
  client.status().map(({ status }) => status !== undefined);

describe("ten clients, one for each target of a process", () => {
  it("have one connection and ten scopes, and the fallback of one does not move the others [C-GRPC-12]", async () => {
    const [first, second] = [await useOrigin(), await useOrigin()];
    put(first, "blue", 1);
    put(second, "blue", 2);
    put(second, "red", 2);
    const channels = createChannels();
    const cut = Array.from({ length: 10 }, () => Promise.withResolvers<undefined>());
    const clients = cut.map(
      (one, index) =>
        useClient([first.uri, second.uri], {
          channels,
          scope: `target-${String(index)}`,
          onEvent: ({ kind }) => {
            if (kind === "closed") one.resolve(undefined);
          },
        }).client,
    );
    const watches = clients.map((client) =>
      client.watch(clusterType, "blue")[Symbol.asyncIterator](),
    );
    await Promise.all(watches.map((watch) => watch.next()));
    expect([first, second].map(({ server }) => server.stats().wire.connectionsOpened)).toEqual([
      1, 0,
    ]);
    expect(
      (await Promise.all(clients.map((client) => client.dump()))).map(
        ({ clientScope }) => clientScope,
      ),
    ).toEqual(clients.map((_, index) => `target-${String(index)}`));
    await first.close();
    await Promise.all(cut.map(({ promise }) => promise)); // to all of them the server is unreachable, and no resource is missing
    const [one, ...others] = clients;
    expect([one && (await read(one, "red")), one && inUse(one)]).toEqual([2, [true, true]]);
    expect(others.map(inUse)).toEqual(others.map(() => [true, false]));
    expect(await Promise.all(others.map(async (client) => read(client, "blue")))).toEqual(
      others.map(() => 1),
    );
  });
});
