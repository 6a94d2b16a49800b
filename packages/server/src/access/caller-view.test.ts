import { XdsError } from "@xdstp/core";
import { createCache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { describe, expect, it, onTestFinished } from "vitest";

import { createServer, type ServerEvent, type ServerOptions, type XdsServer } from "../index.ts";

const peer = { address: "10.0.0.1:5000" };

interface Opened {
  readonly server: XdsServer;
  readonly rejected: string[];
  /** Returns the names of clusters that the caller may see. */
  readonly namesFor: (call?: Parameters<XdsServer["viewCaller"]>[0]) => Promise<readonly string[]>;
}

function open(options: Partial<ServerOptions> = {}): Opened {
  const cache = createCache({ types: envoyTypes });
  cache.put(clusters, { name: "a" });
  cache.put(clusters, { name: "b" });
  const rejected: string[] = [];
  const server = createServer({
    source: cache,
    onEvent: (event: ServerEvent) => {
      if (event.kind === "rejected") rejected.push(`${event.path}: ${event.reason ?? ""}`);
    },
    ...options,
  });
  onTestFinished(() => server.close());
  return {
    server,
    rejected,
    async namesFor(who = peer) {
      const given = await view(server, who);
      const names = ["a", "b"].filter(
        (name) => given.source.topic(clusters.typeUrl, { name }).get(name)?.resource !== undefined,
      );
      given.release();
      return names;
    },
  };
}

async function view(
  server: XdsServer,
  who: Parameters<XdsServer["viewCaller"]>[0] = peer,
  signal = new AbortController().signal,
): ReturnType<XdsServer["viewCaller"]> {
  return server.viewCaller(who, { path: "/t/a", signal });
}

describe("viewCaller()", () => {
  it("gives the whole source without a key where no caller is different", async () => {
    const { server, namesFor } = open();
    expect(await namesFor()).toEqual(["a", "b"]);
    const { key, revoked } = await view(server);
    expect([key, revoked]).toEqual([undefined, undefined]);
  });

  it("asks authorize with address and path, and hides what the policy forbids [S-LIM-8]", async () => {
    const asked: unknown[] = [];
    const { server, namesFor } = open({
      authorize: (who) => {
        asked.push(who);
        return { key: "only a", allows: (_, name) => name === "a" };
      },
    });
    expect(await namesFor()).toEqual(["a"]);
    expect(asked).toEqual([{ ...peer, path: "/t/a" }]);
    const given = await view(server);
    expect(given.key).toBe("only a");
    given.release();
  });

  it("has a key for every caller where sourceFor may choose another source", async () => {
    const other = createCache({ types: envoyTypes });
    other.put(clusters, { name: "b" });
    const { server, namesFor } = open({
      sourceFor: ({ address }) => (address.startsWith("10.") ? other : undefined),
    });
    expect(await namesFor()).toEqual(["b"]);
    expect((await view(server)).key).toBe("");
    // A cache in front of the server may not give this answer to the caller above.
    expect((await view(server, { address: "::1" })).key).toBe("");
  });

  it("rejects with the fixed text of streams, and reports the reason [S-LIM-8]", async () => {
    const { server, rejected } = open({
      authorize: () => {
        throw new XdsError("PERMISSION_DENIED", "no rule fits");
      },
    });
    await expect(view(server)).rejects.toThrow("[PERMISSION_DENIED] not allowed");
    expect(rejected).toEqual(["/t/a: no rule fits"]);
  });

  it("gives the signal of a policy that can be revoked, and rejects a caller after it", async () => {
    const revoking = new AbortController();
    const { server, rejected } = open({
      authorize: () => ({ key: "k", allows: () => true, revoked: revoking.signal }),
    });
    const before = await view(server);
    expect(before.revoked?.aborted).toBe(false);
    revoking.abort();
    expect(before.revoked?.aborted).toBe(true);
    before.release();
    await expect(view(server)).rejects.toThrow("[PERMISSION_DENIED] access was revoked");
    expect(rejected).toEqual(["/t/a: access was revoked"]);
  });

  it("rejects callers while the first state is not known, after the end, and those that have gone [S-STREAM-9]", async () => {
    const { server } = open({ source: createCache({ types: envoyTypes }) });
    await expect(view(server)).rejects.toThrow("[UNAVAILABLE]");
    const ready = open({ authorize: () => new Promise(() => undefined) });
    const gone = new AbortController();
    const asked = view(ready.server, peer, gone.signal);
    gone.abort();
    await expect(asked).rejects.toThrow("[CANCELLED]");
    await ready.server.close();
    await expect(view(ready.server)).rejects.toThrow("[UNAVAILABLE] the server is shutting down");
  });
});
