import type { SourceConfig } from "@xdstp/bootstrap";
import { readConfigSource } from "@xdstp/bootstrap/envoy";
import type { RawServer } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { inline, list, listen, listUrl, redirect, type SentResource } from "../test/lists.ts";
import {
  flag,
  flagUrl,
  turn,
  useDeltaScript,
  type Script,
  type ScriptOptions,
} from "../test/use-script.ts";
import type { NameOptions, Snapshot, Watch } from "./index.ts";

const plain = (uri: string): object => ({ server_uri: uri, channel_creds: [{ type: "insecure" }] });
const server = (uri: string): SourceConfig["servers"][number] => ({
  uri,
  credentials: { type: "insecure" },
  features: new Set(),
});
/** Returns the ConfigSource of one server, as a resource contains it. */
const from = (
  uri: string,
  ...authorities: readonly string[]
): NonNullable<NameOptions["source"]> => {
  const read = readConfigSource({
    authorities: authorities.map((name) => ({ name })),
    api_config_source: {
      api_type: "AGGREGATED_DELTA_GRPC",
      transport_api_version: "V3",
      grpc_services: [{ google_grpc: { target_uri: uri, stat_prefix: "x" } }],
    },
  });
  if (read.kind !== "servers") throw new Error("it is one of servers");
  return read;
};
/** Returns a ConfigSource that is equal to a server of a gRPC bootstrap. */
const ownSource = (
  uri: string,
  ...authorities: readonly string[]
): NonNullable<NameOptions["source"]> => ({
  servers: [server(uri)],
  authorities,
});
const named = (authority: string, id = "x"): string => `xdstp://${authority}/acme.v1.Flag/${id}`;

/**
 * The bootstrap has `s0`, for everything unless `more` says otherwise; the other servers are only
 * in ConfigSources.
 */
function useSources(more: object = {}, options: ScriptOptions = {}): Script<RawServer<"delta">> {
  return useDeltaScript({ ...options, bootstrapMore: { xds_servers: [plain("s0")], ...more } }, 3);
}

/** Returns the names that each server was asked for since the previous call. */
async function asked({ servers }: Script<RawServer<"delta">>): Promise<readonly string[]> {
  await turn();
  return servers.map((one) =>
    one
      .rest()
      .flatMap(({ resourceNamesSubscribe }) => resourceNamesSubscribe)
      .join(" "),
  );
}

let nonce = 0;
async function give(to: RawServer<"delta"> | undefined, name: string, text: string): Promise<void> {
  to?.send({ typeUrl: flagUrl, nonce: String(++nonce), resources: [flagOf(name, text)] });
  await turn();
}

function flagOf(name: string, text: string): SentResource {
  return { name, version: text, resource: { typeUrl: flagUrl, value: Buffer.from(text) } };
}

/** Collects the values of a watch. */
function valuesOf(watch: Watch<Snapshot<string>>): (string | undefined)[] {
  const seen: (string | undefined)[] = [];
  void (async () => {
    for await (const { value, error } of watch) seen.push(value ?? error?.code);
  })();
  return seen;
}

describe("the ConfigSource beside a name", () => {
  it("is asked for opaque names, and what it has is not mixed with what others have under that name [C-AUTH-6]", async () => {
    const script = useSources();
    const {
      client,
      servers: [own, first, second],
    } = script;
    const seen = [undefined, from("s1"), from("s2")].map((source) =>
      valuesOf(client.watch(flag, "x", source === undefined ? {} : { source })),
    );
    expect(await asked(script)).toEqual(["x", "x", "x"]);
    for (const [to, text] of [
      [own, "of s0"],
      [first, "of s1"],
      [second, "of s2"],
    ] as const)
      await give(to, "x", text);
    expect(seen).toEqual([["of s0"], ["of s1"], ["of s2"]]);
    await give(first, "x", "newer");
    expect(seen).toEqual([["of s0"], ["of s1", "newer"], ["of s2"]]);
    const { genericXdsConfigs } = await client.dump();
    expect(genericXdsConfigs.map(({ name, versionInfo }) => [name, versionInfo])).toEqual([
      ["x", "of s0"],
      ["x", "newer"],
      ["x", "of s2"],
    ]);
    expect(client.status().map(({ name, status }) => [name, status?.connected])).toEqual([
      ["s0", true],
      ["s1", true],
      ["s2", true],
    ]);
  });

  it("is asked for names of the authorities that it lists, before the bootstrap, and for no others [C-AUTH-1, C-AUTH-4]", async () => {
    const script = useSources({
      authorities: { a: { xds_servers: [plain("s0")] }, b: { xds_servers: [plain("s2")] } },
    });
    for (const authority of ["a", "b", "c"])
      script.client.watch(flag, named(authority), { source: from("s1", "a", "c") });
    expect(await asked(script)).toEqual(["", `${named("a")} ${named("c")}`, named("b")]);
    expect(script.client.status("a").map(({ name }) => name)).toEqual(["s0"]);
  });

  it.each([
    ["ads", { ads: { servers: [server("s1")] } }, ["", "x", ""]],
    ["ads", {}, ["x", "", ""]],
    ["self", { ads: { servers: [server("s1")] } }, ["x", "", ""]],
  ] as const)(
    "is the ADS source of the bootstrap, its default, or none: %s with %j [C-AUTH-6]",
    async (source, more, expected) => {
      const script = useSources(
        {},
        {
          bootstrap: {
            node: { id: "me", cluster: "" },
            sources: [{ servers: [server("s0")] }],
            ...more,
          },
        },
      );
      script.client.watch(flag, "x", { source });
      script.client.watch(flag, named("a"), { source });
      expect(await asked(script)).toEqual(
        expected.map((names, index) =>
          [names, index === 0 ? named("a") : ""].filter(Boolean).join(" "),
        ),
      );
    },
  );

  it("has one stream, also where the bootstrap has the same servers for the name [C-AGG-1]", async () => {
    const script = useSources({ authorities: { a: { xds_servers: [plain("s1")] } } });
    const { client, servers } = script;
    client.watch(flag, "x");
    client.watch(flag, named("a"));
    for (const id of ["x", "y"]) {
      client.watch(flag, id, { source: ownSource("s0", "a") });
      client.watch(flag, named("a", id), { source: ownSource("s1", "a") });
      client.watch(flag, id, { source: ownSource("s2", "a") });
    }
    expect(await asked(script)).toEqual(["x y", `${named("a", "x")} ${named("a", "y")}`, "x y"]);
    expect(servers.map(({ streams }) => streams)).toEqual([1, 1, 1]);
  });

  it("has one stream with the bootstrap and with other ConfigSources, whoever leads there and whatever else each asks of it [C-AGG-1]", async () => {
    const script = useSources({ authorities: { b: { xds_servers: [plain("s2")] } } });
    const {
      client,
      servers: [, first, second],
    } = script;
    const seen = [
      client.watch(flag, named("b")),
      client.watch(flag, named("a"), { source: ownSource("s1", "a") }),
      client.watch(flag, `${named("c")}#alt=xdstp%3A//b/acme.v1.Flag/x`, {
        source: ownSource("s1", "c"),
      }),
      client.watch(flag, "x", { source: ownSource("s2") }),
      client.watch(flag, "x", { source: ownSource("s2", "d") }),
    ].map(valuesOf);
    expect(await asked(script)).toEqual(["", `${named("a")} ${named("c")}`, `${named("b")} x`]);
    first?.send({ typeUrl: flagUrl, nonce: "r", resources: [redirect(named("a"), named("b"))] });
    await give(second, named("b"), "there");
    expect(await asked(script)).toEqual(["", "", named("b")]);
    await give(second, named("b"), "there");
    await give(second, "x", "opaque");
    expect(seen).toEqual([["there"], ["there"], [], ["opaque"], ["opaque"]]);
    expect(script.servers.map(({ streams }) => streams)).toEqual([0, 1, 1]);
    expect(
      client
        .status()
        .map(({ name, status }) => [name, status?.types.flatMap(({ wants }) => wants.length)]),
    ).toEqual([
      ["s2", [2]],
      ["s0", undefined],
      ["s1", [2]],
    ]);
    expect(
      (await client.dump()).genericXdsConfigs.map(
        ({ name, versionInfo }) => `${name} ${versionInfo}`,
      ),
    ).toEqual([
      `${named("b")} there`,
      expect.stringContaining(named("a")),
      `${named("c")} `,
      "x opaque",
    ]);
    expect(client.traces().map(({ name, state }) => [name, state])).toEqual([
      [named("a"), "held"],
      [expect.stringContaining("#alt="), "pending"],
    ]);
  });

  it("is asked for collections, lists and single reads [C-AUTH-6]", async () => {
    const script = useSources();
    const {
      client,
      servers: [, first],
    } = script;
    const source = from("s1", "a");
    const members = listen(
      client.watchList(flag, "xdstp://a/acme.v1.FlagCollection/l", { source }),
    );
    client.watchAll(flag, named("a", "shop/*"), { source });
    const read = client.read(flag, "x", { source });
    expect(await asked(script)).toEqual([
      "",
      `xdstp://a/acme.v1.FlagCollection/l ${named("a", "shop/*")} x`,
      "",
    ]);
    first?.send({
      typeUrl: listUrl,
      nonce: "l",
      resources: [list("xdstp://a/acme.v1.FlagCollection/l", "1", inline("i", "on"))],
    });
    await give(first, "x", "on");
    expect([members, (await read).value]).toEqual([["i=on +i ."], "on"]);
  });

  it("leads to names of other authorities, which the bootstrap answers for [C-AUTH-1, C-REDIR-3]", async () => {
    const script = useSources({ authorities: { b: { xds_servers: [plain("s2")] } } });
    const {
      client,
      servers: [, first, second],
    } = script;
    const seen = valuesOf(client.watch(flag, named("a"), { source: from("s1", "a") }));
    await asked(script);
    first?.send({ typeUrl: flagUrl, nonce: "r", resources: [redirect(named("a"), named("b"))] });
    expect(await asked(script)).toEqual(["", "", named("b")]);
    await give(second, named("b"), "there");
    expect([seen, client.traces().map(({ name, state }) => [name, state])]).toEqual([
      ["there"],
      [[named("a"), "held"]],
    ]);
  });

  it("stands beside the alternatives of a name too, and is asked for those whose authority it lists [C-AUTH-1, C-AUTH-4, C-ALT-2]", async () => {
    const script = useSources({ authorities: { a: { xds_servers: [plain("s0")] } } });
    const {
      client,
      servers: [own, first],
    } = script;
    const seen = valuesOf(
      client.watch(flag, `${named("a")}#alt=${encodeURIComponent(named("b"))}`, {
        source: from("s1", "b"),
      }),
    );
    expect(await asked(script)).toEqual([named("a"), "", ""]);
    own?.close({ code: 14, message: "s0 is away" });
    expect(await asked(script)).toEqual(["", named("b"), ""]);
    await give(first, named("b"), "there");
    expect(seen).toEqual(["there"]);
  });

  it("is let go of when nothing has been watched there for a while, and asked again for what is watched next [C-STREAM-14]", async () => {
    const script = useSources();
    const {
      client,
      clock,
      servers: [, first],
    } = script;
    client.watch(flag, "x", { source: from("s1") }).close();
    client.watch(flag, "y", { source: from("s1") }).close();
    await turn();
    clock.advance(10_000);
    await turn();
    expect([
      first?.connected,
      client.status().map(({ name }) => name),
      (await client.dump()).genericXdsConfigs,
    ]).toEqual([false, ["s0"], []]);
    const watch = client.watch(flag, "x", { source: from("s1") });
    expect(await asked(script)).toEqual(["", "x", ""]);
    clock.advance(20_000);
    expect(first?.connected).toBe(true);
    await client.close();
    expect([first?.connected, await watch[Symbol.asyncIterator]().next()]).toEqual([
      false,
      { done: true, value: undefined },
    ]);
    expect(() => client.watch(flag, "x", { source: from("s1") })).toThrow("the client is closed");
  });

  it("says that it has no server, or that a name is broken", () => {
    const { client } = useSources();
    expect(() => client.watch(flag, "x", { source: { servers: [] } })).toThrow("has no server");
    const watch = (name: string) => () => client.watch(flag, name, { source: from("s1") });
    expect(watch("xdstp:broken")).toThrow("is not an xdstp name");
    expect(watch("xdstp:broken")).toThrow(
      expect.objectContaining({
        context: { typeUrl: flagUrl, resource: "xdstp:broken", rule: "N-02" },
      }),
    );
    const reserved = named("a", "x?xds.node.id=x");
    expect(watch(reserved)).toThrow(
      expect.objectContaining({ context: { typeUrl: flagUrl, resource: reserved, rule: "N-60" } }),
    );
  });
});
