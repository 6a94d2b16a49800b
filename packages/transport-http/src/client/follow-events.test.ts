import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { describe, expect, it, onTestFinished } from "vitest";

import { putRedirect } from "../../test/put-redirect.ts";
import {
  authority,
  type Http,
  type Intercept,
  nameOf,
  secondsOf,
  turns,
  type,
  useFetch,
  useHttp,
} from "../../test/use-http.ts";
import { createHttpListener } from "../server/index.ts";
import { createHttpFeed, followResource, type FollowedState, type FollowOptions } from "./index.ts";

const url = `https://${authority}/${type}/web`;

interface Following {
  readonly http: Http;
  readonly network: ReturnType<typeof useFetch>;
  /** The states, each as a text. */
  readonly states: string[];
  readonly state: () => FollowedState;
  /** The number of answers that have confirmed the state. */
  readonly confirmed: () => number;
  /** Lets time pass, and all work that is due. */
  readonly pass: (ms: number) => Promise<void>;
}

/** Follows a cluster by events. The resource has 1 s unless `prepare` puts it. */
function follow(
  options: Partial<FollowOptions> = {},
  prepare: (http: Http) => void = (http) => {
    http.put(nameOf("web"), 1);
  },
  intercept?: Intercept,
): Following {
  const http = useHttp();
  prepare(http);
  const network = useFetch(http);
  network.intercept = intercept;
  const states: string[] = [];
  let confirmed = 0;
  const followed = followResource(
    {
      url,
      form: "protobuf",
      events: true,
      fetch: network.fetch,
      clock: http.clock,
      random: () => 0.5,
      onConfirmed: () => {
        confirmed++;
      },
      ...options,
    },
    (state) => {
      // A reason that is followed by another one is not a state of its own here.
      if (states.at(-1) !== textOf(state)) states.push(textOf(state));
    },
  );
  onTestFinished(() => {
    followed.close();
  });
  return {
    http,
    network,
    states,
    state: () => followed.state,
    confirmed: () => confirmed,
    pass: async (ms) => {
      await turns();
      http.clock.advance(ms);
      await turns();
    },
  };
}

function textOf(state: FollowedState): string {
  if (state.kind !== "found") return state.kind;
  const seconds =
    state.mediaType === "application/json"
      ? new TextDecoder().decode(state.body)
      : `${String(fromBinary(ClusterSchema, state.body).connectTimeout?.seconds ?? 0n)} s`;
  return `${seconds}${state.error === undefined ? "" : ", stale"}`;
}

function versionIn(state: FollowedState): string {
  return state.kind === "found" ? state.version : "";
}

const down: Intercept = () => {
  throw new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") });
};

/** An event stream with these texts, which stays open. */
function stream(...texts: readonly string[]): Intercept {
  return () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
        },
      }),
      { headers: { "content-type": "text/event-stream; charset=utf-8" } },
    );
}

describe("followResource({ events: true })", () => {
  it("reports the resource and each change over one request [B-HTTP-15]", async () => {
    const { http, states, pass, network } = follow();
    await pass(0);
    for (const seconds of [2, 3]) {
      http.put(nameOf("web"), seconds);
      await pass(0);
    }
    http.remove(nameOf("web"));
    await pass(0);
    http.put(nameOf("web"), 4);
    await pass(0);
    expect(states).toEqual(["1 s", "2 s", "3 s", "missing", "4 s"]);
    expect(network.requested).toHaveLength(1);
  });

  it("has the version, the TTL and the content of a poll [B-HTTP-15]", async () => {
    const prepare = (http: Http): void => {
      http.put(nameOf("web"), 1, { version: "v 1", ttlMs: 90_000, noStore: true });
    };
    for (const form of ["protobuf", "json"] as const) {
      const [byEvents, byPolls] = [
        follow({ form }, prepare),
        follow({ form, events: false }, prepare),
      ];
      await byEvents.pass(0);
      await byPolls.pass(0);
      expect(byEvents.state()).toMatchObject({
        kind: "found",
        version: "v 1",
        ttlMs: 90_000,
        noStore: true,
      });
      expect(byEvents.state()).toEqual(byPolls.state());
    }
  });

  it("keeps the resource while the server is away, and resumes after the last event [B-HTTP-15]", async () => {
    const { http, states, state, pass, network, confirmed } = follow();
    await pass(0);
    network.breakStreams();
    network.intercept = down;
    await pass(1_000);
    expect(states).toEqual(["1 s", "1 s, stale"]);
    network.intercept = undefined;
    await pass(2_000);
    // The server sends no event again, and says that nothing has changed.
    expect(states).toEqual(["1 s", "1 s, stale", "1 s"]);
    expect(confirmed()).toBe(1);
    const id = `${encodeURIComponent(versionIn(state()))}@`;
    expect(network.lastIds).toEqual([
      null,
      expect.stringContaining(id),
      expect.stringContaining(id),
    ]);
    network.breakStreams();
    http.put(nameOf("web"), 2);
    await pass(5_000);
    expect(states.slice(3)).toEqual(["1 s, stale", "2 s"]);
  });

  it("opens a stream again that ends, without an error", async () => {
    const { http, states, pass, network } = follow();
    await pass(0);
    network.endStreams();
    http.put(nameOf("web"), 2);
    await pass(1_000);
    expect(states).toEqual(["1 s", "2 s"]);
    expect(network.requested).toHaveLength(2);
  });

  it("does not open streams that end at once more often than it would poll", async () => {
    const { states, pass, network } = follow({}, undefined, () => {
      const data = '{"version":"1","protobuf":""}';
      return new Response(`event: resource\nid: 1\ndata: ${data}\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    });
    for (let ms = 0; ms < 300_000; ms += 500) await pass(500);
    expect(states).toEqual(["0 s"]);
    // Each 7.5 s after the first few.
    expect(network.requested.length).toBeLessThan(45);
    expect(network.requested.length).toBeGreaterThan(35);
  });

  it("leaves a stream that is silent for longer than answerMs, since comments come more often [B-HTTP-15]", async () => {
    const { states, pass, network, state } = follow();
    await pass(0);
    for (let ms = 0; ms < 120_000; ms += 5_000) await pass(5_000);
    expect([states, network.requested.length]).toEqual([["1 s"], 1]);
    network.stall();
    await pass(39_999);
    expect(states).toEqual(["1 s"]);
    await pass(1);
    expect(states).toEqual(["1 s", "1 s, stale"]);
    expect(state()).toMatchObject({
      error: { text: `GET ${url}: no event and no comment within 40000 ms` },
    });
    await pass(2_000);
    expect(states).toEqual(["1 s", "1 s, stale", "1 s"]);
  });

  it("keeps a resource with a TTL while comments come, and removes it without them [C-HTTP-7]", async () => {
    const { http, states, pass, network } = follow({}, (prepared) => {
      prepared.cache.put(clusters, { name: nameOf("web") }, { ttlMs: 9_000 });
    });
    await pass(0);
    network.stall();
    await pass(8_999);
    expect(states).toEqual(["0 s"]);
    await pass(1);
    expect(states).toEqual(["0 s", "missing"]);
    // The next stream begins with the present state.
    http.cache.put(clusters, { name: nameOf("web") }, { ttlMs: 9_000 });
    await pass(100);
    expect(states).toEqual(["0 s", "missing", "0 s"]);
  });

  it("follows redirects and their changes, and rejects one that lowers the security [B-HTTP-8]", async () => {
    const { http, states, pass, network } = follow({}, (prepared) => {
      prepared.put(nameOf("new"), 5);
      putRedirect(prepared, "web", nameOf("new"));
    });
    await pass(0);
    expect(states).toEqual(["5 s"]);
    http.put(nameOf("new"), 6);
    await pass(0);
    http.put(nameOf("other"), 7);
    putRedirect(http, "web", nameOf("other"));
    await pass(0);
    expect(states).toEqual(["5 s", "6 s", "7 s"]);
    expect(network.requested).toHaveLength(3);
    const insecure = follow(
      {},
      undefined,
      stream('event: redirect\ndata: {"version":"1","location":"http://a.example/x"}\n\n'),
    );
    await insecure.pass(0);
    expect(insecure.state()).toMatchObject({
      kind: "unknown",
      error: {
        text: `GET ${url}: the redirect is rejected: http://a.example/x has no TLS, but the request had`,
      },
    });
  });

  it("reads a server without event streams as if it had no long polls", async () => {
    let seconds = 1;
    const { states, pass } = follow({ form: "json" }, undefined, () =>
      Response.json(seconds, { headers: { "cache-control": "max-age=10" } }),
    );
    await pass(0);
    seconds = 2;
    await pass(15_000);
    expect(states).toEqual(["1", "2"]);
  });

  it.each([
    ["event: resource\ndata: {\n\n", /an event "resource" cannot be read: /],
    ["event: resource\ndata: null\n\n", /an event "resource" cannot be read: /],
    ['event: resource\ndata: {"version":1}\n\n', /: version is not a text$/],
    ['event: resource\ndata: {"version":"1"}\n\n', /: it has no resource$/],
    ['event: resource\ndata: {"version":"1","protobuf":"%"}\n\n', /cannot be read: /],
    ['event: failure\ndata: {"code":"__proto__","message":"no"}\n\n', /: no$/],
    ['event: missing\ndata: {"code":"UNAVAILABLE","message":"down"}\n\n', /: down$/],
    [
      `data: ${"x".repeat(2_000)}`,
      /an event is larger than 1000 characters; the limit is answerBytes$/,
    ],
  ])("keeps what it has where a stream sends %.40s", async (text, reason) => {
    const { states, pass, network, state } = follow({ answerBytes: 1_000 });
    await pass(0);
    network.breakStreams();
    network.intercept = stream(text);
    await pass(1_500);
    expect(states).toEqual(["1 s", "1 s, stale"]);
    expect(state()).toMatchObject({ error: { text: expect.stringMatching(reason) as unknown } });
  });

  it("ignores events of other kinds, and members of the prototype of an object", async () => {
    const good = 'event: resource\ndata: {"version":"1","resource":1}\n\n';
    const { states, pass } = follow(
      { form: "json" },
      undefined,
      stream("event: constructor\ndata: {}\n\n", "data: {}\n\n", good),
    );
    await pass(0);
    expect(states).toEqual(["1"]);
  });

  it("reports a resource that the server cannot send, until it can [B-HTTP-15]", async () => {
    const { http, pass, network, state } = follow({ form: "json" });
    await pass(0);
    const failure = 'event: failure\nid: 1\ndata: {"code":"UNIMPLEMENTED","message":"no type"}\n\n';
    network.breakStreams();
    network.intercept = () =>
      new Response(`${failure}:\n\n`, { headers: { "content-type": "text/event-stream" } });
    await pass(1_500);
    expect(state()).toMatchObject({
      kind: "found",
      error: { code: "UNIMPLEMENTED", text: `GET ${url}: no type` },
    });
    network.intercept = undefined;
    http.put(nameOf("web"), 2);
    await pass(5_000);
    expect(state()).toMatchObject({ kind: "found", error: undefined });
  });

  it("keeps no request open with longPoll: false, and has no YAML", async () => {
    const { pass, http } = follow({ longPoll: false });
    await pass(0);
    expect(http.handler.waiting).toBe(0);
    expect(() => follow({ form: "yaml" })).toThrow(
      "[INVALID_ARGUMENT] events have JSON or protobuf; leave the form yaml out",
    );
  });

  it("ends its request when it is closed", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const { fetch } = useFetch(http);
    const followed = followResource(
      { url, events: true, fetch, clock: http.clock },
      () => undefined,
    );
    await turns();
    expect(http.handler.waiting).toBe(1);
    followed.close();
    await turns();
    expect([http.handler.waiting, http.clock.pending]).toEqual([0, 1]);
  });
});

it("follows a resource by events over real connections, which break, and a server that starts again [B-HTTP-15]", async () => {
  const http = useHttp({ authority });
  http.put(nameOf("web"), 1);
  const start = async (port: number): Promise<Server> => {
    const server = createServer(createHttpListener(http.handler, { clock: http.clock }));
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return server;
  };
  const stop = (server: Server): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      server.closeAllConnections();
    });
  let server = await start(0);
  onTestFinished(() => stop(server));
  const { port } = server.address() as AddressInfo;
  const states: string[] = [];
  const followed = followResource(
    {
      url: `http://127.0.0.1:${port}/${type}/web`,
      form: "protobuf",
      events: true,
      clock: http.clock,
    },
    (state) => {
      if (states.at(-1) !== textOf(state)) states.push(textOf(state));
    },
  );
  onTestFinished(() => {
    followed.close();
  });
  const reach = async (...wanted: readonly string[]): Promise<void> => {
    while (states.length < wanted.length) {
      http.clock.advance(100);
      await turns();
    }
    expect(states).toEqual(wanted);
  };
  await reach("1 s");
  http.put(nameOf("web"), 2);
  await reach("1 s", "2 s");
  server.closeAllConnections();
  await reach("1 s", "2 s", "2 s, stale", "2 s");
  await stop(server);
  await reach("1 s", "2 s", "2 s, stale", "2 s", "2 s, stale");
  http.put(nameOf("web"), 3);
  server = await start(port);
  await reach("1 s", "2 s", "2 s, stale", "2 s", "2 s, stale", "3 s");
});

describe("createHttpFeed({ events: true })", () => {
  it("follows names by events, and those above the limit by requests [B-HTTP-15]", async () => {
    const http = useHttp();
    const network = useFetch(http);
    const cache = createCache({ types: envoyTypes, clock: http.clock });
    onTestFinished(() => cache.close());
    cache.addFeed(
      createHttpFeed({ events: true, longPolls: 1, fetch: network.fetch, clock: http.clock }),
    );
    const topics = ["a", "b"].map((id) => {
      http.put(nameOf(id), 1);
      const topic = cache.topic(clusters.typeUrl, { name: nameOf(id) });
      topic.watch({ wake: () => undefined });
      return topic;
    });
    const held = (): readonly number[] =>
      topics.map((topic) => {
        const resource = topic.members()[0]?.resource;
        return resource === undefined ? 0 : secondsOf(resource.payload.value);
      });
    await turns();
    expect([held(), http.handler.waiting]).toEqual([[1, 1], 1]);
    http.put(nameOf("a"), 2);
    await turns();
    expect(held()).toEqual([2, 1]);
  });
});
