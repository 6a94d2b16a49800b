import { createClient as createRpcClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createCache } from "@xdstp/cache";
import { ClientResourceStatus, ClientStatusDiscoveryService } from "@xdstp/protos/status";
import { createServer } from "@xdstp/server";
import type { RawServer } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import {
  flag,
  flagUrl,
  type Script,
  type ScriptOptions,
  turn,
  useDeltaScript,
} from "../test/use-script.ts";
import { type Client, clientStatusRoutes } from "./index.ts";

let nonce = 0;

function give(server: RawServer<"delta">, text: string): void {
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resources: [
      { name: "a", version: text, resource: { typeUrl: flagUrl, value: Buffer.from(text) } },
    ],
  });
}

function giveError(server: RawServer<"delta">, code: number): void {
  server.send({
    typeUrl: flagUrl,
    nonce: String(++nonce),
    resourceErrors: [{ resourceName: { name: "a" }, errorDetail: { code, message: "not now" } }],
  });
}

type Happen = (script: Script<RawServer<"delta">>) => void;

const nothing: Happen = () => undefined;
const transient: ScriptOptions = { serverFeatures: ["resource_timer_is_transient_error"] };

/**
 * Returns the row of "a" after these events: state, version, rejected version, details, and whether
 * it has contents.
 */
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

async function useStatus(clients: readonly Client[], mayRead?: () => boolean) {
  const server = createServer({
    source: createCache(),
    clientStatus: false,
    routes: clientStatusRoutes(() => clients, mayRead),
  });
  onTestFinished(() => server.close());
  const { host, port } = await server.listen({ port: 0 });
  return createRpcClient(
    ClientStatusDiscoveryService,
    createGrpcTransport({ baseUrl: `http://${host}:${port}` }),
  );
}

describe("clientStatusRoutes()", () => {
  it("tells of the clients of a process side by side, with and without contents [B-CSDS-1, B-CSDS-2, C-CSDS-6]", async () => {
    const origin = await useOrigin();
    origin.cache.put({ typeUrl: clusterUrl, name: "blue", value: clusterOf("blue") });
    const [one, two] = [
      useClient([origin.uri], { scope: "one" }).client,
      useClient([origin.uri], { scope: "two" }).client,
    ];
    const watch = one.watch(clusterType, "blue")[Symbol.asyncIterator]();
    await watch.next();
    const status = await useStatus([one, two]);
    const { config } = await status.fetchClientStatus({});
    expect(config.map(({ clientScope, node }) => [clientScope, node?.id])).toEqual([
      ["one", "me"],
      ["two", "me"],
    ]);
    expect(
      config[0]?.genericXdsConfigs.map(({ name, clientStatus, xdsConfig }) => [
        name,
        clientStatus,
        Buffer.from(xdsConfig?.value ?? []).equals(clusterOf("blue")),
      ]),
    ).toEqual([["blue", 3, true]]);
    const bare = await status.fetchClientStatus({ excludeResourceContents: true });
    expect(bare.config[0]?.genericXdsConfigs[0]?.xdsConfig).toBeUndefined();
  });

  it("blanks the secrets in it [B-CSDS-7]", async () => {
    const origin = await useOrigin();
    const typeUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
    // name, and generic_secret.secret.inline_string
    const value = Buffer.from([
      10,
      3,
      ...Buffer.from("key"),
      42,
      12,
      10,
      10,
      26,
      8,
      ...Buffer.from("hush-hey"),
    ]);
    origin.cache.put({ typeUrl, name: "key", value });
    const { client } = useClient([origin.uri]);
    const shown = await client
      .watch({ typeUrl, decode: (payload) => payload }, "key")
      [Symbol.asyncIterator]()
      .next();
    expect(Buffer.from(shown.value?.value ?? []).includes("hush-hey")).toBe(true);
    const {
      config: [config],
    } = await (await useStatus([client])).fetchClientStatus({});
    expect(
      config?.genericXdsConfigs.map(({ name, xdsConfig }) => [
        name,
        Buffer.from(xdsConfig?.value ?? []).includes("key"),
        Buffer.from(xdsConfig?.value ?? []).includes("hush-hey"),
      ]),
    ).toEqual([["key", true, false]]);
  });

  it("rejects node matchers, and whoever may not read it [B-CSDS-5, B-CSDS-7]", async () => {
    const { client } = useClient(["127.0.0.1:1"]);
    const status = await useStatus([client]);
    await expect(status.fetchClientStatus({ nodeMatchers: [{}] })).rejects.toThrow(
      "[invalid_argument] node_matchers are for control planes",
    );
    await expect((await useStatus([client], () => false)).fetchClientStatus({})).rejects.toThrow(
      "[permission_denied]",
    );
  });

  it.each([
    ["DOES_NOT_EXIST", "none", 2],
    ["REQUESTED", "never", 1],
  ] as const)("shows %s [C-CSDS-3]", async (_, name, expected) => {
    const origin = await useOrigin();
    const uris = name === "never" ? ["127.0.0.1:1"] : [origin.uri];
    const { client } = useClient(uris);
    const watch = client.watch(clusterType, name)[Symbol.asyncIterator]();
    if (name === "none") expect((await watch.next()).value?.error?.code).toBe("NOT_FOUND");
    else
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    const {
      genericXdsConfigs: [row],
    } = await client.dump();
    expect([row?.name, row?.clientStatus]).toEqual([name, expected]);
  });
});
