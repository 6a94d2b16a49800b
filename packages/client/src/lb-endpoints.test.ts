import { create, toBinary } from "@bufbuild/protobuf";
import { ListCollectionSchema } from "@xdstp/protos/xds";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { lbEndpoint } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";

import { useClient, useOrigin } from "../test/use-origin.ts";
import { clientFeatures, type ListWatch, type WatchedType } from "./index.ts";

const name = "xdstp://acme/envoy.config.endpoint.v3.LbEndpointCollection/cell";
const typeUrl = "type.googleapis.com/envoy.config.endpoint.v3.LbEndpointCollection";
const lbEndpoints: WatchedType<number> = {
  typeUrl: lbEndpoint.typeUrl,
  decode: (payload) => payload.length,
};

function endpointOf(port: number): Uint8Array {
  return anyFromJson(
    {
      "@type": lbEndpoint.typeUrl,
      endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } },
    },
    envoyRegistry(),
  ).value;
}

/** Returns a list of endpoints, each under the name of its port. */
function listOf(...ports: readonly number[]): Uint8Array {
  const entries = ports.map((port) => ({
    resourceSpecifier: {
      case: "inlineEntry" as const,
      value: {
        name: String(port),
        version: "1",
        resource: { typeUrl: lbEndpoint.typeUrl, value: endpointOf(port) },
      },
    },
  }));
  return toBinary(ListCollectionSchema, create(ListCollectionSchema, { entries }));
}

/** Returns the members once all are known. */
async function membersOf(
  updates: AsyncIterator<
    { readonly complete: boolean; readonly members: ListWatch<number>["members"] },
    undefined
  >,
): Promise<readonly string[]> {
  for (;;) {
    const { value } = await updates.next();
    if (value === undefined) throw new Error("the watch has ended");
    if (value.complete)
      return value.members.map(
        (member) => `${member.name.replace(/.*\//, "")} ${member.state} ${String(member.value)}`,
      );
  }
}

describe.each(["delta", "sotw"] as const)("a list of endpoints over %s", (variant) => {
  it("is asked for by name, wrapped, and has its inline members [C-GRPC-15]", async () => {
    const { cache, server, uri } = await useOrigin();
    cache.put({ typeUrl, name, value: listOf(1, 300) });
    const features = [...clientFeatures, "xds.endpoint.supports_lb_endpoint_collection"];
    const updates = useClient([uri], { variant, features })
      .client.watchList(lbEndpoints, name)
      [Symbol.asyncIterator]();
    const size = (port: number): number => endpointOf(port).length;
    expect(await membersOf(updates)).toEqual([`1 held ${size(1)}`, `300 held ${size(300)}`]);
    cache.put({ typeUrl, name, value: listOf(300) });
    expect(await membersOf(updates)).toEqual([`300 held ${size(300)}`]);
    const [status] = server.status();
    expect([status?.node?.clientFeatures, status?.types.map((type) => type.typeUrl)]).toEqual([
      features,
      [typeUrl],
    ]);
  });

  it("is not a glob [C-GRPC-15]", async () => {
    const { uri } = await useOrigin();
    const { client } = useClient([uri], { variant });
    expect(() =>
      client.watchList(lbEndpoints, "xdstp://acme/envoy.config.endpoint.v3.LbEndpointCollection/*"),
    ).toThrow("/*");
  });
});
