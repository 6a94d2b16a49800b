import { create, toBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { XdsError } from "@xdstp/core";
import { ResourceSchema } from "@xdstp/protos/discovery";
import type { RawServer } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import {
  inline,
  list,
  listBytes,
  listen,
  listUrl,
  located,
  redirect,
  show,
  type Entry,
  type SentResource,
} from "../test/lists.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import {
  flag,
  flagUrl,
  turn,
  useDeltaScript,
  useSotwScript,
  type ScriptOptions,
} from "../test/use-script.ts";
import { createHub } from "./hub.ts";
import type { ListOptions } from "./list-watch.ts";
import { watchList } from "./list-watch.ts";
import { createTaking } from "./taking.ts";

const L = "xdstp://a/acme.v1.FlagCollection/l";
const at = (id: string): string => `xdstp://a/acme.v1.Flag/${id}`;
const [bar, baz, burp] = [at("bar"), at("baz"), at("burp")];

let nonce = 0;

function give(
  server: RawServer<"delta">,
  typeUrl: string,
  ...resources: readonly SentResource[]
): void {
  server.send({ typeUrl, nonce: String(++nonce), resources: [...resources] });
}

function flagOf(name: string, text: string): SentResource {
  return { name, version: text, resource: { typeUrl: flagUrl, value: Buffer.from(text) } };
}

/** Returns the subscriptions and unsubscriptions of a type since the previous call. */
function asked(server: RawServer<"delta">, typeUrl: string): string {
  return server
    .rest()
    .filter((request) => request.typeUrl === typeUrl)
    .flatMap(({ resourceNamesSubscribe, resourceNamesUnsubscribe }) => [
      ...resourceNamesSubscribe.map((name) => `+${name}`),
      ...resourceNamesUnsubscribe.map((name) => `-${name}`),
    ])
    .join(" ");
}

/** Watches a list. */
async function useList(
  options: ListOptions<string> = {},
  name = L,
  scriptOptions: ScriptOptions = {},
) {
  const script = useDeltaScript(scriptOptions);
  const watch = script.client.watchList(flag, name, options);
  const said = listen(watch);
  await turn();
  const send = async (typeUrl: string, ...resources: readonly SentResource[]): Promise<void> => {
    give(script.server, typeUrl, ...resources);
    await turn();
  };
  return { ...script, watch, said, send };
}

describe("client.watchList()", () => {
  it("asks for the list under its own type, for what is located one by one, and no more for what has left the list [C-LIST-5, B-TYPE-6]", async () => {
    const { server, send } = await useList();
    expect(
      server.rest().map(({ typeUrl, resourceNamesSubscribe }) => [typeUrl, resourceNamesSubscribe]),
    ).toEqual([[listUrl, [L]]]);
    await send(listUrl, list(L, "1", located(bar), located(baz)));
    expect(asked(server, flagUrl)).toBe(`+${bar} +${baz}`);
    await send(listUrl, list(L, "2", located(baz)));
    expect(asked(server, flagUrl)).toBe(`-${bar}`);
    await send(listUrl, list(L, "3", located(baz), located(burp), located(baz)));
    expect(asked(server, flagUrl)).toBe(`+${burp}`);
  });

  it("ends all that it asked for when it is closed [C-SUB-10]", async () => {
    const { server, watch, send } = await useList();
    await send(listUrl, list(L, "1", located(bar), inline("x", "on")));
    server.rest();
    watch.close();
    await turn();
    expect(
      server
        .rest()
        .map(({ resourceNamesUnsubscribe }) => resourceNamesUnsubscribe)
        .flat()
        .sort(),
    ).toEqual([bar, L].sort());
  });

  it("gives members in the order of the list, each with state and version, and says what has changed [C-LIST-6]", async () => {
    const { said, send, watch } = await useList();
    await send(
      listUrl,
      list(L, "1", located(bar), inline("x", "on"), inline("y", "on"), inline("z", "on")),
    );
    await send(flagUrl, flagOf(bar, "1"));
    await send(
      listUrl,
      list(L, "2", located(bar), inline("x", "on"), inline("y", "off"), inline("z", "on")),
    );
    expect(said).toEqual([
      "bar:pending x=on y=on z=on +bar +x +y +z",
      "bar=1 x=on y=on z=on ~bar .",
      "bar=1 x=on y=off z=on ~y .",
    ]);
    expect(watch.members.map(({ version }) => version)).toEqual(["1", "on", "off", "on"]);
  });

  it("does not deliver again what has not changed, and gives a change of the order alone [C-LIST-6]", async () => {
    const { client, server } = useDeltaScript();
    const watch = client.watchList(flag, L);
    const changes = watch[Symbol.asyncIterator]();
    await turn();
    give(server, listUrl, list(L, "1", inline("x", "on"), inline("y", "on")));
    const first = (await changes.next()).value;
    give(server, listUrl, list(L, "2", inline("y", "on"), inline("x", "on")));
    const second = (await changes.next()).value;
    expect([second?.added, second?.updated, second?.removed, second?.version]).toEqual([
      [],
      [],
      [],
      "2",
    ]);
    expect([
      second?.members[0] === first?.members[1],
      second?.members[1] === first?.members[0],
    ]).toEqual([true, true]);
  });

  it("decodes what has changed, once, and nothing else", async () => {
    const decoded: string[] = [];
    const { client, server } = useDeltaScript();
    const counting = {
      typeUrl: flagUrl,
      decode: (payload: Uint8Array) => {
        const text = Buffer.from(payload).toString();
        decoded.push(text);
        return text;
      },
    };
    const said = listen(client.watchList(counting, L));
    await turn();
    give(server, listUrl, list(L, "1", inline("x", "x1"), inline("y", "y1"), located(bar)));
    await turn();
    give(server, flagUrl, flagOf(bar, "bar1"));
    await turn();
    give(server, listUrl, list(L, "2", inline("x", "x1"), inline("y", "y2"), located(bar)));
    await turn();
    expect([said.at(-1), decoded]).toEqual(["x=x1 y=y2 bar=bar1 ~y .", ["x1", "y1", "bar1", "y2"]]);
  });

  it("notices no removal where a member becomes inline, or is located from now on [C-LIST-8]", async () => {
    const { said, send } = await useList();
    await send(listUrl, list(L, "1", located(bar), located(baz)));
    await send(flagUrl, flagOf(bar, "on"), flagOf(baz, "on"));
    await send(listUrl, list(L, "2", inline("bar", "on"), inline("baz", "off")));
    await send(listUrl, list(L, "3", located(bar), located(baz)));
    await send(flagUrl, flagOf(bar, "on"), flagOf(baz, "new"));
    expect(said).toEqual([
      "bar:pending baz:pending +bar +baz",
      "bar=on baz=on ~bar ~baz .",
      "bar=on baz=off ~baz .",
      "bar=on baz=off", // not complete: nothing is known of where they are now
      "bar=on baz=new ~baz .",
    ]);
  });

  it("goes on with the others where a member is missing, rejected, or not to be had [C-LIST-9, C-ACK-5]", async () => {
    const { said, send, server, clock } = await useList();
    await send(
      listUrl,
      list(
        L,
        "1",
        located(bar),
        located(baz),
        located(burp),
        located("file:///x.yaml"),
        inline("x", "on"),
      ),
    );
    server.rest();
    await send(flagUrl, flagOf(bar, "broken"), flagOf(burp, "1"));
    expect(server.rest().at(-1)?.errorDetail?.message).toBe(`"${bar}": flags are not broken`);
    clock.advance(15_000);
    await turn();
    expect(said.at(-1)).toMatch(
      /^bar:failed!INVALID_ARGUMENT baz:missing!NOT_FOUND burp=1 x.yaml:failed!PERMISSION_DENIED x=on .*\.$/,
    );
    await send(flagUrl, flagOf(bar, "2"), flagOf(baz, "2"));
    expect(said.at(-1)).toMatch(/^bar=2 baz=2 burp=1 .*~bar ~baz \.$/);
  });

  it("rejects a list with a bad entry as a whole, says which and why, and keeps what there was [B-LIST-3, B-LIST-4, C-ACK-5, C-LIM-7]", async () => {
    const { said, send, server } = await useList({
      maxEntries: 3,
      validate: (value) => (value === "never" ? "never say never" : undefined),
    });
    await send(listUrl, list(L, "1", inline("x", "on"), located(bar)));
    server.rest();
    const rejection = async (...entries: readonly Entry[]): Promise<string | undefined> => {
      await send(listUrl, list(L, "2", ...entries));
      return server
        .rest()
        .findLast(({ typeUrl }) => typeUrl === listUrl)
        ?.errorDetail?.message.replace(`"${L}": `, "");
    };
    expect(await rejection(inline("x", "on"), inline("y", "broken"))).toBe(
      `entry 2 of the list is rejected (${at("y")}): flags are not broken`,
    );
    expect([said.length, said.at(-1)]).toEqual([2, "x=on bar:pending !INVALID_ARGUMENT"]);
    expect(await rejection(inline("x", "on"), inline("", "never"))).toBe(
      "entry 2 of the list is rejected: never say never",
    );
    expect(await rejection(inline("y", "on"), {})).toContain(
      "entry 2 of the list is neither a locator nor inline",
    );
    expect(await rejection(inline("y", "on"), inline("y", "off"))).toContain("for a second time");
    expect(await rejection(inline("y", "on", "1", "type.googleapis.com/acme.v1.Other"))).toContain(
      "has a payload of type",
    );
    expect(
      await rejection(inline("1", "on"), inline("2", "on"), inline("3", "on"), inline("4", "on")),
    ).toBe(
      "entry 4 of the list is one too many: at most 3 are accepted; list fewer, or raise maxEntries",
    );
    expect(said.at(-1)).toBe("x=on bar:pending !INVALID_ARGUMENT");
    expect(asked(server, flagUrl)).toBe("");
    await send(listUrl, list(L, "3", inline("x", "on"), inline("y", "on")));
    expect(said.at(-1)).toBe("x=on y=on +y -bar .");
  });

  it("tells a list that is gone from one that is empty, and from one that never was [S-LIST-11]", async () => {
    const { said, send, server } = await useList({}, L, {
      serverFeatures: ["fail_on_data_errors"],
    });
    server.send({ typeUrl: listUrl, nonce: "x", removedResources: [L] });
    await turn();
    await send(listUrl, list(L, "1", inline("x", "on")));
    await send(listUrl, list(L, "2"));
    await send(listUrl, list(L, "3", inline("x", "on")));
    server.send({ typeUrl: listUrl, nonce: "y", removedResources: [L] });
    await turn();
    expect(said).toEqual([". 0 !NOT_FOUND", "x=on +x .", "-x .", "x=on +x .", "-x . 0 !NOT_FOUND"]);
  });

  it("keeps a list that its server has removed where that was not told to fail [C-GRPC-9]", async () => {
    const { said, send, server } = await useList();
    await send(listUrl, list(L, "1", inline("x", "on")));
    server.send({ typeUrl: listUrl, nonce: "x", removedResources: [L] });
    await turn();
    expect(said).toEqual(["x=on +x .", "x=on . !NOT_FOUND"]);
  });

  it("asks for a list with its parameters, and takes it under no other name [S-LIST-2, B-LIST-1]", async () => {
    const name = `${L}?a=1&some=thing`;
    const { said, send, server, watch } = await useList({}, `${L}?some=thing&a=1`);
    expect([asked(server, listUrl), watch.name]).toEqual([`+${name}`, name]);
    await send(listUrl, list(L, "1", inline("x", "on")));
    await send(listUrl, list(name, "1", located(bar), inline("y", "on")));
    expect([said, watch.members.map((member) => member.name)]).toEqual([
      ["bar:pending y=on +bar +y"],
      [bar, at("y")],
    ]);
  });

  it("judges what came before it began, for itself alone", async () => {
    const { client, send, server } = await useList();
    await send(listUrl, list(L, "1", located(bar), inline("x", "on")));
    await send(flagUrl, flagOf(bar, "1"));
    server.rest();
    const watches = ["1", "on"].map((not) =>
      client.watchList(flag, L, {
        validate: (value) => (value === not ? `not ${not}` : undefined),
      }),
    );
    const [strict, stricter] = watches.map((watch) => listen(watch)) as [string[], string[]];
    await turn();
    expect([strict, stricter, server.rest()]).toEqual([
      ["bar:failed!INVALID_ARGUMENT x=on +bar +x ."],
      [". 0 !INVALID_ARGUMENT"],
      [],
    ]);
    await send(flagUrl, flagOf(bar, "2"));
    await send(listUrl, list(L, "2", located(bar), inline("x", "off")));
    expect([strict.at(-1), stricter.at(-1)]).toEqual(["bar=2 x=off ~x .", "bar=2 x=off +bar +x ."]);
    for (const watch of watches) watch.close();
    await send(listUrl, list(L, "3", located(bar), inline("x", "on")));
    await send(flagUrl, flagOf(bar, "1"));
    expect(server.rest().map(({ errorDetail }) => errorDetail)).not.toContainEqual(
      expect.anything(),
    );
  });

  it("has entries of other lists as members, and follows a list that has moved [C-LIST-7, C-REDIR-6]", async () => {
    const [moved, other] = [
      "xdstp://a/acme.v1.FlagCollection/moved",
      "xdstp://a/acme.v1.FlagCollection/other",
    ];
    const { said, send, server } = await useList();
    await send(listUrl, redirect(L, moved));
    expect(asked(server, listUrl)).toContain(`+${moved}`);
    await send(listUrl, list(moved, "1", located(`${other}#entry=n`), inline("x", "on")));
    expect(asked(server, listUrl)).toContain(`+${other}`);
    await send(listUrl, list(other, "1", inline("n", "far"), inline("m", "off")));
    expect(said).toEqual([
      "other#entry=n:pending x=on +other#entry=n +x",
      "other#entry=n=far x=on ~other#entry=n .",
    ]);
  });

  it("is asked for where an entry of it is watched by its name, and nothing else is; one that is not in it, or has no name, does not exist [C-LIST-7, N-71]", async () => {
    const { client, server } = useDeltaScript();
    const watch = client.watch(flag, `${L}#entry=n`)[Symbol.asyncIterator]();
    const absent = client.watch(flag, `${L}#entry=m`)[Symbol.asyncIterator]();
    await turn();
    expect(
      server.rest().map(({ typeUrl, resourceNamesSubscribe }) => [typeUrl, resourceNamesSubscribe]),
    ).toEqual([[listUrl, [L]]]);
    give(
      server,
      listUrl,
      list(L, "1", inline("", "nobody's"), inline("n", "on"), located(at("m"))),
    );
    expect([(await watch.next()).value, (await absent.next()).value]).toMatchObject([
      { value: "on", name: `${L}#entry=n` },
      { error: { code: "NOT_FOUND" } },
    ]);
    give(server, listUrl, list(L, "2", inline("", "on")));
    expect((await watch.next()).value?.error?.code).toBe("NOT_FOUND");
    expect(asked(server, flagUrl)).toBe("");
  });

  it("says nothing twice", async () => {
    const cache = createCache({ wildcard: () => true });
    const watch = watchList(
      createHub({
        cache,
        taking: createTaking(),
        nodeId: "me",
        interestOf: (_, name) => ({ name }),
      }),
      flag,
      L,
      {},
    );
    onTestFinished(() => {
      watch.close();
    });
    const said = listen(watch);
    cache.put({ typeUrl: listUrl, name: L, value: listBytes(located(bar)) });
    for (const text of ["away", "away", "still away"]) {
      cache.unavailable(
        { typeUrl: flagUrl, interest: { name: bar } },
        new XdsError("UNAVAILABLE", text),
      );
      cache.unavailable(
        { typeUrl: listUrl, interest: { name: L } },
        new XdsError("UNAVAILABLE", text),
      );
      await turn();
    }
    expect(said).toEqual([
      "bar:failed!UNAVAILABLE +bar . !UNAVAILABLE",
      "bar:failed!UNAVAILABLE ~bar . !UNAVAILABLE",
    ]);
  });

  it("rejects a bad entry also of a list that has moved, by the name that it has there [C-ACK-5, C-REDIR-6]", async () => {
    const moved = "xdstp://a/acme.v1.FlagCollection/moved";
    const { said, send, server } = await useList();
    await send(listUrl, redirect(L, moved));
    await send(listUrl, list(moved, "1", inline("x", "on")));
    server.rest();
    await send(listUrl, list(moved, "2", inline("x", "broken")));
    expect([said.at(-1), server.rest().at(-1)?.errorDetail?.message]).toEqual([
      "x=on . !INVALID_ARGUMENT",
      `"${moved}": entry 1 of the list is rejected (${at("x")}): flags are not broken`,
    ]);
    await send(listUrl, list(moved, "3", inline("x", "off")));
    expect(said.at(-1)).toBe("x=off ~x .");
  });

  it("reads the stream on when its change has been taken [C-ACK-13]", async () => {
    const { client, server } = useDeltaScript();
    const changes = client.watchList(flag, L)[Symbol.asyncIterator]();
    await turn();
    const first = changes.next();
    give(server, listUrl, list(L, "1", inline("x", "on")));
    await first;
    give(server, listUrl, list(L, "2", inline("x", "off")));
    await turn();
    const paused = server.paused;
    expect((await changes.next()).value?.members.map(show)).toEqual(["x=off"]);
    void changes.next();
    await turn();
    expect([paused, server.paused]).toEqual([true, false]);
  });

  it("takes a list over SotW, in its wrapper, with all of it in each response [S-LIST-10]", async () => {
    const { client, server } = useSotwScript();
    const said = listen(client.watchList(flag, L));
    await turn();
    expect(server.rest().map(({ typeUrl, resourceNames }) => [typeUrl, resourceNames])).toEqual([
      [listUrl, [L]],
    ]);
    const wrapped = (version: string, ...entries: readonly Entry[]) => ({
      typeUrl: "type.googleapis.com/envoy.service.discovery.v3.Resource",
      value: toBinary(
        ResourceSchema,
        create(ResourceSchema, {
          name: L,
          version,
          resource: { typeUrl: listUrl, value: listBytes(...entries) },
        }),
      ),
    });
    for (const [version, entries] of [
      ["1", [inline("x", "on"), inline("y", "on")]],
      ["2", [inline("y", "off"), inline("z", "on")]],
    ] as const) {
      server.send({
        typeUrl: listUrl,
        versionInfo: version,
        nonce: version,
        resources: [wrapped(version, ...entries)],
      });
      await turn();
    }
    expect(said).toEqual(["x=on y=on +x +y .", "y=off z=on +z ~y -x ."]);
    expect(server.rest().map(({ versionInfo, errorDetail }) => [versionInfo, errorDetail])).toEqual(
      [
        ["1", undefined],
        ["2", undefined],
      ],
    );
  });

  it.each(["delta", "sotw"] as const)(
    "takes a list and its members from a server over %s [B-LIST-1, C-LIST-5]",
    async (variant) => {
      const { cache, uri } = await useOrigin();
      const { client } = useClient([uri], { variant });
      cache.put({ typeUrl: flagUrl, name: bar, value: Buffer.from("1") });
      cache.put({ typeUrl: listUrl, name: L, value: listBytes(located(bar), inline("x", "on")) });
      for await (const { members, complete } of client.watchList(flag, L)) {
        if (!complete) continue;
        if (members.length === 2)
          cache.put({
            typeUrl: listUrl,
            name: L,
            value: listBytes(inline("y", "on"), inline("x", "on"), located(bar)),
          });
        else break;
        expect(members.map(show)).toEqual(["bar=1", "x=on"]);
      }
      for await (const { members, complete } of client.watchList(flag, L)) {
        if (!complete) continue;
        expect(members.map(show)).toEqual(["y=on", "x=on", "bar=1"]);
        break;
      }
    },
  );

  it("is for lists, and says what is for others; the others say the same", () => {
    const { client } = useDeltaScript();
    expect(() => client.watch(flag, L)).toThrow(
      `[INVALID_ARGUMENT] "${L}" is a list; use watchList()`,
    );
    expect(() => client.watch(flag, `${L}#alt=${L}2`)).toThrow("is a list; use watchList()");
    expect(() => client.watchAll(flag, L)).toThrow("is a list; use watchList()");
    expect(() => client.watchList(flag, "*")).toThrow(
      '"*" is a collection; use watchAll() (a list of acme.v1.Flag has the type acme.v1.FlagCollection)',
    );
    expect(() => client.watchList(flag, `${bar}/*`)).toThrow("is a collection; use watchAll()");
    expect(() => client.watchList(flag, bar)).toThrow("is one name; use watch()");
    expect(() => client.watchList(flag, `${L}#entry=n`)).toThrow("is one name; use watch()");
    expect(() => client.watchList(flag, "xdstp://a/acme.v1.FlagCollection")).not.toThrow();
    expect(() => client.watchList(flag, "xdstp:broken")).toThrow("is not an xdstp name");
    expect(() => client.watch({ ...flag, typeUrl: listUrl }, L)).not.toThrow();
  });
});
