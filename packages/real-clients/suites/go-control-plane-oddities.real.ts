import { expect, it } from "vitest";
import { describeProgram } from "../src/describe-program.ts";
import { until } from "../src/until.ts";
import { useGoWorld } from "../src/use-go-world.ts";
import { wordTypes } from "../src/xds-client.ts";

const { clusters, endpoints } = wordTypes;

describeProgram(
  "go-control-plane",
  "what its snapshot cache does otherwise than the rules, and our client lives with",
  (command) => {
    it("a snapshot cache in ADS mode is silent over SotW until every name it has is asked for; then all comes", async () => {
      const { watch, server } = await useGoWorld(command, "snapshot-ads", endpoints, "sotw", [
        ["a", "1"],
        ["b", "1"],
      ]);
      const a = watch("a");
      await a.shows(undefined);
      expect([a.now?.error?.code, server.responses(endpoints.watched.typeUrl)]).toEqual([
        "NOT_FOUND",
        [],
      ]);
      const b = watch("b");
      await Promise.all([a.shows("1"), b.shows("1")]);
      expect(a.now?.error).toBeUndefined();
    });

    it("a snapshot cache in ADS mode forgets a watch when a name appears that it does not have; the next request brings what was missed", async () => {
      const { watch, put } = await useGoWorld(command, "snapshot-ads", endpoints, "sotw", [
        ["a", "1"],
      ]);
      const a = watch("a");
      await a.shows("1");
      await put(["b", "1"]);
      await put(["a", "2"]);
      expect(a.now?.value).toBe("1");
      const b = watch("b");
      await Promise.all([a.shows("2"), b.shows("1")]);
    });

    it("a snapshot cache answers each NACK over SotW with what was rejected; our client goes on rejecting, ever more slowly, and takes the correction [C-ACK-20]", async () => {
      const { watch, put, server } = await useGoWorld(command, "snapshot", clusters, "sotw", [
        ["a", "1"],
      ]);
      const a = watch("a", {
        validate: (word) => (word === "bad" ? "bad is not wanted" : undefined),
      });
      await a.shows("1");
      await put(["a", "bad"]);
      const nacks = (): number =>
        server.requests(clusters.watched.typeUrl).filter(({ error }) => error !== undefined).length;
      const start = Date.now();
      await until("four NACKs", () => nacks() >= 4, nacks);
      expect(Date.now() - start).toBeGreaterThan(2_000);
      await put(["a", "2"]);
      await a.shows("2");
      expect(nacks()).toBeLessThanOrEqual(5);
    });

    it("a snapshot cache does not know * beside names over SotW: it sends the names alone, and the client takes it at its word [C-WILD-11]", async () => {
      const { client, watch, put } = await useGoWorld(command, "snapshot", clusters, "sotw", [
        ["a", "1"],
        ["b", "1"],
      ]);
      const all = client.watchAll(clusters.watched, "*");
      const members = async (): Promise<string> => {
        await all[Symbol.asyncIterator]().next();
        return [...all.members.keys()].sort().join();
      };
      expect(await members()).toBe("a,b");
      const a = watch("a");
      await a.shows("1");
      await put(["a", "2"]);
      await a.shows("2");
      expect(await members()).toBe("a");
    });
  },
);

describeProgram(
  "go-control-plane",
  "what its linear cache does otherwise, and what all of them do",
  (command) => {
    it.each([
      ["snapshot", "a"],
      ["snapshot", "*"],
      ["linear", "a"],
      ["linear", "*"],
    ] as const)(
      "a %s cache does not say again over delta what is asked for once more (%s): the client begins a new stream for who lacks it [C-MISS-4] [C-AGG-1]",
      async (kind, name) => {
        const { client, server, events } = await useGoWorld(command, kind, clusters, "delta", [
          ["a", "1"],
        ]);
        const beside = {
          servers: [
            {
              uri: server.uri,
              credentials: { type: "insecure" as const },
              features: new Set<string>(),
            },
          ],
          reachabilityOnly: true,
        };
        const members = async (options: object): Promise<readonly string[]> => {
          const all = client.watchAll(clusters.watched, "*", options);
          for await (const { complete } of all) if (complete) return [...all.members.keys()];
          return [];
        };
        const word = async (options: object): Promise<string | undefined> =>
          (await client.watch(clusters.watched, "a", options)[Symbol.asyncIterator]().next()).value
            ?.value;
        const ask = async (options: object): Promise<unknown> =>
          name === "*" ? members(options) : word(options);
        const first = await ask({});
        expect([first, await ask({ source: beside })]).toEqual([first, first]);
        expect(events.filter(({ kind: event }) => event === "opened").length).toBe(2);
      },
    );

    it.each(["delta", "sotw"] as const)(
      "a linear cache ends the %s stream that asks for another type, again and again; what the client holds stays, and it waits in between",
      async (variant) => {
        const { watch, client, events } = await useGoWorld(command, "linear", clusters, variant, [
          ["a", "1"],
        ]);
        const a = watch("a");
        await a.shows("1");
        const other = client.watch(endpoints.watched, "a");
        const ends = (): readonly { readonly retryMs: number }[] =>
          events.filter((event) => event.kind === "closed");
        await until(
          "three streams have ended",
          () => ends().length >= 3,
          () => events,
        );
        expect(a.now?.value).toBe("1");
        expect(Math.min(...ends().map(({ retryMs }) => retryMs))).toBeGreaterThanOrEqual(80);
        other.close();
        await until(
          "it is over",
          () => a.now?.error === undefined && client.status()[0]?.status?.connected === true,
          () => a.now,
        );
      },
    );

    it.each(["linear", "snapshot", "mux"] as const)(
      "a %s cache says nothing over delta when a client comes back with all that it holds; that is taken for what it is",
      async (kind) => {
        const { watch, server, put } = await useGoWorld(command, kind, clusters, "delta", [
          ["a", "1"],
        ]);
        const a = watch("a");
        await a.shows("1");
        const { updates } = a;
        await server.cut();
        await until(
          "the client is back",
          () =>
            server.events.filter(({ event }) => event === "opened").length === 2 &&
            server
              .requests(clusters.watched.typeUrl)
              .some(({ versions }) => versions?.a !== undefined),
          () => server.events,
        );
        await put(["b", "1"]);
        await watch("b").shows("1");
        expect(a.now).toMatchObject({ value: "1" });
        expect(a.now?.error).toBeUndefined();
        expect(a.updates - updates).toBeLessThanOrEqual(2);
      },
    );
  },
);
