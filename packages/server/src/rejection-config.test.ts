import { anyUnpack, StructSchema } from "@bufbuild/protobuf/wkt";
import type { ResourceSource } from "@xdstp/core";
import type { RejectedVersion } from "@xdstp/protocol/server";
import { ConfigStatus } from "@xdstp/protos/status";
import { describe, expect, it } from "vitest";
import { readyCache, serve, types } from "../test/harness.ts";
import type { ServerOptions, XdsServer } from "./index.ts";

type StatusRequest = NonNullable<Parameters<XdsServer["clientStatus"]>[0]>;

const rejected: RejectedVersion = {
  typeUrl: types.cluster,
  name: "web",
  version: "2",
  clients: 3,
  by: ["e1", "e2"],
  among: 1,
  reason: "no such thing",
  since: 1_500,
};
const asking: StatusRequest = { node: { clientFeatures: ["xdstp.status.rejections"] } };
const peer = { address: "192.0.2.1:5" };

function counting(
  rejections: readonly RejectedVersion[],
  options: Partial<ServerOptions> = {},
): ReturnType<typeof serve>["server"] {
  return serve(
    Object.assign(readyCache() as ResourceSource, { rejections: () => rejections }),
    options,
  ).server;
}

describe("clientStatus() of a source that counts rejections", () => {
  it("tells them whoever asks for them, by resource and version, with who and why [B-RELAY-5]", async () => {
    const { config } = await counting([rejected]).clientStatus(asking, { peer });
    expect(config).toMatchObject([
      {
        clientScope: "xdstp.status.rejections",
        genericXdsConfigs: [
          {
            typeUrl: types.cluster,
            name: "web",
            configStatus: ConfigStatus.ERROR,
            errorState: {
              details: "no such thing",
              versionInfo: "2",
              lastUpdateAttempt: { seconds: 1n, nanos: 500_000_000 },
            },
          },
        ],
      },
    ]);
    const content = config[0]?.genericXdsConfigs[0]?.xdsConfig;
    expect(content && anyUnpack(content, StructSchema)?.fields).toMatchObject({
      clients: { kind: { value: 3 } },
      among: { kind: { value: 1 } },
      by: { kind: { value: { values: [{ kind: { value: "e1" } }, { kind: { value: "e2" } }] } } },
    });
    expect((await counting([]).clientStatus(asking)).config).toMatchObject([
      { genericXdsConfigs: [] },
    ]);
  });

  it("is as ever for who does not ask, and of a source that does not count", async () => {
    expect((await counting([rejected]).clientStatus()).config).toEqual([]);
    expect((await serve(readyCache()).server.clientStatus(asking)).config).toEqual([]);
  });

  it("tells none who may see some clients or names only, or has another source [B-CSDS-7]", async () => {
    const restricted = counting([rejected], {
      authorize: () => ({ key: "k", allows: () => true }),
    });
    expect((await restricted.clientStatus(asking, { peer })).config).toEqual([]);
    expect(
      (await counting([rejected], { sourceFor: () => readyCache() }).clientStatus(asking, { peer }))
        .config,
    ).toEqual([]);
    expect(
      (await counting([rejected], { sourceFor: () => undefined }).clientStatus(asking, { peer }))
        .config,
    ).toHaveLength(1);
    expect((await restricted.clientStatus(asking)).config).toHaveLength(1);
  });

  it("keeps to the limit of an answer", async () => {
    await expect(
      counting(
        Array.from({ length: 100 }, () => rejected),
        { limits: { stream: { fullStateBytes: 8_000 } } },
      ).clientStatus(asking),
    ).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  });
});
