import { createCache } from "@xdstp/cache";
import { createClientContext } from "@xdstp/core/client";
import { createFakeClock, createRawDeltaServer, type RawDeltaServer } from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import type { Topic } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { createServerChain } from "./server-chain.ts";
import { createTaking } from "./taking.ts";

const T = "type.googleapis.com/acme.v1.Flag";
const turn = async (): Promise<void> => { await new Promise((resolve) => { setImmediate(resolve); }); };

/** A cache over a chain of scripted servers. */
function useChain(count: number) {
  const clock = createFakeClock();
  const cache = createCache({ clock });
  const servers = Array.from({ length: count }, () => createRawDeltaServer());
  const chain = createServerChain(cache, servers.map((server, index) => ({
    name: `s${index}`,
    open: () => ({ feed: createDeltaClient(createClientContext({ connect: server.connect, node: Buffer.of(), clock, random: () => 0.5 })), close: () => undefined }),
  })), createTaking());
  const watch = async (name: string): Promise<Topic> => {
    const topic = cache.topic(T, { name });
    topic.watch({ wake: () => undefined });
    await turn();
    return topic;
  };
  return { clock, cache, servers, chain, watch, at: (index: number): RawDeltaServer => servers[index] ?? createRawDeltaServer() };
}

function give(server: RawDeltaServer, name: string, version: string, nonce = "1"): void {
  server.send({ typeUrl: T, nonce, resources: [{ name, version, resource: { typeUrl: T, value: Buffer.from(version) } }] });
}

const valueOf = (topic: Topic): string | undefined => topic.members()[0]?.resource?.version;

describe("createServerChain()", () => {
  it("asks the next server where the first cannot be reached and something is missing [C-GRPC-6]", async () => {
    const { at, watch, chain } = useChain(3);
    const topic = await watch("a");
    expect([at(0).streams, at(1).streams]).toEqual([1, 0]);
    at(0).close();
    await turn();
    expect([at(1).next().resourceNamesSubscribe, topic.stale]).toEqual([["a"], undefined]);
    give(at(1), "a", "v1");
    await turn();
    expect([valueOf(topic), topic.stale, at(2).streams]).toEqual(["v1", undefined, 0]);
    expect(chain.status().map(({ status }) => status?.connected)).toEqual([false, true, undefined]);
  });

  it("stays with a server that has gone as long as everything is cached, and asks all of it elsewhere with the first thing that is not [C-GRPC-6]", async () => {
    const { at, watch } = useChain(2);
    const topic = await watch("a");
    give(at(0), "a", "v1");
    at(0).close();
    await turn();
    at(0).close({ code: 14, message: "" });
    expect([at(1).streams, topic.stale]).toEqual([0, undefined]);
    await watch("b");
    expect(at(1).streams).toBe(0); // a stream that had a response is no connectivity error yet (C-GRPC-4)
  });

  it("goes back to the first server with the first that comes from it, and leaves the other [C-GRPC-6]", async () => {
    const { at, watch, clock } = useChain(2);
    const topic = await watch("a");
    at(0).close();
    await turn();
    give(at(1), "a", "v1");
    clock.advance(2_000);
    await turn();
    expect([at(0).streams, at(1).connected]).toEqual([2, true]);
    give(at(0), "a", "v2");
    await turn();
    expect([valueOf(topic), at(1).connected]).toEqual(["v2", false]);
  });

  it("never presents the versions of one server to another [C-RECON-3]", async () => {
    const { at, watch, clock } = useChain(2);
    await watch("a");
    at(0).close();
    await turn();
    give(at(1), "a", "v1");
    clock.advance(2_000);
    await turn();
    const { resourceNamesSubscribe, initialResourceVersions } = at(0).next();
    expect([resourceNamesSubscribe, initialResourceVersions]).toEqual([["a"], {}]);
  });

  it("tells of an error when every server has failed, and no sooner; the first that answers ends it [C-GRPC-6]", async () => {
    const { at, watch, clock } = useChain(2);
    const topic = await watch("a");
    at(0).close({ code: 14, message: "first" });
    await turn();
    expect(topic.stale).toBeUndefined();
    at(1).close({ code: 14, message: "second" });
    await turn();
    expect(topic.stale?.text).toContain("second");
    clock.advance(2_000);
    await turn();
    give(at(0), "a", "v1");
    await turn();
    expect([valueOf(topic), topic.stale]).toEqual(["v1", undefined]);
  });

  it("drops by absence only what the server in use gave [C-GRPC-11]", async () => {
    const { at, watch, clock } = useChain(2);
    const [a, b] = [await watch("a"), await watch("b")];
    at(0).close();
    await turn();
    give(at(1), "a", "v1");
    give(at(1), "b", "v1", "2");
    clock.advance(2_000);
    await turn();
    give(at(0), "a", "v2");
    await turn();
    expect([valueOf(a), valueOf(b)]).toEqual(["v2", "v1"]);
    at(0).send({ typeUrl: T, nonce: "2", removedResources: ["b"] });
    await turn();
    expect([valueOf(b), b.settled]).toEqual([undefined, true]);
  });
});
