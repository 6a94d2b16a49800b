import { expect, it } from "vitest";
import { describeProgram } from "../src/describe-program.ts";
import type { GoCacheKind, GoEvent } from "../src/go-control-plane.ts";
import { until } from "../src/until.ts";
import { useGoWorld } from "../src/use-go-world.ts";
import { type WordType, wordTypes } from "../src/xds-client.ts";

interface Case {
  readonly command: string;
  readonly kind: GoCacheKind;
  readonly type: WordType;
  readonly variant: "delta" | "sotw";
}

const cases = [
  { kind: "linear", type: wordTypes.clusters, wildcard: true },
  { kind: "snapshot", type: wordTypes.clusters, wildcard: true },
  { kind: "snapshot", type: wordTypes.endpoints, wildcard: false },
  { kind: "mux", type: wordTypes.clusters, wildcard: true },
  { kind: "mux", type: wordTypes.endpoints, wildcard: false },
] as const;

const last = <T>(list: readonly T[]): T | undefined => list.at(-1);

for (const variant of ["delta", "sotw"] as const) {
  for (const { wildcard, ...row } of cases) {
    describeProgram(
      "go-control-plane",
      `our client of a ${row.kind} cache of ${row.type.title} (${variant})`,
      (command) => {
        const found: Case = { command, variant, ...row };
        testChanges(found);
        testFaults(found);
        testSize(found);
        if (wildcard) testWildcard(found);
      },
    );
  }
}

function testChanges({ command, kind, type, variant }: Case): void {
  const { typeUrl } = type.watched;

  it("gets what it asks for by name, each change, and what is added to its names [C-ACK-1] [C-SUB-10]", async () => {
    const { server, put, watch } = await useGoWorld(command, kind, type, variant, [
      ["a", "1"],
      ["b", "1"],
      ["other", "1"],
    ]);
    const a = watch("a");
    await a.shows("1");
    await put(["a", "2"]);
    await a.shows("2");
    const b = watch("b");
    await b.shows("1");
    await put(["b", "2"], ["other", "2"]);
    await b.shows("2");
    expect(a.now?.value).toBe("2");
    const nonces = server.responses(typeUrl).map(({ nonce }) => nonce);
    await until(
      "each response is acknowledged",
      () =>
        nonces.every((nonce) =>
          server
            .requests(typeUrl)
            .some((request) => request.nonce === nonce && request.error === undefined),
        ),
      () => server.events,
    );
  });

  it("loses what is removed, and gets it when it comes again [C-REM-2] [C-FULL-3] [C-FULL-4]", async () => {
    const { put, remove, watch } = await useGoWorld(command, kind, type, variant, [
      ["a", "1"],
      ["b", "1"],
    ]);
    const [a, b] = [watch("a"), watch("b")];
    await Promise.all([a.shows("1"), b.shows("1")]);
    await remove("a");
    await put(["b", "2"]);
    await b.shows("2");
    // SotW cannot say that an assignment is gone.
    const isTold = variant === "delta" || type === wordTypes.clusters;
    if (isTold)
      await until(
        "a is gone",
        () => a.now?.error?.code === "NOT_FOUND",
        () => a.now,
      );
    else expect(a.now).toMatchObject({ value: "1" });
    await put(["a", "3"]);
    await a.shows("3");
  });

  it("learns by its timer of a name that does not exist, and gets it when it comes [C-MISS-4] [C-MISS-5]", async () => {
    const { put, watch } = await useGoWorld(command, kind, type, variant, [["a", "1"]]);
    const [a, none] = [watch("a"), watch("none")];
    await a.shows("1");
    await none.shows(undefined);
    expect(none.now?.error?.code).toBe("NOT_FOUND");
    await put(["none", "1"]);
    await none.shows("1");
    expect(a.updates).toBe(1);
  });
}

function testFaults({ command, kind, type, variant }: Case): void {
  const { typeUrl } = type.watched;

  it("rejects one of two, keeps the good part and what it had, and takes the correction [C-ACK-3] [C-ACK-4] [C-ACK-5]", async () => {
    const { server, put, watch } = await useGoWorld(command, kind, type, variant, [
      ["a", "1"],
      ["b", "1"],
    ]);
    const validate = (word: string): string | undefined =>
      word === "bad" ? "bad is not wanted" : undefined;
    const [a, b] = [watch("a", { validate }), watch("b", { validate })];
    await Promise.all([a.shows("1"), b.shows("1")]);
    await put(["a", "bad"], ["b", "2"]);
    await b.shows("2");
    await until(
      "a is rejected",
      () => a.now?.error?.code === "INVALID_ARGUMENT",
      () => a.now,
    );
    expect(a.now?.value).toBe("1");
    await until(
      "the server is told why",
      () => server.requests(typeUrl).some(({ error }) => error === '"a": bad is not wanted'),
      () => server.requests(typeUrl),
    );
    await put(["a", "3"]);
    await a.shows("3");
    await until(
      "the error is over",
      () => a.now?.error === undefined,
      () => a.now,
    );
  });

  it("keeps what it has while the server is away, says so, and matches when it is back, whatever changed [C-RECON-1] [C-RECON-2] [C-RECON-3] [C-RECON-8]", async () => {
    const { server, put, remove, watch } = await useGoWorld(command, kind, type, variant, [
      ["same", "1"],
      ["changed", "1"],
      ["gone", "1"],
    ]);
    const [same, changed, gone] = [watch("same"), watch("changed"), watch("gone")];
    await Promise.all([same.shows("1"), changed.shows("1"), gone.shows("1")]);
    await until(
      "all is acknowledged",
      () => last(server.requests(typeUrl))?.nonce === last(server.responses(typeUrl))?.nonce,
    );
    const before = server.requests(typeUrl).length;
    const accepted = last(server.requests(typeUrl))?.version;
    await server.stop();
    await until(
      "the server is missed",
      () => changed.now?.error?.code === "UNAVAILABLE",
      () => changed.now,
    );
    expect([same.now?.value, changed.now?.value, gone.now?.value]).toEqual(["1", "1", "1"]);
    await server.start();
    await put(["changed", "2"]);
    await remove("gone");
    await changed.shows("2");
    await until(
      "the error is over",
      () => same.now?.error === undefined && same.now?.value === "1",
      () => same.now,
    );
    const [first] = server.requests(typeUrl).slice(before);
    expect(first?.nonce ?? "").toBe("");
    expect([...(first?.names ?? [])].sort()).toEqual(["changed", "gone", "same"]);
    if (variant === "sotw") expect(first?.version).toBe(accepted);
    else expect(Object.keys(first?.versions ?? {}).sort()).toEqual(["changed", "gone", "same"]);
  });

  it("is cut in the midst of a response, comes back, and has all of it [C-RECON-1] [C-DSUB-8]", async () => {
    const words = Array.from(
      { length: 300 },
      (_, index) => [`n${index}`, "x".repeat(400)] as const,
    );
    const { server, put, watch, events } = await useGoWorld(command, kind, type, variant, words);
    const all = words.map(([name]) => watch(name));
    await Promise.all(all.map((seen) => seen.shows("x".repeat(400))));
    await server.cut(40_000);
    await put(...words.map(([name]) => [name, "y".repeat(400)] as const));
    await Promise.all(all.map((seen) => seen.shows("y".repeat(400))));
    expect(events.filter((event) => event.kind === "closed")).toHaveLength(1);
    expect(events.filter((event) => event.kind === "rejected")).toEqual([]);
    expect(all.every(({ now }) => now?.error === undefined)).toBe(true);
  });
}

function testSize({ command, kind, type, variant }: Case): void {
  const { typeUrl } = type.watched;

  it("asks for a thousand names in one request, and drops all but one in one [C-SUB-10]", async () => {
    const words = Array.from(
      { length: 1_000 },
      (_, index) => [`n${index}`, String(index)] as const,
    );
    const { server, put, watch } = await useGoWorld(command, kind, type, variant, words);
    const all = words.map(([name]) => watch(name));
    await Promise.all(all.map((seen, index) => seen.shows(String(index))));
    expect(server.requests(typeUrl)[0]?.names).toHaveLength(1_000);
    await until(
      "it is acknowledged",
      () => last(server.requests(typeUrl))?.nonce === last(server.responses(typeUrl))?.nonce,
    );
    const before = server.requests(typeUrl).length;
    for (const { watch: one } of all.slice(1)) one.close();
    await put(["n0", "changed"], ["n1", "changed"]);
    await all[0]?.shows("changed");
    const more = (): readonly GoEvent[] =>
      server
        .requests(typeUrl)
        .slice(before)
        .filter(({ names = [], dropped = [] }) => dropped.length > 0 || names.length === 1);
    await until(
      "the request",
      () => more().length > 0,
      () => server.requests(typeUrl),
    );
    expect(
      variant === "delta" ? more().map(({ dropped }) => dropped?.length) : more()[0]?.names,
    ).toEqual(variant === "delta" ? [999] : ["n0"]);
  });
}

function testWildcard({ command, kind, type, variant }: Case): void {
  it("follows all of a type, also across a restart [C-WILD-9] [C-WILD-11] [C-RECON-3]", async () => {
    const { server, put, remove, client } = await useGoWorld(command, kind, type, variant, [
      ["a", "1"],
      ["b", "1"],
    ]);
    const all = client.watchAll(type.watched, "*");
    let added = 0;
    void (async () => {
      for await (const change of all) added += change.added.length;
    })();
    const shown = (): string =>
      [...all.members]
        .map(([name, { value }]) => `${name}=${value}`)
        .sort()
        .join(" ");
    const shows = (wanted: string): Promise<unknown> =>
      until(`all is ${wanted}`, () => shown() === wanted, shown);
    await shows("a=1 b=1");
    await put(["c", "1"], ["a", "2"]);
    await shows("a=2 b=1 c=1");
    await remove("b");
    await shows("a=2 c=1");
    await server.stop();
    await put(["d", "1"]);
    await remove("a");
    await server.start();
    await shows("c=1 d=1");
    await remove("c", "d");
    await shows("");
    expect(added).toBe(4);
  });
}
