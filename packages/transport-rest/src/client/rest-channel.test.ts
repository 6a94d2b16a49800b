import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import { type ClientEvent, createClientContext } from "@xdstp/protocol/client";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { describe, expect, it, onTestFinished } from "vitest";

import { type Rest, turns, useRest } from "../../test/use-rest.ts";
import { createRestChannel, type FetchLike, type RestChannelOptions } from "./index.ts";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const path = "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters";

interface Polled {
  readonly at: number;
  readonly request: DiscoveryRequest;
  readonly headers: Readonly<Record<string, string>>;
}

interface RestClient extends Rest {
  readonly client: Cache;
  readonly polls: readonly Polled[];
  readonly events: readonly ClientEvent[];
  /** Returns the resources of the client, as `name=seconds`. */
  held(): readonly string[];
  /** Lets time pass in steps, and lets all work be done in each. */
  pass(ms: number, step?: number): Promise<void>;
  /** Answers polls in the server's place, until it is `undefined` again. */
  instead: FetchLike | undefined;
}

/** A client that polls the server of {@link useRest}, on one clock. */
function useClient(options: Partial<RestChannelOptions> = {}): RestClient {
  const rest = useRest();
  const { clock, handler } = rest;
  const polls: Polled[] = [];
  const events: ClientEvent[] = [];
  const asHandler: FetchLike = async (url, { method, headers, body, signal }) => {
    const { pathname } = new URL(url);
    const answer = await handler.handle({
      method,
      path: pathname,
      header: (name) => headers[name],
      body: async () => Promise.resolve(body),
      peer: "10.0.0.1:1",
      signal,
    });
    signal.throwIfAborted();
    answer.delivered();
    return {
      status: answer.status,
      headers: new Headers(answer.headers),
      body: answer.body === undefined ? null : new Blob([answer.body]).stream(),
    };
  };
  const channel = createRestChannel({
    url: "http://server:1/",
    clock,
    random: () => 0,
    fetch: async (url, init) => {
      if (init.headers["content-type"] === "application/x-protobuf")
        polls.push({
          at: clock.now(),
          headers: init.headers,
          request: fromBinary(DiscoveryRequestSchema, init.body),
        });
      return (client.instead ?? asHandler)(url, init);
    },
    ...options,
  });
  const types = new Map(envoyTypes.map((type) => [type.typeUrl, type]));
  const feed = createSotwClient(
    createClientContext({
      node: new TextEncoder().encode("\n\x02me"),
      connect: (stream) => channel.open({ path }, stream),
      descriptor: (url) => types.get(url),
      clock,
      random: () => 0.5,
      onEvent: (event) => events.push(event),
    }),
  );
  const cache = createCache({ types: envoyTypes, clock });
  onTestFinished(async () => cache.close());
  cache.addFeed(feed);
  const topic = cache.topic(typeUrl, { name: "*" });
  topic.watch({ wake: () => undefined });
  const client: RestClient = {
    ...rest,
    client: cache,
    polls,
    events,
    instead: undefined,
    held: () =>
      topic.members().flatMap(({ resource }) => {
        if (resource === undefined) return [];
        const { name, connectTimeout } = fromBinary(ClusterSchema, resource.payload.value);
        return [`${name}=${String(connectTimeout?.seconds ?? 0n)}`];
      }),
    async pass(ms, step = 100) {
      await turns();
      for (let left = ms; left > 0; left -= step) {
        clock.advance(Math.min(step, left));
        await turns();
      }
    },
  };
  return client;
}

describe("a client that polls", () => {
  it("gets what the server has, polls again after the period with the version that it accepted, and takes 304 for no change [C-REST-6] [S-REST-5] [B-NONCE-11]", async () => {
    const client = useClient({ refreshMs: 5_000 });
    client.put("a", 1);
    await client.pass(200);
    expect(client.held()).toEqual(["a=1"]);
    await client.pass(11_000);
    expect(client.polls.map(({ at }) => at)).toEqual([0, 5_000, 10_100]);
    const [first, ...others] = client.polls.map(({ request }) => request);
    expect(first).toMatchObject({ versionInfo: "", node: { id: "me" } });
    for (const request of others)
      expect(request).toMatchObject({
        versionInfo: expect.stringMatching(/./) as string,
        node: { id: "me" },
      });
    client.put("a", 2);
    await client.pass(6_000);
    expect(client.held()).toEqual(["a=2"]);
  });

  it("adds up to one period at random, so that clients do not poll together [C-REST-6]", async () => {
    const client = useClient({ refreshMs: 5_000, random: () => 0.5 });
    client.put("a", 1);
    await client.pass(8_000);
    expect(client.polls.map(({ at }) => at)).toEqual([0, 7_500]);
  });

  it("has one poll at a time [C-REST-6]", async () => {
    let open = 0;
    let most = 0;
    const client = useClient({ waitMs: 10_000 });
    client.put("a", 1);
    await client.pass(100);
    client.instead = async (_, { signal }) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          open -= 1;
          resolve(undefined);
        });
      });
      throw signal.reason;
    };
    await client.pass(15_000, 1_000);
    const { length } = client.polls;
    client.client.topic(typeUrl, { name: "more" }).watch({ wake: () => undefined });
    await client.pass(1_000);
    // Other names do not wait for the answer of a poll that the server holds.
    expect(client.polls.length).toBeGreaterThan(length);
    expect(client.polls.at(-1)?.request.resourceNames).toContain("more");
    expect(most).toBe(1);
  });

  it("that lets the server wait sees a change at once, and polls again without a pause", async () => {
    const client = useClient({ waitMs: 20_000 });
    client.put("a", 1);
    await client.pass(100);
    expect(client.polls.at(-1)?.headers.prefer).toBe("wait=20");
    client.put("a", 2);
    await client.pass(0);
    expect(client.held()).toEqual(["a=2"]);
    const { length } = client.polls;
    await client.pass(20_100);
    expect(client.polls).toHaveLength(length + 1);
  });

  it("does not hurry if a server that should wait answers 304 at once", async () => {
    const client = useClient({ waitMs: 20_000, refreshMs: 5_000 });
    client.instead = async () =>
      Promise.resolve({ status: 304, headers: new Headers(), body: null });
    await client.pass(10_000);
    expect(client.polls.map(({ at }) => at)).toEqual([0, 5_000, 10_000]);
  });

  it("rejects what it cannot read: the next poll has the older version and the error [C-REST-6] [S-REST-4]", async () => {
    const client = useClient({ refreshMs: 1_000 });
    client.put("a", 1);
    await client.pass(1_200);
    const version = client.polls.at(-1)?.request.versionInfo;
    client.cache.put({ typeUrl, name: "b", value: Uint8Array.of(0xff) });
    await client.pass(3_000);
    expect(client.held()).toEqual(["a=1"]);
    const nack = client.polls.find(({ request }) => request.errorDetail !== undefined);
    expect(nack?.request).toMatchObject({ versionInfo: version });
  });

  it.each([
    [
      "a status of HTTP",
      async () => Promise.resolve({ status: 503, headers: new Headers(), body: null }),
      "status 503",
    ],
    [
      "no answer in time",
      async () => new Promise<never>(() => undefined),
      "no answer within 1000 ms",
    ],
    [
      "no connection",
      async () =>
        Promise.reject(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") })),
      "fetch failed: ECONNREFUSED",
    ],
    [
      "an answer that is too large",
      async () =>
        Promise.resolve({
          status: 200,
          headers: new Headers(),
          body: new Blob([new Uint8Array(3_000)]).stream(),
        }),
      "the answer is larger than 2000 bytes; the limit is answerBytes",
    ],
    [
      "an answer of another type",
      async () =>
        Promise.resolve({
          status: 200,
          headers: new Headers(),
          body: new Blob([
            toBinary(
              DiscoveryResponseSchema,
              create(DiscoveryResponseSchema, { versionInfo: "1", nonce: "1", typeUrl: "x.org/Y" }),
            ),
          ]).stream(),
        }),
      'the answer has the type_url "x.org/Y", but type.googleapis.com/',
    ],
    [
      "JSON that was not asked for",
      async () =>
        Promise.resolve({
          status: 200,
          headers: new Headers({ "content-type": "application/json" }),
          body: new Blob(["{}"]).stream(),
        }),
      "the answer is JSON, for which the option json is needed",
    ],
  ] as const)(
    "keeps what it has after a failure, and tries again later and later: %s [C-REST-7]",
    async (_, failure, reason) => {
      const client = useClient({ refreshMs: 1_000, answerBytes: 2_000 });
      client.put("a", 1);
      await client.pass(200);
      client.instead = failure;
      await client.pass(30_000);
      expect(client.held()).toEqual(["a=1"]);
      const closed = client.events.filter(({ kind }) => kind === "closed");
      expect(closed.length).toBeGreaterThan(2);
      expect(closed.length).toBeLessThan(15);
      expect(closed[0]).toMatchObject({
        status: { message: expect.stringContaining(reason) as string },
      });
      client.put("a", 2);
      client.instead = undefined;
      await client.pass(60_000);
      expect(client.held()).toEqual(["a=2"]);
    },
  );

  it("reads and writes JSON if it has the types", async () => {
    const client = useClient({ json: envoyRegistry() });
    client.put("a", 1);
    await client.pass(200);
    expect(client.held()).toEqual(["a=1"]);
  });
});

describe("createRestChannel()", () => {
  const handler = {
    onMessage: () => undefined,
    onDrained: () => undefined,
    onClosed: () => undefined,
  };

  it("rejects a URL that is not one of HTTP", () => {
    expect(() => createRestChannel({ url: "ftp://x" })).toThrow(
      '[INVALID_ARGUMENT] "ftp://x" is not a URL of HTTP; give http://HOST:PORT or https://HOST',
    );
  });

  it("has no aggregated stream [S-REST-1]", () => {
    const channel = createRestChannel({ url: "http://x" });
    const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
    expect(() => channel.open({ path: ads }, handler)).toThrow(
      "has no form in REST: use a service with one type, in SotW",
    );
  });

  it("opens nothing after it was closed", () => {
    const channel = createRestChannel({ url: "http://x" });
    channel.close();
    expect(() => channel.open({ path }, handler)).toThrow(
      "[FAILED_PRECONDITION] the channel is closed",
    );
  });
});
