import { fromBinary } from "@bufbuild/protobuf";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { expect, it, onTestFinished } from "vitest";
import { createServer } from "../src/index.ts";
import { createClient, payload, readResponse, type TestResponse } from "./client.ts";
import { connectTo, openCall, requestsOf } from "./grpc-call.ts";
import { adsVariants, paths, readyCache, types, type VariantName } from "./harness.ts";

/**
 * Returns what a client sees that requests one of its own names and another name: the first
 * responses, without their nonces, and with `NAME` in place of the other name.
 */
async function seenWith(
  name: string,
  variant: VariantName,
  typeUrl: string,
): Promise<readonly object[]> {
  const cache = readyCache();
  const put = (own: string, text: string): void => {
    cache.put({ typeUrl, name: own, value: payload(own, text) });
  };
  for (const own of ["x-1", "y-1", "y-2"]) put(own, "old");
  const server = createServer({
    source: cache,
    authorize: ({ node }) => ({
      key: node?.id ?? "",
      allows: (_, own) => own.startsWith(`${node?.id}-`),
    }),
  });
  onTestFinished(async () => server.close({ graceMs: 1 }));
  const session = await connectTo((await server.listen({ port: 0 })).port);
  onTestFinished(() => {
    session.destroy();
  });
  const call = openCall(session, paths[variant]);
  const kind = variant === "delta/ads" ? "delta" : "sotw";
  // In SotW, a type without a descriptor is served only in wrappers, because its payloads have no
  // name.
  const isWrapped = kind === "sotw" && typeUrl === types.own;
  const client = createClient(requestsOf(call), kind, {
    id: "x",
    clientFeatures: isWrapped ? ["xds.config.resource-in-sotw"] : [],
  });
  const next = async (): Promise<TestResponse> => {
    const bytes = (await call.next()) ?? new Uint8Array();
    const response = readResponse(bytes, kind);
    client.ack(response);
    return isWrapped
      ? {
          ...response,
          names: fromBinary(DiscoveryResponseSchema, bytes).resources.map(
            ({ value }) => fromBinary(ResourceSchema, value).name,
          ),
        }
      : response;
  };
  client.ask(typeUrl, ["x-1", name], { [name]: "1" });
  const seen = [await next()];
  // The hidden resource changes first, so that its change would be seen before the change of the
  // visible one.
  put("y-1", "new");
  cache.remove(typeUrl, "y-2");
  put("x-1", "new");
  seen.push(await next());
  return seen.map(
    (response) =>
      JSON.parse(
        JSON.stringify({ ...response, nonce: "" }).replaceAll(`"${name}"`, '"NAME"'),
      ) as object,
  );
}

const kinds = [
  ["of full state", types.cluster],
  ["not of full state", types.route],
  ["without a descriptor", types.own],
] as const;

it.each(
  adsVariants.flatMap((variant) =>
    kinds.map(([kind, typeUrl]) => [variant, kind, typeUrl] as const),
  ),
)(
  "a forbidden name is answered as one that does not exist, before and after changes (%s, a type %s) [S-LIM-8]",
  async (variant, _, typeUrl) => {
    const missing = await seenWith("x-none", variant, typeUrl);
    expect(missing.map((response) => (response as TestResponse).names)).toEqual([["x-1"], ["x-1"]]);
    for (const name of ["y-1", "y-2", "y-none"])
      expect(await seenWith(name, variant, typeUrl), name).toEqual(missing);
  },
);
