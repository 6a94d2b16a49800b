import type { ServerContext } from "@xdstp/protocol/server";
import {
  createMemoryStream,
  createRawDeltaClient,
  createRawSotwClient,
  type RawClient,
} from "@xdstp/testing";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import type { NodeInit, OpenStream } from "./peer.ts";
import { isAds, isDelta, type Variant } from "./variant.ts";

/** A raw client on a call of its own. */
export interface OpenRaw<Client> extends OpenStream {
  readonly client: Client;
}

/** Opens calls, and remembers those that last. */
export interface Calls {
  delta(typeUrl: string, node: NodeInit | null | undefined): OpenRaw<RawClient<"delta">>;
  sotw(typeUrl: string, node: NodeInit | null | undefined): OpenRaw<RawClient<"sotw">>;
  open(): readonly OpenStream[];
}

/** The calls of one server: on ADS, or of the service of a type. */
export function createCalls(context: ServerContext, variant: Variant): Calls {
  const servers = { delta: createDeltaServer(context), sotw: createSotwServer(context) };
  const all: OpenStream[] = [];
  const open = (kind: "delta" | "sotw", typeUrl: string): OpenStream => {
    if ((kind === "delta") !== isDelta(variant))
      throw new Error(`a ${kind} call in a case of ${variant}`);
    const call = { peer: `peer ${all.length}`, ...(isAds(variant) ? {} : { typeUrl }) };
    const machines: OpenStream["server"][] = [];
    const stream = createMemoryStream((out) => {
      const server = servers[kind].open(call, out);
      machines.push(server);
      return server;
    });
    const [server] = machines;
    if (server === undefined) throw new Error("the server took no call");
    all.push({ stream, server });
    return { stream, server };
  };
  return {
    delta(typeUrl, node) {
      const call = open("delta", typeUrl);
      return { ...call, client: createRawDeltaClient(call.stream, nodeOption(node)) };
    },
    sotw(typeUrl, node) {
      const call = open("sotw", typeUrl);
      return { ...call, client: createRawSotwClient(call.stream, nodeOption(node)) };
    },
    open: () => all.filter(({ stream }) => stream.closed === undefined),
  };
}

function nodeOption(node: NodeInit | null | undefined): { readonly node?: NodeInit } {
  return node === null ? {} : { node: node ?? { id: "n" } };
}
