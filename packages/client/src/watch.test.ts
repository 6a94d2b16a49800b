import type { RawServer } from "@xdstp/testing";
import { getEventListeners } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import {
  flag,
  flagUrl,
  turn,
  useDeltaScript,
  useSotwScript,
  type ScriptOptions,
} from "../test/use-script.ts";
import type { Client, Snapshot, Watch } from "./index.ts";

let nonce = 0;

const xName = "xdstp://a/acme.v1.Flag/x";

function give(server: RawServer<"delta">, name: string, text: string, version = text): void {
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resources: [{ name, version, resource: { typeUrl: flagUrl, value: Buffer.from(text) } }],
  });
}

/** Sends the error of "a" (TP3). */
function giveError(server: RawServer<"delta">, code: number): void {
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resourceErrors: [{ resourceName: { name: "a" }, errorDetail: { code, message: "not now" } }],
  });
}

/** Collects the updates of a watch, as `value`, `value!CODE` or `!CODE`. */
function listen(watch: Watch<Snapshot<string>>): string[] {
  const said: string[] = [];
  void (async () => {
    for await (const { value = "", error } of watch)
      said.push(error === undefined ? value : `${value}!${error.code}`);
  })();
  return said;
}

/** Collects the two calls of a watch. */
function call(client: Client, name: string): string[] {
  const calls: string[] = [];
  client.watch(flag, name, {
    onChanged: ({ value, error }) => {
      calls.push(`changed ${value ?? error?.code ?? ""}`);
    },
    onAmbientError: (error) => {
      calls.push(`ambient ${error?.code ?? "over"}`);
    },
  });
  return calls;
}

describe("client.watch()", () => {
  it("shares one subscription among the watches of a name, and ends it with the last of them [C-SUB-10]", async () => {
    const { client, server } = useDeltaScript();
    const watches = [client.watch(flag, "a"), client.watch(flag, "a")];
    await turn();
    expect(server.rest().map(({ resourceNamesSubscribe }) => resourceNamesSubscribe)).toEqual([
      ["a"],
    ]);
    watches[0]?.close();
    await turn();
    expect(server.rest()).toEqual([]);
    watches[1]?.close();
    await turn();
    expect(server.rest().map(({ resourceNamesUnsubscribe }) => resourceNamesUnsubscribe)).toEqual([
      ["a"],
    ]);
  });

  it("gives a late watcher what is held, then the ambient error [C-GRPC-8]", async () => {
    const { client, server, clock } = useDeltaScript();
    const early = call(client, "a");
    await turn();
    give(server, "a", "on");
    await turn();
    server.close();
    clock.advance(1_000);
    server.close();
    await turn();
    const late = call(client, "a");
    await turn();
    expect([early, late]).toEqual([
      ["changed on", "ambient UNAVAILABLE"],
      ["changed on", "ambient UNAVAILABLE"],
    ]);
    clock.advance(2_000);
    await turn();
    give(server, "a", "on");
    await turn();
    expect(late).toEqual(["changed on", "ambient UNAVAILABLE", "ambient over"]);
  });

  it.each([
    ["a name", "a", "a"],
    ["a name with an alternative", `${xName}#alt=xdstp%3A//a/acme.v1.Flag/y`, xName],
  ])(
    "calls again for the same error of another version of %s, and not for that of the same version [C-ACK-18]",
    async (_, watched, given) => {
      const { client, server } = useDeltaScript();
      const calls = call(client, watched);
      await turn();
      for (const [text, version] of [
        ["on", "1"],
        ["broken", "2"],
        ["broken", "2"],
        ["broken", "3"],
      ] as const) {
        give(server, given, text, version);
        await turn();
      }
      expect(calls).toEqual(["changed on", "ambient INVALID_ARGUMENT", "ambient INVALID_ARGUMENT"]);
    },
  );

  it("says of connectivity errors that they are the server's, never what code an application should answer with, and who was asking [C-GRPC-4, C-GRPC-5, C-GRPC-16]", async () => {
    const { client, server } = useDeltaScript();
    const watch = client.watch(flag, "a")[Symbol.asyncIterator]();
    await turn();
    server.close({ code: 7, message: "go away" });
    const { value } = await watch.next();
    expect([value?.error?.code, value?.error?.text]).toEqual([
      "UNAVAILABLE",
      'the management server has answered nothing on this stream [PERMISSION_DENIED]: go away (node "me")',
    ]);
  });

  it.each<
    [
      what: string,
      happen: (server: RawServer<"delta">) => void,
      uncached: string[],
      cached: string[],
      failing: string[],
    ]
  >([
    [
      "a rejection",
      (server) => {
        give(server, "a", "broken");
      },
      ["!INVALID_ARGUMENT"],
      ["on", "on!INVALID_ARGUMENT"],
      ["on", "!INVALID_ARGUMENT"],
    ],
    [
      "a removal",
      (server) => {
        server.send({ typeUrl: flagUrl, nonce: "r", removedResources: ["a"] });
      },
      ["!NOT_FOUND"],
      ["on", "on!NOT_FOUND"],
      ["on", "!NOT_FOUND"],
    ],
    [
      "an error of the data",
      (server) => {
        giveError(server, 7);
      },
      ["!PERMISSION_DENIED"],
      ["on", "on!PERMISSION_DENIED"],
      ["on", "!PERMISSION_DENIED"],
    ],
    [
      "a transient error",
      (server) => {
        giveError(server, 14);
      },
      ["!UNAVAILABLE"],
      ["on", "on!UNAVAILABLE"],
      ["on", "on!UNAVAILABLE"],
    ],
  ])(
    "after %s uses what is cached, and with fail_on_data_errors does not [C-GRPC-9, C-ERR-4]",
    async (_, happen, uncached, cached, failing) => {
      const said = async (
        options: ScriptOptions,
        isCached: boolean,
      ): Promise<readonly string[]> => {
        const { client, server } = useDeltaScript(options);
        const all = listen(client.watch(flag, "a"));
        await turn();
        if (isCached) give(server, "a", "on");
        await turn();
        happen(server);
        await turn();
        return all;
      };
      expect([
        await said({}, false),
        await said({}, true),
        await said({ serverFeatures: ["fail_on_data_errors"] }, true),
      ]).toEqual([uncached, cached, failing]);
    },
  );

  it("takes what is not there in time as missing, or as unavailable for now where the server says so [C-MISS-4, C-GRPC-10]", async () => {
    const [plain, transient] = [
      useDeltaScript(),
      useDeltaScript({ serverFeatures: ["resource_timer_is_transient_error"] }),
    ];
    const [one, other] = [
      listen(plain.client.watch(flag, "a")),
      listen(transient.client.watch(flag, "a")),
    ];
    await turn();
    for (const { clock } of [plain, transient]) clock.advance(15_000);
    await turn();
    expect([one, other]).toEqual([["!NOT_FOUND"], []]);
    transient.clock.advance(15_000);
    await turn();
    expect(other).toEqual(["!UNAVAILABLE"]);
    expect(
      (await transient.client.dump({ contents: false })).genericXdsConfigs[0]?.clientStatus,
    ).toBe(6);
  });

  it("rejects what a program's decoder or check throws at, and takes the rest [C-LIM-7, C-ACK-5]", async () => {
    const { client, server } = useDeltaScript();
    const [a, b] = [
      listen(
        client.watch(flag, "a", {
          validate: () => {
            throw new Error("no flags today");
          },
        }),
      ),
      listen(client.watch(flag, "b")),
    ];
    await turn();
    server.rest();
    server.send({
      typeUrl: flagUrl,
      nonce: "n",
      resources: ["a", "b"].map((name) => ({
        name,
        version: "1",
        resource: { typeUrl: flagUrl, value: Buffer.from("on") },
      })),
    });
    await turn();
    const { errorDetail, responseNonce } = server.next();
    expect([a, b, responseNonce, errorDetail?.code, errorDetail?.message]).toEqual([
      ["!INVALID_ARGUMENT"],
      ["on"],
      "n",
      3,
      '"a": no flags today',
    ]);
  });

  it("reads on only when who waits in a loop has the update, and is held up by nobody who does not [C-ACK-13, C-ACK-12]", async () => {
    const { client, server } = useDeltaScript();
    client.watch(flag, "a");
    const watch = client.watch(flag, "a")[Symbol.asyncIterator]();
    await turn();
    give(server, "a", "one");
    await watch.next();
    give(server, "a", "two");
    await turn();
    expect(server.paused).toBe(true);
    expect(server.rest().at(-1)?.responseNonce).toBe(String(nonce));
    give(server, "a", "three");
    expect((await watch.next()).value?.value).toBe("two");
    await turn();
    expect(server.paused).toBe(true);
    expect((await watch.next()).value?.value).toBe("three");
    await turn();
    expect(server.paused).toBe(false);
  });

  it("shows the version that the server gave, also where it was used before for other content; the next stream is told that one too [B-VER-5, C-RECON-3]", async () => {
    const { client, server, clock } = useDeltaScript();
    const said: string[] = [];
    client.watch(flag, "a", {
      onChanged: ({ value, version }) => {
        said.push(`${value ?? ""} ${version}`);
      },
    });
    await turn();
    for (const text of ["1", "2"]) {
      server.send({
        typeUrl: flagUrl,
        nonce: text,
        resources: [
          { name: "a", version: "v", resource: { typeUrl: flagUrl, value: Buffer.from(text) } },
        ],
      });
      await turn();
    }
    expect(said).toEqual(["1 v", "2 v"]);
    expect((await client.dump()).genericXdsConfigs).toMatchObject([
      { name: "a", versionInfo: "v" },
    ]);
    server.close();
    server.rest();
    clock.advance(1_000);
    await turn();
    expect(server.next().initialResourceVersions).toEqual({ a: "v" });
  });

  it("gives what came last to who was slow, and nothing twice", async () => {
    const { client, server } = useDeltaScript();
    const watch = client.watch(flag, "a");
    await turn();
    for (const text of ["one", "two", "three"]) give(server, "a", text);
    await turn();
    const said = listen(watch);
    await turn();
    give(server, "a", "three");
    await turn();
    expect(said).toEqual(["three"]);
  });

  it("waits no more than 30 s for a loop that was left open, until it is gone on with [C-ACK-13]", async () => {
    const { client, server, clock } = useDeltaScript();
    const left = client.watch(flag, "a")[Symbol.asyncIterator]();
    await turn();
    give(server, "a", "one");
    await left.next();
    give(server, "a", "two");
    await turn();
    clock.advance(29_999);
    await turn();
    expect(server.paused).toBe(true);
    clock.advance(1);
    await turn();
    give(server, "a", "three");
    await turn();
    expect([server.paused, (await left.next()).value?.value]).toEqual([false, "three"]);
    give(server, "a", "four");
    await turn();
    expect(server.paused).toBe(true);
  });

  it("gives nothing after its close, not what had come either", async () => {
    const { client, server } = useDeltaScript();
    const calls: string[] = [];
    const gate = Promise.withResolvers<undefined>();
    const watch = client.watch(flag, "a", {
      onChanged: async ({ value = "" }) => {
        calls.push(value);
        await gate.promise;
        watch.close();
      },
    });
    await turn();
    give(server, "a", "one");
    await turn();
    give(server, "a", "two");
    await turn();
    gate.resolve(undefined);
    await turn();
    expect(calls).toEqual(["one"]);
  });

  it("makes no second call after the first has closed it", async () => {
    const { client, server } = useDeltaScript();
    listen(client.watch(flag, "a"));
    await turn();
    give(server, "a", "one");
    give(server, "a", "broken");
    await turn();
    const calls: string[] = [];
    const watch = client.watch(flag, "a", {
      onChanged: () => {
        calls.push("changed");
        watch.close();
      },
      onAmbientError: () => {
        calls.push("ambient");
      },
    });
    await turn();
    expect(calls).toEqual(["changed"]);
  });

  it("ends calls with their signal, without an error, and lets go of a signal that lives longer", async () => {
    const { client } = useDeltaScript();
    const rejected: unknown[] = [];
    const onRejection = (error: unknown): void => {
      rejected.push(error);
    };
    process.on("unhandledRejection", onRejection);
    onTestFinished(() => {
      process.off("unhandledRejection", onRejection);
    });
    const abort = new AbortController();
    client.watch(flag, "a", { signal: abort.signal, onChanged: () => undefined });
    const closed = [
      client.watch(flag, "b", { signal: abort.signal }),
      client.watchAll(flag, "*", { signal: abort.signal }),
    ];
    expect(getEventListeners(abort.signal, "abort")).toHaveLength(3);
    for (const watch of closed) watch.close();
    expect(getEventListeners(abort.signal, "abort")).toHaveLength(1);
    abort.abort(new Error("enough"));
    await turn();
    expect([rejected, getEventListeners(abort.signal, "abort")]).toEqual([[], []]);
  });

  it.each([
    ["the reason of the signal", (reason: unknown) => reason, 0],
    ["a copy of it", (reason: unknown) => structuredClone(reason), 0],
    ["another error", () => new Error("mine"), 1],
  ])(
    "in a call that goes on after its signal, %s is or is not an error",
    async (_, made, count) => {
      const { client, server } = useDeltaScript();
      const rejected: unknown[] = [];
      const onRejection = (error: unknown): void => {
        rejected.push(error);
      };
      process.on("unhandledRejection", onRejection);
      onTestFinished(() => {
        process.off("unhandledRejection", onRejection);
      });
      const abort = new AbortController();
      const gate = Promise.withResolvers<undefined>();
      client.watch(flag, "a", {
        signal: abort.signal,
        onChanged: async () => {
          await gate.promise;
          throw made(abort.signal.reason);
        },
      });
      await turn();
      give(server, "a", "one");
      await turn();
      abort.abort(new RangeError("enough"));
      gate.resolve(undefined);
      await turn();
      expect(rejected).toHaveLength(count);
    },
  );

  it("lets what a call throws surface, and ends", async () => {
    const { client, server } = useDeltaScript();
    const rejected: unknown[] = [];
    const onRejection = (error: unknown): void => {
      rejected.push(error);
    };
    process.on("unhandledRejection", onRejection);
    onTestFinished(() => {
      process.off("unhandledRejection", onRejection);
    });
    client.watch(flag, "a", {
      onChanged: () => {
        throw new Error("mine");
      },
    });
    await turn();
    give(server, "a", "one");
    await turn();
    expect([rejected.map(String), server.rest().at(-1)?.resourceNamesUnsubscribe]).toEqual([
      ["Error: mine"],
      ["a"],
    ]);
  });

  it("judges what was taken before it began, and waits for another state", async () => {
    const { client, server } = useDeltaScript();
    const early = listen(client.watch(flag, "a"));
    await turn();
    give(server, "a", "one");
    await turn();
    server.rest();
    const late = listen(
      client.watch(flag, "a", { validate: (value) => (value === "one" ? "not one" : undefined) }),
    );
    await turn();
    expect([late, server.rest()]).toEqual([["!INVALID_ARGUMENT"], []]);
    give(server, "a", "two");
    await turn();
    expect([early, late]).toEqual([
      ["one", "two"],
      ["!INVALID_ARGUMENT", "two"],
    ]);
  });

  it("may be opened and closed by the thousand, from calls and checks too", async () => {
    const { client, server } = useDeltaScript();
    for (const name of ["a", "b"]) for (let i = 0; i < 5_000; i++) client.watch(flag, name).close();
    await turn();
    expect(server.streams).toBe(0);
    const said: string[] = [];
    const watch = client.watch(flag, "a", {
      validate: () => {
        watch.close();
        listen(client.watch(flag, "b"));
        return undefined;
      },
      onChanged: ({ value = "" }) => {
        said.push(value);
      },
    });
    await turn();
    server.rest();
    give(server, "a", "one");
    await turn();
    const [answer, ...more] = server.rest();
    expect([
      said,
      answer?.errorDetail,
      [answer, ...more].flatMap((request) =>
        [request?.resourceNamesSubscribe, request?.resourceNamesUnsubscribe].flat(),
      ),
    ]).toEqual([[], undefined, ["b", "a"]]);
  });

  it("keeps the process alive while it is open, also between two attempts", async () => {
    const [begun, ended] = [
      vi.spyOn(globalThis, "setInterval"),
      vi.spyOn(globalThis, "clearInterval"),
    ];
    const { client, server } = useDeltaScript();
    const watches = [client.watch(flag, "a"), client.watchAll(flag, "*")];
    // No other code has run since, so these timers are those of the client.
    const [alive, ...more] = begun.mock.results.map(({ value }) => value as NodeJS.Timeout);
    await turn();
    server.close();
    expect([alive?.hasRef(), more]).toEqual([true, []]);
    expect(ended).not.toHaveBeenCalledWith(alive);
    for (const watch of watches) watch.close();
    expect(ended).toHaveBeenCalledWith(alive);
  });

  it("cannot be begun once the client is closed", async () => {
    const { client } = useDeltaScript();
    const waiting = client.read(flag, "a");
    await client.close();
    await expect(waiting).rejects.toThrow("[CANCELLED]");
    for (const begin of [() => client.watch(flag, "a"), () => client.watchAll(flag, "*")])
      expect(begin).toThrow("[FAILED_PRECONDITION] the client is closed");
    await expect(client.read(flag, "a")).rejects.toThrow(
      "[FAILED_PRECONDITION] the client is closed",
    );
    await client.close();
  });

  it("ends with its signal, its close, its client", async () => {
    const { client } = useDeltaScript();
    const abort = new AbortController();
    const aborted = client
      .watch(flag, "a", { signal: abort.signal })
      [Symbol.asyncIterator]()
      .next();
    abort.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    expect(() => client.watch(flag, "a", { signal: AbortSignal.abort() })).not.toThrow();
    const left = client.watch(flag, "a")[Symbol.asyncIterator]().next();
    await client.close();
    expect(await left).toEqual({ done: true, value: undefined });
  });

  it.each([
    ["", "[INVALID_ARGUMENT] a name is empty"],
    ["*", '[INVALID_ARGUMENT] "*" is a collection; use watchAll()'],
    [
      "xdstp://a/acme.v1.Plan/x",
      '[INVALID_ARGUMENT] "xdstp://a/acme.v1.Plan/x" has the type acme.v1.Plan; it has to be acme.v1.Flag',
    ],
    ["a\ud800", "has half a character (a lone surrogate)"],
    [
      "xdstp://a/acme.v1.Flag/x#alt=xdstp://b/acme.v1.Plan/x",
      "its alternative xdstp://b/acme.v1.Plan/x has the type acme.v1.Plan; it has to be acme.v1.Flag",
    ],
    [
      "xdstp://a/acme.v1.Flag/x#alt=xdstp://b/acme.v1.Flag/*",
      "its alternative xdstp://b/acme.v1.Flag/* is a glob",
    ],
    ["xdstp://a/acme.v1.Flag/x#alt=http://b/acme.v1.Flag/x", "has the scheme http"],
    [
      "xdstp://a/acme.v1.Flag/x#entry=n",
      "has the type acme.v1.Flag; it has to be acme.v1.FlagCollection",
    ],
    ["xdstp://a/acme.v1.Flag/x?xds.node.id=1", "[INVALID_ARGUMENT]"],
  ])("says at once why %j cannot be asked for", (name, message) => {
    const { client } = useDeltaScript();
    expect(() => client.watch(flag, name)).toThrow(message);
  });

  it("says of a name of an authority that nobody answers for which are known, and asks for nothing [C-AUTH-5]", async () => {
    const { client, server } = useDeltaScript({ bootstrapMore: { authorities: { a: {} } } });
    const { value } = await client
      .watch(flag, "xdstp://unknown/acme.v1.Flag/x")
      [Symbol.asyncIterator]()
      .next();
    expect(value).toMatchObject({
      version: "",
      error: {
        code: "INVALID_ARGUMENT",
        text: expect.stringContaining(
          'no server is configured for the authority "unknown"; known: "a"',
        ) as string,
      },
    });
    expect(server.streams).toBe(0);
  });

  it("asks for the name with the attributes of the look-up and, of globs, with fields of the node [C-CTX-1, B-CTX-2, C-CTX-3]", async () => {
    const { client, server } = useDeltaScript({ nodeContextParams: ["cluster", "metadata"] });
    client.watch(flag, "xdstp://a/acme.v1.Flag/x?zone=1", { attributes: { host: "h" } });
    client.watchAll(flag, "xdstp://a/acme.v1.Flag/ns/*");
    await turn();
    expect(server.rest().flatMap(({ resourceNamesSubscribe }) => resourceNamesSubscribe)).toEqual([
      "xdstp://a/acme.v1.Flag/x?xds.resource.host=h&zone=1",
      "xdstp://a/acme.v1.Flag/ns/*?xds.node.cluster=west&xds.node.metadata.stage=%22test%22",
    ]);
  });

  it("sends the dynamic parameters of the client with each name [C-DYN-1]", async () => {
    const { client, server } = useSotwScript({
      dynamicParameters: { opaque: { env: "prod" }, authorities: { a: { env: "test" } } },
    });
    for (const name of ["x", "xdstp://a/acme.v1.Flag/x", "xdstp://b/acme.v1.Flag/x"])
      client.watch(flag, name);
    await turn();
    const { resourceNames, resourceLocators } = server.next();
    expect([
      resourceNames,
      resourceLocators.map(({ name, dynamicParameters }) => [name, dynamicParameters]),
    ]).toEqual([
      ["xdstp://b/acme.v1.Flag/x"],
      [
        ["x", { env: "prod" }],
        ["xdstp://a/acme.v1.Flag/x", { env: "test" }],
      ],
    ]);
  });

  it("says who it is and what it can do in the first request only [C-NODE-1, C-NODE-5]", async () => {
    const { client, server } = useDeltaScript();
    client.watch(flag, "a");
    await turn();
    client.watch(flag, "b");
    await turn();
    const [first, second] = server.rest();
    expect([
      first?.node?.id,
      first?.node?.cluster,
      first?.node?.userAgentName,
      first?.node?.clientFeatures,
      second?.node,
    ]).toEqual([
      "me",
      "west",
      "xdstp",
      [
        "xds.config.supports-resource-ttl",
        "xds.config.supports-resource-in-sotw",
        "xds.config.resource-in-sotw",
      ],
      undefined,
    ]);
  });
});
