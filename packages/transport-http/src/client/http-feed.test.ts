import { type Cache, createCache } from "@xdstp/cache";
import { type Topic, XdsError } from "@xdstp/core";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { describe, expect, it, onTestFinished } from "vitest";

import { listName, putList } from "../../test/put-list.ts";
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
import { createHttpFeed, type HttpFeed, type HttpFeedOptions } from "./index.ts";

interface Reading {
  readonly http: Http;
  readonly network: ReturnType<typeof useFetch>;
  readonly feed: HttpFeed;
  /** The cache that the feed writes to. */
  readonly cache: Cache;
  /** The texts of `onRejected`. */
  readonly errors: string[];
  /** Subscribes to a cluster. Returns its states as text, the present one last. */
  readonly watch: (name: string, parameters?: ReadonlyMap<string, string>) => Watched;
  /** Lets time pass, and all work that is due. */
  readonly pass: (ms: number) => Promise<void>;
}

interface Watched {
  readonly topic: Topic;
  readonly states: string[];
  readonly close: () => void;
}

async function useFeed(options: Partial<HttpFeedOptions> = {}): Promise<Reading> {
  const http = useHttp();
  const network = useFetch(http);
  const errors: string[] = [];
  const feed = createHttpFeed({
    fetch: network.fetch,
    clock: http.clock,
    random: () => 0.5,
    onRejected: ({ message }) => errors.push(message),
    ...options,
  });
  const cache = createCache({ types: envoyTypes, clock: http.clock, wildcard: () => true });
  onTestFinished(() => cache.close());
  cache.addFeed(feed);
  await turns();
  return {
    http,
    network,
    feed,
    cache,
    errors,
    watch(name, parameters) {
      const topic = cache.topic(clusters.typeUrl, { name, ...(parameters && { parameters }) });
      const states: string[] = [];
      const watcher = {
        wake: () => {
          const text = textOf(topic);
          if (states.at(-1) !== text) states.push(text);
        },
      };
      topic.watch(watcher);
      const close = (): void => {
        topic.unwatch(watcher);
      };
      onTestFinished(close);
      return { topic, states, close };
    },
    pass: async (ms) => {
      await turns();
      http.clock.advance(ms);
      await turns();
    },
  };
}

function textOf(topic: Topic): string {
  const [entry] = topic.members();
  const known =
    entry?.resource === undefined
      ? topic.settled
        ? "missing"
        : "pending"
      : `${secondsOf(entry.resource.payload.value)} s`;
  return topic.stale === undefined ? known : `${known}, stale: ${topic.stale.code}`;
}

const down: Intercept = () => {
  throw new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") });
};

describe("createHttpFeed()", () => {
  it("puts each subscribed name and each change, with the version of the server [C-HTTP-11]", async () => {
    const { http, watch, pass } = await useFeed();
    http.put(nameOf("web"), 1, { version: "v1" });
    const web = watch(nameOf("web"));
    const other = watch(nameOf("other"));
    await pass(100);
    http.put(nameOf("web"), 2, { version: "v2" });
    http.put(nameOf("other"), 7);
    await pass(100);
    http.remove(nameOf("web"));
    await pass(100);
    expect(web.states).toEqual(["1 s", "2 s", "missing"]);
    expect(other.states).toEqual(["missing", "7 s"]);
    expect(other.topic.members()[0]?.resource?.version).not.toBe("");
  });

  it("keeps the spelling of the subscriber, and requests the canonical URL [B-HTTP-1]", async () => {
    const { http, watch, pass, network } = await useFeed();
    http.put(`${nameOf("web")}?a=1&b=2`, 1);
    const web = watch(`${nameOf("web")}?b=2&a=1`);
    await pass(100);
    expect(web.states).toEqual(["1 s"]);
    expect(web.topic.members()[0]?.name).toBe(`${nameOf("web")}?b=2&a=1`);
    expect(network.requested).toContain(`https://${authority}/${type}/web`);
  });

  it("requests the names of each authority from its origin [B-HTTP-1]", async () => {
    const { http, watch, pass, network } = await useFeed({
      origin: (asked) => (asked === "elsewhere.example" ? undefined : `http://${authority}`),
    });
    http.put("web", 3);
    const opaque = watch("web");
    const refused = watch(`xdstp://elsewhere.example/${type}/web`);
    await pass(100);
    expect(opaque.states).toEqual(["3 s"]);
    expect(refused.states).toEqual(["pending, stale: INVALID_ARGUMENT"]);
    expect(network.requested).toEqual([
      `http://${authority}/${type}/web`,
      `http://${authority}/${type}/web`,
    ]);
  });

  it.each([
    ["*", undefined],
    [`xdstp://${authority}/${type}/*`, undefined],
    [nameOf("web"), new Map([["tier", "gold"]])],
  ])(
    "reports %s %o as unimplemented, and sends no request [B-HTTP-3]",
    async (name, parameters) => {
      const { watch, pass, network } = await useFeed();
      const wide = watch(name, parameters);
      await pass(100);
      expect(wide.topic.stale?.code).toBe("UNIMPLEMENTED");
      expect(wide.topic.settled).toBe(false);
      expect(network.requested).toEqual([]);
    },
  );

  it("keeps resources while requests fail, says so, and goes on [C-HTTP-7] [S-HTTP-9]", async () => {
    const { http, watch, pass, network, feed } = await useFeed();
    http.put(nameOf("web"), 1);
    const web = watch(nameOf("web"));
    await pass(100);
    expect(feed.responded).toBe(true);
    network.intercept = down;
    await pass(40_000);
    await pass(40_000);
    expect(web.states).toEqual(["1 s", "1 s, stale: UNAVAILABLE"]);
    expect(feed.responded).toBe(false);
    network.intercept = undefined;
    http.put(nameOf("web"), 2);
    for (let seconds = 0; seconds < 60; seconds++) await pass(1_000);
    expect(web.states.slice(-1)).toEqual(["2 s"]);
    expect(feed.responded).toBe(true);
  });

  it("reports the whole server as unreachable only while no name is answered [C-GRPC-6]", async () => {
    const outages: (string | undefined)[] = [];
    const http = useHttp();
    const network = useFetch(http);
    const feed = createHttpFeed({ fetch: network.fetch, clock: http.clock, random: () => 0.5 });
    const end = new AbortController();
    const run = feed.run(
      {
        commit: () => ({ revision: 1 }),
        held: () => [],
        unavailable: (scope, error) => {
          if (scope.typeUrl === undefined) outages.push(error?.code);
        },
      },
      end.signal,
    );
    http.put(nameOf("a"), 1);
    network.intercept = ({ pathname }) =>
      pathname.endsWith("/b") ? down(new URL("http://x"), {} as never) : undefined;
    feed.want(clusters.typeUrl, [{ name: nameOf("a") }, { name: nameOf("b") }], []);
    await turns();
    expect(outages.filter((code) => code !== undefined)).toEqual([]);
    network.intercept = down;
    http.handler.close();
    for (let seconds = 0; seconds < 60; seconds++) {
      http.clock.advance(1_000);
      await turns();
    }
    expect(outages.at(-1)).toBe("UNAVAILABLE");
    end.abort();
    await run;
  });

  it("reports a name that fails for itself again after the server was unreachable", async () => {
    const { http, watch, pass, network } = await useFeed();
    http.put(nameOf("web"), 1);
    const forbidden: Intercept = ({ pathname }) =>
      pathname.endsWith("/secret") ? new Response("", { status: 403 }) : undefined;
    network.intercept = forbidden;
    const web = watch(nameOf("web"));
    const secret = watch(nameOf("secret"));
    await pass(100);
    expect([textOf(web.topic), textOf(secret.topic)]).toEqual([
      "1 s",
      "pending, stale: PERMISSION_DENIED",
    ]);
    network.intercept = down;
    for (let seconds = 0; seconds < 60; seconds++) await pass(1_000);
    expect([textOf(web.topic), textOf(secret.topic)]).toEqual([
      "1 s, stale: UNAVAILABLE",
      "pending, stale: UNAVAILABLE",
    ]);
    network.intercept = forbidden;
    for (let seconds = 0; seconds < 120; seconds++) await pass(1_000);
    expect([textOf(web.topic), textOf(secret.topic)]).toEqual([
      "1 s",
      "pending, stale: PERMISSION_DENIED",
    ]);
  });

  it("removes a resource when its TTL has expired [C-HTTP-7]", async () => {
    const { http, watch, pass, network } = await useFeed();
    http.put(nameOf("web"), 1, { ttlMs: 9_000 });
    const web = watch(nameOf("web"));
    await pass(100);
    expect(web.topic.members()[0]?.resource?.ttlMs).toBe(9_000);
    network.intercept = down;
    http.handler.close();
    for (let seconds = 0; seconds < 12; seconds++) await pass(1_000);
    expect(web.states.some((state) => state.startsWith("missing"))).toBe(true);
  });

  it("follows redirects; the resource keeps the subscribed name [B-HTTP-8]", async () => {
    const { http, watch, pass } = await useFeed();
    putRedirect(http, "web", nameOf("target"));
    http.put(nameOf("target"), 1);
    const web = watch(nameOf("web"));
    await pass(100);
    http.put(nameOf("target"), 2);
    await pass(100);
    expect(web.states).toEqual(["1 s", "2 s"]);
    expect(web.topic.members()[0]?.name).toBe(nameOf("web"));
  });

  it("has a list under the type of its members, if it is subscribed so [B-TYPE-6]", async () => {
    const { http, watch, pass } = await useFeed();
    putList(http, { located: [], inline: { name: "own", seconds: 9 } });
    const { topic } = watch(listName);
    await pass(100);
    const [entry] = topic.members();
    expect(entry?.resource?.payload.typeUrl).toBe(`${clusters.typeUrl}Collection`);
  });

  it("says in its status that nothing is acknowledged [B-HTTP-12]", async () => {
    const { http, watch, pass, feed } = await useFeed();
    http.put(nameOf("web"), 1, { version: "v1" });
    watch(nameOf("web"));
    watch(nameOf("none"));
    watch("*");
    expect(feed.status().map(({ state }) => state)).toEqual([]);
    await pass(100);
    const acknowledged = "not reported over HTTP";
    const row = { typeUrl: clusters.typeUrl, acknowledged };
    const url = `https://${authority}/${type}/`;
    expect(feed.status()).toEqual([
      { ...row, name: nameOf("web"), url: `${url}web`, state: "present", version: "v1" },
      { ...row, name: nameOf("none"), url: `${url}none`, state: "missing" },
      {
        ...row,
        name: "*",
        state: "pending",
        error: expect.objectContaining({ code: "UNIMPLEMENTED" }) as unknown,
      },
    ]);
  });

  it("keeps the resource before one that a reader rejects, and shows the reason [C-ACK-5]", async () => {
    const { http, cache, watch, pass, feed, errors } = await useFeed();
    cache.check(clusters.typeUrl, { name: nameOf("web") }, ({ payload }) =>
      secondsOf(payload.value) === 2 ? new XdsError("INVALID_ARGUMENT", "not two") : undefined,
    );
    http.put(nameOf("web"), 1);
    const web = watch(nameOf("web"));
    await pass(100);
    http.put(nameOf("web"), 2);
    await pass(100);
    expect(textOf(web.topic)).toMatch(/^1 s/);
    expect(feed.status()[0]?.error?.text).toBe("not two");
    expect(errors).toEqual(["[INVALID_ARGUMENT] not two"]);
    http.put(nameOf("web"), 3);
    await pass(100);
    expect(textOf(web.topic)).toBe("3 s");
    expect(feed.status()[0]?.error).toBeUndefined();
  });

  it("reads JSON by a registry, and keeps the resource while the content cannot be read [S-HTTP-2]", async () => {
    const { watch, pass, network, errors } = await useFeed({ registry: envoyRegistry() });
    let body = JSON.stringify({ name: "web", connect_timeout: "4s" });
    network.intercept = () =>
      new Response(body, {
        headers: { "content-type": "application/json; charset=utf-8", etag: `"${body.length}"` },
      });
    const web = watch(nameOf("web"));
    await pass(0);
    body = "{ broken";
    await pass(20_000);
    body = JSON.stringify({ name: "web", connect_timeout: "51s" });
    await pass(20_000);
    expect(web.states).toEqual(["4 s", "4 s, stale: INVALID_ARGUMENT", "4 s", "51 s"]);
    expect(errors[0]).toMatch(
      /^\[INVALID_ARGUMENT\] GET https:\/\/config\.example\/envoy\.config\.cluster\.v3\.Cluster\/web: the content is not a envoy\.config\.cluster\.v3\.Cluster: /,
    );
  });

  it.each([
    ["application/json", "the content is JSON, and its type"],
    ["text/html", 'the content is "text/html"'],
  ])("rejects content of the form %s without a way to read it [S-HTTP-2]", async (form, reason) => {
    const { watch, pass, network, errors } = await useFeed();
    network.intercept = () => new Response("{}", { headers: { "content-type": form } });
    const web = watch(nameOf("web"));
    await pass(0);
    expect(web.states).toEqual(["pending, stale: FAILED_PRECONDITION"]);
    expect(errors[0]).toContain(reason);
  });

  it("sends a limited number of first requests at a time, and keeps a limited number open", async () => {
    const { http, watch, pass, network } = await useFeed({ starting: 3, longPolls: 5 });
    const held: (() => void)[] = [];
    const { fetch } = network;
    let open = 0;
    let most = 0;
    const slow = createHttpFeed({
      clock: http.clock,
      random: () => 0.5,
      starting: 3,
      longPolls: 5,
      fetch: async (url, init) => {
        most = Math.max(most, ++open);
        await new Promise<void>((resolve) => held.push(resolve));
        open--;
        return fetch(url, init);
      },
    });
    const end = new AbortController();
    const run = slow.run(
      { commit: () => ({ revision: 1 }), held: () => [], unavailable: () => undefined },
      end.signal,
    );
    const names = Array.from({ length: 20 }, (_, index) => ({ name: nameOf(`n${index}`) }));
    slow.want(clusters.typeUrl, names, []);
    expect(open).toBe(3);
    for (let round = 0; round < 7; round++) {
      for (const release of held.splice(0)) release();
      await turns();
    }
    expect(most).toBe(3);
    expect(slow.status().map(({ state }) => state)).toEqual(names.map(() => "missing"));
    http.clock.advance(100);
    await turns();
    expect(open).toBe(5);
    end.abort();
    await run;
    watch(nameOf("web"));
    await pass(100);
  });

  it("gives the long poll of a name that has ended to another one, whose resource stays", async () => {
    const { http, watch, pass } = await useFeed({ longPolls: 1, refreshMs: 60_000 });
    http.put(nameOf("a"), 1);
    http.put(nameOf("b"), 1);
    const a = watch(nameOf("a"));
    const b = watch(nameOf("b"));
    await pass(100);
    expect(http.handler.waiting).toBe(1);
    a.close();
    await pass(100);
    await pass(100);
    expect(http.handler.waiting).toBe(1);
    http.put(nameOf("b"), 2);
    await pass(100);
    expect(b.states).toEqual(["1 s", "2 s"]);
  });

  it("ends the requests for a name that is no longer subscribed, and all at its end", async () => {
    const { http, watch, pass, cache, feed } = await useFeed();
    http.put(nameOf("web"), 1);
    const web = watch(nameOf("web"));
    watch(nameOf("other"));
    await pass(100);
    expect(http.handler.waiting).toBe(2);
    web.close();
    await pass(60_000);
    expect(feed.status().map(({ name }) => name)).toEqual([nameOf("other")]);
    await pass(0);
    expect(http.handler.waiting).toBe(1);
    await cache.close();
    await pass(0);
    expect(http.handler.waiting).toBe(0);
  });

  it("waits with the next transaction until readers have taken the one before [C-ACK-13]", async () => {
    const http = useHttp();
    const network = useFetch(http);
    const feed = createHttpFeed({ fetch: network.fetch, clock: http.clock, random: () => 0.5 });
    const end = new AbortController();
    const commits: number[] = [];
    let take: () => void = () => undefined;
    const run = feed.run(
      {
        commit: ({ put = [] }) => {
          commits.push(...put.map(({ resource }) => secondsOf(resource.payload.value)));
          return {
            revision: commits.length,
            taken: new Promise<void>((resolve) => {
              take = resolve;
            }),
          };
        },
        held: () => [],
        unavailable: () => undefined,
      },
      end.signal,
    );
    http.put(nameOf("web"), 1);
    feed.want(clusters.typeUrl, [{ name: nameOf("web") }], []);
    for (const seconds of [2, 3, 4]) {
      await turns();
      http.clock.advance(100);
      await turns();
      http.put(nameOf("web"), seconds);
    }
    await turns();
    http.clock.advance(100);
    await turns();
    expect(commits).toEqual([1]);
    take();
    await turns();
    expect(commits).toEqual([1, 4]);
    end.abort();
    await run;
  });
});
