import type { FakeClock, RawServer } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import {
  flagUrl,
  turn,
  useSotwScript,
  type Script,
  type ScriptOptions,
} from "../test/use-script.ts";
import type { Snapshot, Watch, WatchedType } from "./index.ts";

/** A type whose payload has one field: the name of the resource. */
const mark: WatchedType<string> = {
  typeUrl: flagUrl,
  decode: (payload) => Buffer.from(payload.subarray(2)).toString(),
};
const markOf = (name: string): Uint8Array =>
  Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]);

let nonce = 0;

/** Sends a SotW response without wrappers. */
async function give(
  server: RawServer<"sotw"> | undefined,
  typeUrl: string,
  ...names: readonly string[]
): Promise<void> {
  server?.send({
    typeUrl,
    nonce: String(++nonce),
    versionInfo: "1",
    resources: names.map((name) => ({
      typeUrl,
      value: typeUrl === flagUrl ? markOf(name) : clusterOf(name),
    })),
  });
  await turn();
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms);
  await turn();
}

function listen(watch: Watch<Snapshot<unknown>>): string[] {
  const said: string[] = [];
  void (async () => {
    for await (const { value, error } of watch)
      said.push(
        `${value === undefined ? "-" : "held"}${error === undefined ? "" : ` ${error.code}`}`,
      );
  })();
  return said;
}

const failsOnData: ScriptOptions = { serverFeatures: ["fail_on_data_errors"] };

/**
 * Creates a SotW client: its first server was unreachable while the second sent `x` and `y`, and is
 * connected again since 0 ms.
 */
async function useReturn(
  type: WatchedType<unknown>,
  options: ScriptOptions,
): Promise<Script<RawServer<"sotw">> & { readonly x: string[]; readonly y: string[] }> {
  const script = useSotwScript(options, 2);
  const {
    client,
    clock,
    servers: [first, second],
  } = script;
  const [x, y] = [listen(client.watch(type, "x")), listen(client.watch(type, "y"))];
  await turn();
  first?.close();
  await turn();
  await give(second, type.typeUrl, "x", "y");
  await pass(clock, 1_000);
  expect([x, y, first?.connected, second?.connected]).toEqual([["held"], ["held"], true, true]);
  return { ...script, x, y };
}

describe("what only a stand-in gave, when the server before it is back", () => {
  it.each([
    ["is missing", failsOnData, "- NOT_FOUND"],
    ["is kept with the error beside it", {}, "held NOT_FOUND"],
  ])(
    "%s once that has answered without it and the time is over, of a type without full state [C-GRPC-6, C-GRPC-9, C-MISS-4]",
    async (_, options, then) => {
      const {
        clock,
        x,
        y,
        servers: [first, second],
      } = await useReturn(mark, options);
      await give(first, flagUrl, "x");
      expect([second?.connected, x, y]).toEqual([false, ["held"], ["held"]]);
      await pass(clock, 14_999);
      expect(y).toEqual(["held"]);
      await pass(clock, 1);
      expect([x, y]).toEqual([["held"], ["held", then]]);
      await pass(clock, 100_000);
      await give(first, flagUrl, "y");
      expect([x, y]).toEqual([["held"], ["held", then, "held"]]);
      expect(clock.pending).toBe(0);
    },
  );

  it("stays while that is connected and silent, however long, and then has its time [C-GRPC-6, C-GRPC-11]", async () => {
    const {
      clock,
      x,
      y,
      servers: [first, second],
    } = await useReturn(mark, failsOnData);
    await pass(clock, 60_000);
    expect([second?.connected, x, y]).toEqual([true, ["held"], ["held"]]);
    await give(first, flagUrl, "x");
    await pass(clock, 15_000);
    expect([second?.connected, x, y]).toEqual([false, ["held"], ["held", "- NOT_FOUND"]]);
  });

  it("may be had later where what is late is not an answer [C-GRPC-10]", async () => {
    const {
      clock,
      y,
      servers: [first],
    } = await useReturn(mark, {
      serverFeatures: ["fail_on_data_errors", "resource_timer_is_transient_error"],
    });
    await give(first, flagUrl, "x");
    await pass(clock, 30_000);
    expect(y).toEqual(["held", "held UNAVAILABLE"]);
  });

  it.each([
    ["is missing", failsOnData, "- NOT_FOUND"],
    ["is kept with the error beside it", {}, "held NOT_FOUND"],
  ])(
    "%s with the first full state that is without it [C-FULL-3, C-GRPC-9]",
    async (_, options, then) => {
      const {
        x,
        y,
        servers: [first],
      } = await useReturn(clusterType, options);
      await give(first, clusterUrl, "x");
      expect([x, y]).toEqual([["held"], ["held", then]]);
      await give(first, clusterUrl, "x");
      expect(y).toEqual(["held", then]);
    },
  );

  it("is missing with a full state without it also where that had said so before it went [C-FULL-3]", async () => {
    const {
      client,
      clock,
      servers: [first, second],
    } = useSotwScript(failsOnData, 2);
    const y = listen(client.watch(clusterType, "y"));
    await turn();
    await give(first, clusterUrl, "other");
    await pass(clock, 15_000);
    expect(y).toEqual(["- NOT_FOUND"]);
    first?.close();
    await pass(clock, 1_000);
    first?.close();
    const x = listen(client.watch(clusterType, "x"));
    await turn();
    await give(second, clusterUrl, "x", "y");
    await pass(clock, 2_000);
    expect([x, y, first?.connected]).toEqual([["held"], ["- NOT_FOUND", "held"], true]);
    await give(first, clusterUrl, "x");
    expect([x, y]).toEqual([["held"], ["- NOT_FOUND", "held", "- NOT_FOUND"]]);
  });
});
