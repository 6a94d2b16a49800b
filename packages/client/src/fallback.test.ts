import type { FakeClock, RawServer } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import {
  flag,
  flagUrl,
  turn,
  useDeltaScript,
  useSotwScript,
  type Script,
} from "../test/use-script.ts";
import { parseBootstrap, type Snapshot, type Watch } from "./index.ts";

let nonce = 0;

async function give(
  server: RawServer<"delta"> | undefined,
  names: readonly string[],
  text: string,
  version = text,
): Promise<void> {
  server?.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resources: names.map((name) => ({
      name,
      version,
      resource: { typeUrl: flagUrl, value: Buffer.from(text) },
    })),
  });
  await turn();
}

async function fail(server: RawServer<"delta"> | undefined): Promise<void> {
  server?.close();
  await turn();
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms);
  await turn();
}

function listen(watch: Watch<Snapshot<string>>): string[] {
  const said: string[] = [];
  void (async () => {
    for await (const { value = "", error } of watch)
      said.push(error === undefined ? value : `${value}!${error.code}`);
  })();
  return said;
}

/** Creates a client of `count` servers: the first has failed, and the second has delivered "a". */
async function useSecond(
  count = 2,
): Promise<Script<RawServer<"delta">> & { readonly said: string[] }> {
  const script = useDeltaScript({}, count);
  const said = listen(script.client.watch(flag, "a"));
  await turn();
  await fail(script.servers[0]);
  await give(script.servers[1], ["a"], "second");
  expect(said).toEqual(["second"]);
  return { ...script, said };
}

const connected = ({ servers }: Script<RawServer<"delta">>): readonly boolean[] =>
  servers.map((server) => server.connected);

describe("a client of several servers", () => {
  it("stays with the second while the first is there again and says nothing [C-GRPC-6]", async () => {
    const script = await useSecond();
    const { client, said, clock } = script;
    await pass(clock, 2_000);
    const unknown = listen(client.watch(flag, "b"));
    await turn();
    await pass(clock, 14_000);
    await give(script.servers[1], ["b"], "second");
    await pass(clock, 60_000);
    expect([connected(script), said, unknown]).toEqual([[true, true], ["second"], ["second"]]);
  });

  it("asks the third for what is new when the second has failed too, and leaves all others when the first answers [C-GRPC-6]", async () => {
    const script = await useSecond(3);
    const { client, said, clock, servers } = script;
    await fail(servers[1]);
    await pass(clock, 2_000);
    await fail(servers[0]);
    await fail(servers[1]);
    expect([servers[2]?.streams, said]).toEqual([0, ["second"]]);
    const other = listen(client.watch(flag, "b"));
    await turn();
    expect(
      servers[2]?.rest().flatMap(({ resourceNamesSubscribe }) => resourceNamesSubscribe),
    ).toEqual(["a", "b"]);
    await give(servers[2], ["b"], "third");
    await pass(clock, 5_000);
    await give(servers[0], ["a"], "first");
    expect([connected(script), said, other]).toEqual([
      [true, false, false],
      ["second", "first"],
      ["third"],
    ]);
  });

  it("forgets what a server has said of names when it leaves it [C-GRPC-6]", async () => {
    const { said, clock, servers } = await useSecond();
    await give(servers[1], ["a"], "broken");
    await pass(clock, 2_000);
    await give(servers[0], ["a"], "first");
    expect(said).toEqual(["second", "second!INVALID_ARGUMENT", "first"]);
  });

  it("takes any answer for the end of an outage [C-GRPC-4, C-GRPC-6]", async () => {
    const {
      client,
      clock,
      servers: [first, second],
    } = useDeltaScript({}, 2);
    const watch = client.watch(flag, "a")[Symbol.asyncIterator]();
    await turn();
    await fail(first);
    await fail(second);
    expect((await watch.next()).value?.error?.text).toContain("has answered nothing");
    await pass(clock, 2_000);
    second?.send({
      typeUrl: flagUrl,
      nonce: "1",
      resourceErrors: [
        { resourceName: { name: "a" }, errorDetail: { code: 14, message: "not now" } },
      ],
    });
    expect((await watch.next()).value?.error?.text).toContain("not now");
  });

  it("keeps of what only the second had what the first says is not there, with the error beside it [C-GRPC-9, C-GRPC-11]", async () => {
    const {
      said,
      clock,
      servers: [first],
    } = await useSecond();
    await pass(clock, 2_000);
    first?.send({ typeUrl: flagUrl, nonce: "1", removedResources: ["a"] });
    await turn();
    expect(said).toEqual(["second", "second!NOT_FOUND"]);
  });

  it("drops members that only the second had once the first has given all [C-GRPC-11, C-GLOB-9]", async () => {
    const {
      client,
      clock,
      servers: [first, second],
    } = useDeltaScript({}, 2);
    const [x, y] = ["x", "y"].map((name) => `xdstp://a/acme.v1.Flag/ns/${name}`) as [
      string,
      string,
    ];
    const watch = client.watchAll(flag, "xdstp://a/acme.v1.Flag/ns/*");
    const removed: string[] = [];
    void (async () => {
      for await (const change of watch) removed.push(...change.removed);
    })();
    await turn();
    await fail(first);
    await give(second, [x, y], "second", "1");
    await pass(clock, 2_000);
    await give(first, [x], "first", "1");
    expect(removed).toEqual([]);
    await pass(clock, 200);
    expect([removed, [...watch.members.values()].map(({ name, value }) => [name, value])]).toEqual([
      [y],
      [[x, "first"]],
    ]);
  });

  it("drops in SotW what a full state of the first does not have, also if the second gave it [C-GRPC-11, C-FULL-3]", async () => {
    const {
      client,
      clock,
      servers: [first, second],
    } = useSotwScript({}, 2);
    const watch = client.watchAll(clusterType, "*");
    void (async () => {
      for await (const { error } of watch) expect(error).toBeUndefined();
    })();
    const send = async (
      server: RawServer<"sotw"> | undefined,
      ...names: readonly string[]
    ): Promise<void> => {
      server?.send({
        typeUrl: clusterUrl,
        nonce: String(++nonce),
        versionInfo: "1",
        resources: names.map((name) => ({ typeUrl: clusterUrl, value: clusterOf(name) })),
      });
      await turn();
    };
    await turn();
    first?.close();
    await turn();
    await send(second, "x", "y");
    expect([...watch.members.keys()]).toEqual(["x", "y"]);
    await pass(clock, 2_000);
    await send(first, "x");
    expect([...watch.members.keys()]).toEqual(["x"]);
  });

  it("ends all streams and timers when it is closed while it asks the second", async () => {
    const script = await useSecond();
    await pass(script.clock, 2_000);
    expect(connected(script)).toEqual([true, true]);
    await script.client.close();
    expect([connected(script), script.clock.pending, [...script.channels.values()]]).toEqual([
      [false, false],
      0,
      [0, 0],
    ]);
  });

  it("takes a server whose certificates cannot be read for one that cannot be reached [C-GRPC-6]", async () => {
    const origin = await useOrigin();
    origin.cache.put({ typeUrl: clusterUrl, name: "blue", value: clusterOf("blue") });
    const broken = {
      server_uri: "127.0.0.1:1",
      channel_creds: [{ type: "tls", config: { ca_certificate_file: "/no/such/file" } }],
    };
    const good = { server_uri: origin.uri, channel_creds: [{ type: "insecure" }] };
    const asked = (...xds_servers: object[]) =>
      useClient(["none"], { bootstrap: parseBootstrap({ xds_servers, node: { id: "me" } }) })
        .client;
    expect(await asked(broken, good).read(clusterType, "blue")).toMatchObject({ name: "blue" });
    const { value } = await asked(broken).watch(clusterType, "blue")[Symbol.asyncIterator]().next();
    expect([value?.error?.code, value?.error?.text]).toEqual([
      "UNAVAILABLE",
      expect.stringContaining(
        "ca_certificate_file /no/such/file: the file does not exist; give a PEM file",
      ),
    ]);
  });
});
