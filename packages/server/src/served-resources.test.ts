import { fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { createNodeCaches, nodeField } from "@xdstp/cache";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import type { ClientConfig } from "@xdstp/protos/status";
import { describe, expect, it } from "vitest";
import { serve, types, type Harness } from "../test/harness.ts";

const RESOURCES = "xdstp.status.resources";
const SUBSCRIPTIONS = "xdstp.status.subscriptions";
const registry = envoyRegistry();

function cluster(name: string): Uint8Array {
  return anyFromJson({ "@type": types.cluster, name }, registry).value;
}

/** A server with a shared cluster, a secret without subscribers, and content of one key. */
function useServer(): Harness & {
  readonly ask: (
    clientFeatures: readonly string[],
    more?: { readonly metadata?: JsonObject; readonly excludeResourceContents?: boolean },
  ) => Promise<readonly ClientConfig[]>;
} {
  const nodes = createNodeCaches({ keyOf: nodeField("id") });
  nodes.shared.put({ typeUrl: types.cluster, name: "a", value: cluster("a") });
  nodes.shared.put({
    typeUrl: types.secret,
    name: "s",
    value: anyFromJson(
      {
        "@type": types.secret,
        name: "s",
        tlsCertificate: { privateKey: { inlineString: "the key" } },
      },
      registry,
    ).value,
  });
  nodes.of("n1").put({ typeUrl: types.cluster, name: "a", value: cluster("own") });
  const { source, resources } = nodes.serving;
  const harness = serve(source, { resources });
  return {
    ...harness,
    ask: async (clientFeatures, { metadata = {}, ...more } = {}) =>
      (
        await harness.server.clientStatus({
          ...more,
          node: { clientFeatures: [...clientFeatures], metadata },
        })
      ).config,
  };
}

/** Scope, name and version of each row. */
function rowsOf(configs: readonly ClientConfig[]): readonly (readonly [string, string])[] {
  return configs.flatMap(({ clientScope, genericXdsConfigs }) =>
    genericXdsConfigs.map(({ name }) => [clientScope, name] as const),
  );
}

describe("client status with xdstp.status.resources", () => {
  it("lists all resources, also those of keys and without subscribers, and only for who asks", async () => {
    const { ask } = useServer();
    const configs = await ask([RESOURCES], { excludeResourceContents: true });
    expect(rowsOf(configs)).toEqual([
      [RESOURCES, "a"],
      [RESOURCES, "s"],
      [`${RESOURCES}/n1`, "a"],
    ]);
    const versions = configs.flatMap(({ genericXdsConfigs }) =>
      genericXdsConfigs.map(({ versionInfo }) => versionInfo),
    );
    expect(new Set(versions).size).toBe(3);
    expect(
      configs.every(({ genericXdsConfigs }) =>
        genericXdsConfigs.every(({ xdsConfig }) => xdsConfig === undefined),
      ),
    ).toBe(true);
    expect(await ask([])).toEqual([]);
  });

  it("has contents without secrets, of the requested names [B-CSDS-7]", async () => {
    const { ask } = useServer();
    const configs = await ask([RESOURCES], {
      metadata: { [RESOURCES]: { [types.secret]: ["s"] } },
    });
    expect(rowsOf(configs)).toEqual([[RESOURCES, "s"]]);
    const [row] = configs.flatMap(({ genericXdsConfigs }) => genericXdsConfigs);
    const { resource } = fromBinary(ResourceSchema, row?.xdsConfig?.value ?? new Uint8Array());
    expect(resource?.typeUrl).toBe(types.secret);
    expect(Buffer.from(resource?.value ?? []).toString("latin1")).not.toContain("the key");
  });
});

describe("client status with xdstp.status.subscriptions", () => {
  it("says what a client subscribes to, and lists equal names once", async () => {
    const { ask, open, turn } = useServer();
    for (const variant of ["delta/ads", "delta/ads"] as const) {
      open(variant).ask(types.cluster, ["a", "b"]);
      turn();
    }
    const configs = await ask(["xdstp.status.by-type", SUBSCRIPTIONS]);
    const structs = configs.flatMap(({ genericXdsConfigs }) =>
      genericXdsConfigs.map(({ xdsConfig }) =>
        toJson(StructSchema, fromBinary(StructSchema, xdsConfig?.value ?? new Uint8Array())),
      ),
    );
    expect(structs).toEqual([
      { variant: "delta", list: 0, names: ["a", "b"] },
      { variant: "delta", list: 0 },
    ]);
  });
});
