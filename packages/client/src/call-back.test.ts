import { XdsError } from "@xdstp/core";
import { expect, it } from "vitest";

import { callBack } from "./call-back.ts";
import type { Snapshot, Watch } from "./watch.ts";

const away = (text = "the server is away"): XdsError => new XdsError("UNAVAILABLE", text);
const on = { name: "a", value: "on", version: "1" };
const off = { name: "a", value: "off", version: "2" };

/** Returns the calls that `callBack` makes for these snapshots. */
async function callsOf(...snapshots: readonly Snapshot<string>[]): Promise<readonly string[]> {
  const calls: string[] = [];
  const watch: Watch<Snapshot<string>> = {
    name: "a",
    // eslint-disable-next-line @typescript-eslint/require-await -- a watch is an asynchronous iterator, and this one has nothing to wait for
    async *[Symbol.asyncIterator]() {
      yield* snapshots;
      return undefined;
    },
    close: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await callBack(
    watch,
    {
      onChanged: ({ value, error }) => {
        calls.push(`changed ${value ?? error?.code ?? ""}`);
      },
      onAmbientError: (error) => {
        calls.push(`ambient ${error?.text ?? "over"}`);
      },
    },
    () => true,
    undefined,
  );
  return calls;
}

it("calls for an ambient error, for another one, and for its end [C-GRPC-8]", async () => {
  expect(
    await callsOf(on, { ...on, error: away("one") }, { ...on, error: away("two") }, on),
  ).toEqual(["changed on", "ambient one", "ambient two", "ambient over"]);
});

it("calls again for an error that is reported again, and not for one that a new value comes with as before [C-ACK-18]", async () => {
  expect(await callsOf({ ...on, error: away() }, { ...on, error: away() })).toEqual([
    "changed on",
    "ambient the server is away",
    "ambient the server is away",
  ]);
  expect(await callsOf({ ...on, error: away() }, { ...off, error: away() }, off)).toEqual([
    "changed on",
    "ambient the server is away",
    "changed off",
    "ambient over",
  ]);
});

it("calls for the error of a value that comes after there was none, though that had the same", async () => {
  const error = away();
  expect(await callsOf({ name: "a", version: "", error }, { ...on, error })).toEqual([
    "changed UNAVAILABLE",
    "changed on",
    "ambient the server is away",
  ]);
});
