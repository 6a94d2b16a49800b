import { ClientResourceStatus } from "@xdstp/protos/status";
import type { RawDeltaServer } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import {
  flag,
  flagUrl,
  turn,
  useDeltaScript,
  type Script,
  type ScriptOptions,
} from "../test/use-script.ts";

let nonce = 0;

function give(server: RawDeltaServer, text: string): void {
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resources: [
      { name: "a", version: text, resource: { typeUrl: flagUrl, value: Buffer.from(text) } },
    ],
  });
}

function giveError(server: RawDeltaServer, code: number): void {
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resourceErrors: [{ resourceName: { name: "a" }, errorDetail: { code, message: "not now" } }],
  });
}

type Happen = (script: Script<RawDeltaServer>) => void;

const nothing: Happen = () => undefined;
const transient: ScriptOptions = { serverFeatures: ["resource_timer_is_transient_error"] };

/** State, version, version that was rejected, details, and whether there are contents: of "a", after all this. */
async function rowAfter(
  options: ScriptOptions,
  ...happens: readonly Happen[]
): Promise<readonly unknown[]> {
  const script = useDeltaScript(options);
  script.client.watch(flag, "a");
  await turn();
  for (const happen of happens) {
    happen(script);
    await turn();
  }
  const {
    genericXdsConfigs: [row, ...more],
  } = await script.client.dump();
  expect(more).toEqual([]);
  return [
    statusName(row?.clientStatus),
    row?.versionInfo,
    row?.errorState?.versionInfo,
    row?.errorState?.details,
    row?.xdsConfig !== undefined,
  ];
}

function statusName(status: unknown): string | undefined {
  return Object.entries(ClientResourceStatus).find(([, value]) => value === status)?.[0];
}

const on: Happen = ({ server }) => {
  give(server, "on");
};
const broken: Happen = ({ server }) => {
  give(server, "broken");
};
const removed: Happen = ({ server }) => {
  server.send({ typeUrl: flagUrl, nonce: String(++nonce), removedResources: ["a"] });
};
const forbidden: Happen = ({ server }) => {
  giveError(server, 7);
};
const busy: Happen = ({ server }) => {
  giveError(server, 14);
};
const late: Happen = ({ clock }) => {
  clock.advance(30_000);
};

describe("client.dump()", () => {
  it.each<
    [what: string, options: ScriptOptions, happens: readonly Happen[], row: readonly unknown[]]
  >([
    ["what was only asked for", {}, [nothing], ["REQUESTED", "", undefined, undefined, false]],
    ["what was taken", {}, [on], ["ACKED", "on", undefined, undefined, true]],
    [
      "what was rejected",
      {},
      [broken],
      ["NACKED", "", "broken", "[INVALID_ARGUMENT] flags are not broken", false],
    ],
    [
      "what was rejected while another state is held",
      {},
      [on, broken],
      ["NACKED", "on", "broken", "[INVALID_ARGUMENT] flags are not broken", true],
    ],
    ["what was made good", {}, [broken, on], ["ACKED", "on", undefined, undefined, true]],
    [
      "what was removed",
      { serverFeatures: ["fail_on_data_errors"] },
      [on, removed],
      ["DOES_NOT_EXIST", "", undefined, undefined, false],
    ],
    [
      "what was removed and is kept",
      {},
      [on, removed],
      [
        "DOES_NOT_EXIST",
        "on",
        "",
        "[NOT_FOUND] the server has removed it; the cached resource is kept",
        true,
      ],
    ],
    [
      "what has not come in time",
      {},
      [late],
      ["DOES_NOT_EXIST", "", "", '[NOT_FOUND] the server has not sent "a" within 15 s', false],
    ],
    [
      "what has not come in time, where that may pass",
      transient,
      [late],
      ["TIMEOUT", "", "", '[UNAVAILABLE] the server has not sent "a" within 30 s', false],
    ],
    [
      "what has an error of the data",
      {},
      [forbidden],
      ["RECEIVED_ERROR", "", "", "[PERMISSION_DENIED] the server says: not now", false],
    ],
    [
      "the same while it is held",
      {},
      [on, forbidden],
      ["RECEIVED_ERROR", "on", "", "[PERMISSION_DENIED] the server says: not now", true],
    ],
    [
      "what has another error",
      {},
      [busy],
      ["RECEIVED_ERROR", "", "", "[UNAVAILABLE] the server says: not now", false],
    ],
    [
      "the same while it is held, after",
      {},
      [on, busy],
      ["RECEIVED_ERROR", "on", "", "[UNAVAILABLE] the server says: not now", true],
    ],
  ])("shows %s [C-CSDS-3, B-CSDS-2]", async (_, options, happens, row) => {
    expect(await rowAfter(options, ...happens)).toEqual(row);
  });
});
