import { createCache } from "@xdstp/cache";
import { XdsError } from "@xdstp/core";
import { createPolicy, createSharedFilters, filterSource } from "@xdstp/policy";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { putRedirect } from "../../test/put-redirect.ts";
import { authority, type Http, nameOf, turns, type, useHttp } from "../../test/use-http.ts";

const path = `/${type}/web`;

/** Returns the target of the long poll that follows an answer. */
function after(target: string, headers: Readonly<Record<string, string>>): string {
  const query = `after=${headers["xds-version"] ?? ""}&at=${headers["xds-position"] ?? ""}`;
  return `${target}${target.includes("?") ? "&" : "?"}${query}`;
}

/** Opens an event stream, and returns a function that reads its next part. */
async function openEvents(
  http: Http,
  target: string,
  lastId?: string,
): Promise<() => Promise<string>> {
  const { body } = await http.send(target, {
    headers: {
      accept: "text/event-stream",
      ...(lastId !== undefined && { "last-event-id": lastId }),
    },
  });
  const parts = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return async () => new TextDecoder().decode((await parts.next()).value as Uint8Array);
}

describe("createHttpHandler()", () => {
  it("answers with the resource of the name in the URL, by the authority of the host [B-HTTP-1]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    http.put(`xdstp://other.example/${type}/web`, 2);
    expect((await http.get(path)).seconds).toBe(1);
    expect((await http.get(path, { host: "other.example" })).seconds).toBe(2);
    expect((await http.get(path, { host: "third.example" })).status).toBe(404);
  });

  it("reads parameters in any order as part of the name [B-HTTP-1]", async () => {
    const http = useHttp();
    http.put(`${nameOf("web")}?a=1&b=%26`, 1);
    expect((await http.get(`${path}?b=%26&a=1`)).seconds).toBe(1);
    expect((await http.get(`${path}?a=1`)).status).toBe(404);
    expect((await http.get(`${path}?b=%26&form=json&a=1`)).seconds).toBe(1);
  });

  it("has the names of one authority under every host, if it is given [B-HTTP-1]", async () => {
    const http = useHttp({ authority });
    http.put(nameOf("web"), 1);
    expect((await http.get(path, { host: "127.0.0.1:8080" })).seconds).toBe(1);
  });

  it("finds an opaque name where the xdstp name does not exist", async () => {
    const http = useHttp();
    http.put("a/web", 1);
    expect((await http.get(`/${type}/a/web`)).seconds).toBe(1);
    http.put(nameOf("a/web"), 2);
    expect((await http.get(`/${type}/a/web`)).seconds).toBe(2);
  });

  it("has the resource itself as the body, in three forms [S-HTTP-2]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 3);
    const json = await http.get(path);
    expect(JSON.parse(json.text)).toEqual({ name: nameOf("web"), connectTimeout: "3s" });
    expect(json.headers).toMatchObject({ "content-type": "application/json", vary: "Accept" });
    const yaml = await http.get(path, { headers: { accept: "text/yaml" } });
    expect(parse(yaml.text)).toEqual({ name: nameOf("web"), connectTimeout: "3s" });
    expect(yaml.headers["content-type"]).toBe("text/yaml");
    const binary = await http.get(path, { headers: { accept: "application/x-protobuf" } });
    expect(binary).toMatchObject({
      seconds: 3,
      headers: { "content-type": "application/x-protobuf", vary: "Accept" },
    });
  });

  it("has the form in the URL for caches that ignore vary [S-HTTP-2]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 3);
    const binary = await http.get(`${path}?form=protobuf`, { headers: { accept: "text/html" } });
    expect(binary.seconds).toBe(3);
    expect(binary.headers.vary).toBeUndefined();
  });

  it.each(["text/html", "application/json;q=0"])(
    "answers 406 to accept: %s [S-HTTP-2]",
    async (accept) => {
      const http = useHttp();
      http.put(nameOf("web"), 3);
      const answer = await http.get(path, { headers: { accept } });
      expect(answer.status).toBe(406);
      expect(JSON.parse(answer.text)).toMatchObject({ code: "UNIMPLEMENTED" });
    },
  );

  it("sends protobuf where the type is not known, and 406 if it is not accepted [S-HTTP-2]", async () => {
    const http = useHttp();
    const name = `xdstp://${authority}/acme.Flag/a`;
    http.cache.put({ typeUrl: "type.googleapis.com/acme.Flag", name, value: Uint8Array.of(8, 1) });
    const { headers, body } = await http.send("/acme.Flag/a", { headers: { accept: "*/*" } });
    expect(headers["content-type"]).toBe("application/x-protobuf");
    expect(body).toEqual(Uint8Array.of(8, 1));
    const json = { headers: { accept: "application/json" } };
    expect((await http.get("/acme.Flag/a", json)).status).toBe(406);
    expect((await http.get("/acme.Flag/a?form=json")).status).toBe(406);
  });

  it("tags forms differently, and says one version [S-HTTP-4]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1, { version: "v 1" });
    const json = (await http.get(path)).headers;
    const binary = (await http.get(`${path}?form=protobuf`)).headers;
    expect(json.etag).toMatch(/^"[\w-]{22}"$/);
    expect(binary.etag).not.toBe(json.etag);
    expect([json["xds-version"], binary["xds-version"]]).toEqual(["v%201", "v%201"]);
    http.put(nameOf("web"), 2, { version: "v 2" });
    expect((await http.get(path)).headers.etag).not.toBe(json.etag);
  });

  it("answers 304 to the current tag at once, also to a weak one [B-HTTP-5]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const { headers } = await http.get(path);
    for (const tag of [headers.etag, `W/${headers.etag}`, `"x", ${headers.etag}`]) {
      const again = await http.get(path, { headers: { "if-none-match": tag ?? "" } });
      expect(again).toMatchObject({ status: 304, text: "" });
      expect(again.headers.etag).toBe(headers.etag);
    }
    http.put(nameOf("web"), 2);
    const changed = await http.get(path, { headers: { "if-none-match": headers.etag ?? "" } });
    expect(changed.seconds).toBe(2);
  });

  it("holds a request with prefer until a change, or the time that it names [B-HTTP-5]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const { headers } = await http.get(path);
    const held = { headers: { "if-none-match": headers.etag ?? "", prefer: "wait=7" } };
    const first = http.get(path, held);
    await turns();
    expect(http.handler.waiting).toBe(1);
    http.put(nameOf("web"), 2);
    expect((await first).seconds).toBe(2);
    http.put(nameOf("web"), 1);
    const second = http.get(path, held);
    await turns();
    http.clock.advance(7_000);
    expect((await second).status).toBe(304);
    expect(http.handler.waiting).toBe(0);
  });

  it("holds a request with the current version in its URL until a change [S-HTTP-14]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const { headers } = await http.get(path);
    const polls = Array.from({ length: 3 }, () => http.get(after(path, headers)));
    await turns();
    expect(http.handler.status()).toMatchObject([{ name: nameOf("web"), waiting: 3 }]);
    http.put(nameOf("web"), 2);
    for (const answer of await Promise.all(polls)) {
      expect(answer.seconds).toBe(2);
      expect(answer.headers["cache-control"]).toBe("public, max-age=60, stale-if-error=86400");
    }
  });

  it("answers a poll without a change so that caches can store it [S-HTTP-14]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const { headers } = await http.get(path);
    const poll = http.get(after(path, headers));
    await turns();
    http.clock.advance(24_999);
    expect(http.handler.waiting).toBe(1);
    http.clock.advance(1);
    expect(await poll).toMatchObject({ status: 204, text: "" });
    expect((await poll).headers["cache-control"]).toBe("public, max-age=1, stale-if-error=86400");
  });

  it("gives each state a URL of its own, also when an earlier content comes back [S-HTTP-14]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const first = (await http.get(path)).headers;
    http.put(nameOf("web"), 2);
    http.put(nameOf("web"), 1);
    const third = (await http.get(path)).headers;
    expect(third["xds-version"]).toBe(first["xds-version"]);
    expect(after(path, third)).not.toBe(after(path, first));
    // Without a position, the URL is that of both states.
    http.put(nameOf("web"), 3);
    const short = await http.get(`${path}?after=${first["xds-version"] ?? ""}`);
    expect(short.headers["cache-control"]).toBe("public, max-age=1");
  });

  it("lets caches store the answer for a second only where the position is that of another replica, which may be ahead [S-HTTP-14]", async () => {
    const [ahead, behind] = [useHttp(), useHttp()];
    behind.put(nameOf("web"), 1);
    ahead.put(nameOf("web"), 2);
    const poll = after(path, (await ahead.get(path)).headers);
    const answer = await behind.get(poll);
    expect([answer.seconds, answer.headers["cache-control"]]).toEqual([1, "public, max-age=1"]);
  });

  it("counts its states in the position, so that of two answers the newer one can be told [S-HTTP-14]", async () => {
    const http = useHttp();
    const numberNow = async (): Promise<number> => {
      const { headers } = await http.get(path);
      return parseInt(headers["xds-position"]?.split(".")[1] ?? "", 36);
    };
    const numbers = [await numberNow()];
    // The opaque name is found where the xdstp name does not exist.
    for (const change of [
      () => {
        http.put("web", 1);
      },
      () => {
        http.put(nameOf("web"), 2);
      },
      () => {
        http.remove(nameOf("web"));
      },
      () => {
        http.remove("web");
      },
    ]) {
      change();
      numbers.push(await numberNow());
    }
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it("holds a poll for a name that does not exist, and says when it is removed again [S-HTTP-9]", async () => {
    const http = useHttp();
    const absent = await http.get(path);
    expect(absent.status).toBe(404);
    expect(absent.headers["cache-control"]).toBe("public, max-age=5");
    const poll = http.get(after(path, absent.headers));
    await turns();
    http.put(nameOf("web"), 1);
    const found = await poll;
    expect(found.seconds).toBe(1);
    const next = http.get(after(path, found.headers));
    await turns();
    http.remove(nameOf("web"));
    expect((await next).status).toBe(410);
    expect(JSON.parse((await next).text)).toEqual({
      code: "NOT_FOUND",
      message: `${nameOf("web")} was removed`,
    });
  });

  it("answers 503 with retry-after while nothing is known, with the reason [S-HTTP-9]", async () => {
    const source = createCache({ types: envoyTypes });
    const http = useHttp({ source });
    const failed = new Promise<void>((resolve) => {
      source.addFeed({
        run: async (sink) => {
          sink.unavailable({}, new XdsError("UNAVAILABLE", "no server"));
          resolve();
          return new Promise(() => undefined);
        },
        want: () => undefined,
      });
    });
    await failed;
    const answer = await http.get(path);
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(JSON.parse(answer.text)).toEqual({ code: "UNAVAILABLE", message: "no server" });
  });

  it("waits for a source that is filled on demand, for a limited time [S-HTTP-9]", async () => {
    const source = createCache({ types: envoyTypes });
    const http = useHttp({ source });
    source.addFeed({ run: () => new Promise(() => undefined), want: () => undefined });
    const first = http.get(path);
    await turns();
    source.put(clusters, { name: nameOf("web"), connectTimeout: { seconds: 4n } });
    expect((await first).seconds).toBe(4);
    const second = http.get(`/${type}/api`);
    await turns();
    http.clock.advance(5_000);
    expect((await second).status).toBe(503);
  });

  it("limits the age of an answer by the TTL of the resource [S-HTTP-6]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1, { ttlMs: 9_000 });
    const { headers } = await http.get(path);
    expect(headers["cache-control"]).toBe("public, max-age=3, stale-if-error=6");
    expect(headers["xds-ttl"]).toBe("9");
    http.put(nameOf("api"), 1);
    const policy = (await http.get(`/${type}/api`)).headers;
    expect(policy["cache-control"]).toBe("public, max-age=5, stale-if-error=86400");
  });

  it("holds a poll for a third of the TTL, so that clients can keep the resource [S-HTTP-6]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1, { ttlMs: 9_000 });
    const { headers } = await http.get(path);
    const poll = http.get(after(path, headers));
    await turns();
    http.clock.advance(3_000);
    expect((await poll).status).toBe(204);
  });

  it("does not let caches store what must not be stored", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1, { noStore: true });
    expect((await http.get(path)).headers["cache-control"]).toBe("no-store");
  });

  it("answers a redirect with 302 and the next URI [B-HTTP-8]", async () => {
    const http = useHttp();
    putRedirect(http, "web", `xdstp://${authority}/${type}/b`);
    expect(await http.get(path)).toMatchObject({
      status: 302,
      headers: { location: `/${type}/b` },
    });
    putRedirect(http, "web", `http://other.example/${type}/b%20c`);
    const answer = await http.get(`${path}?form=protobuf&after=v`);
    expect(answer.headers.location).toBe(`//other.example/${type}/b%20c?after=v&form=protobuf`);
  });

  it.each(["a/../b", "..", "./b?k=v", "b?after=1", "b?form=json"])(
    "does not send a client to the target %s, which a URL would change [B-HTTP-8]",
    async (id) => {
      const http = useHttp();
      putRedirect(http, "web", `xdstp://${authority}/${type}/${id}`);
      const answer = await http.get(path);
      expect(answer.status).toBe(500);
      expect(answer.text).toContain("a URL cannot name xdstp://");
    },
  );

  it("holds a poll at the version of a redirect [B-HTTP-8]", async () => {
    const http = useHttp();
    putRedirect(http, "web", `xdstp://${authority}/${type}/b`);
    const poll = http.get(after(path, (await http.get(path)).headers));
    await turns();
    putRedirect(http, "web", `xdstp://${authority}/${type}/c`);
    const { status, headers } = await poll;
    expect([status, headers.location?.split("?")[0]]).toEqual([302, `/${type}/c`]);
  });

  it.each(["/*", "/a/*", "/*?a=1"])("answers 404 to the glob %s [B-HTTP-3]", async (id) => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const answer = await http.get(`/${type}${id}`);
    expect(answer.status).toBe(404);
    expect(answer.text).toContain("glob");
  });

  it("reads nothing of the node into a name, and varies by the form only [S-HTTP-13]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const one = await http.get(path, { headers: { "user-agent": "one", cookie: "a=1" } });
    const other = await http.get(path, { headers: { "user-agent": "other" } });
    expect(one).toEqual(other);
    expect(one.headers.vary).toBe("Accept");
  });

  it("sends the same bytes to all that wait [S-HTTP-13]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const target = after(path, (await http.get(path)).headers);
    const polls = [http.send(target), http.send(target)];
    await turns();
    http.put(nameOf("web"), 2);
    const [one, other] = await Promise.all(polls);
    expect(one?.body).toBeInstanceOf(Uint8Array);
    expect(one?.body).toBe(other?.body);
  });

  it("says in its status that nothing is acknowledged [B-HTTP-12]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1, { version: "v1" });
    await http.get(path);
    expect(http.handler.status()).toEqual([
      {
        typeUrl: clusters.typeUrl,
        name: nameOf("web"),
        version: "v1",
        waiting: 0,
        acknowledged: "not reported over HTTP",
      },
    ]);
  });

  it("answers HEAD as GET, without a body and without a wait", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const { headers, text } = await http.get(path);
    const head = await http.get(path, { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, headers, text: "" });
    expect(Number(head.headers["content-length"])).toBe(text.length);
    expect((await http.get(after(path, headers), { method: "HEAD" })).status).toBe(204);
  });

  it("lets pages of other origins read", async () => {
    const http = useHttp();
    const options = await http.get(path, { method: "OPTIONS" });
    expect(options).toMatchObject({
      status: 204,
      headers: { "access-control-allow-methods": "GET, HEAD" },
    });
    expect((await http.get(path)).headers["access-control-allow-origin"]).toBe("*");
  });

  it.each([
    ["/", 400],
    ["", 400],
    ["*", 400],
    ["http://x/y/z", 400],
    ["/%20/a", 400],
    [`/${type}/%ff`, 400],
    [`/${type}/a?after=%ff`, 400],
    [`/${type}/a?%zz=1`, 400],
    [`/${type}/${"a".repeat(9_000)}`, 414],
    ["/no.such.Type/a", 404],
  ])("answers %s with %i and words", async (target, status) => {
    const answer = await useHttp().get(target);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ message: expect.any(String) as string });
  });

  it("answers 405 to other methods", async () => {
    expect(await useHttp().get(path, { method: "POST" })).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD, OPTIONS" },
    });
  });

  it("shows each caller what its policy allows, and keeps that out of shared caches", async () => {
    const policy = createPolicy({ key: "shop", allows: (_, name) => name.endsWith("shop") });
    const views: string[] = [];
    const http = useHttp({
      viewOf: (caller) => {
        if (caller.header("authorization") === undefined)
          throw new XdsError("UNAUTHENTICATED", "secret");
        views.push("open");
        const { cache } = http;
        return {
          source: filterSource(cache, policy),
          key: policy.key,
          release: () => {
            views.pop();
          },
        };
      },
    });
    http.put(nameOf("shop"), 1);
    http.put(nameOf("web"), 2);
    const headers = { authorization: "Bearer x" };
    const shop = await http.get(`/${type}/shop`, { headers });
    expect(shop.seconds).toBe(1);
    expect(shop.headers["cache-control"]).toMatch(/^private, /);
    expect((await http.get(path, { headers })).status).toBe(404);
    const denied = await http.get(path);
    expect(denied.status).toBe(401);
    expect(denied.text).not.toContain("secret");
    // The resource that was found stays followed for 30 seconds.
    expect(views).toEqual(["open"]);
    http.clock.advance(30_000);
    expect(views).toEqual([]);
  });

  it.each([
    [
      "nothing is loaded yet",
      new XdsError("UNAVAILABLE", "the first complete state is not loaded yet"),
      "the first complete state is not loaded yet",
    ],
    ["the rules cannot be read", new Error("secret"), "access cannot be decided now"],
    ["the rules throw", new XdsError("INTERNAL", "secret"), "access cannot be decided now"],
  ])("answers 503 with the reason where %s [S-HTTP-9]", async (_, error, message) => {
    const http = useHttp({
      viewOf: () => {
        throw error;
      },
    });
    const { status, headers, text } = await http.get(path);
    expect([status, headers["retry-after"], JSON.parse(text)]).toEqual([
      503,
      "1",
      { code: "UNAVAILABLE", message },
    ]);
  });

  it("says that nothing is loaded yet where the source is not ready [S-HTTP-9]", async () => {
    const http = useHttp({ viewOf: () => ({ source: createCache({ types: envoyTypes }) }) });
    const { status, headers, text } = await http.get(path);
    expect([status, headers["retry-after"], JSON.parse(text)]).toEqual([
      503,
      "1",
      { code: "UNAVAILABLE", message: "the first complete state is not loaded yet" },
    ]);
  });

  it("keeps the view of a caller from one poll to the next, until the name is not requested any more", async () => {
    const filters = createSharedFilters({});
    const policy = createPolicy({ key: "all", allows: () => true });
    let released = 0;
    const sources = new Set<unknown>();
    const http = useHttp({
      viewOf: () => {
        const lease = filters.acquire(http.cache, policy);
        sources.add(lease.source);
        return {
          source: lease.source,
          key: policy.key,
          release: () => {
            released++;
            lease.release();
          },
        };
      },
    });
    http.put(nameOf("web"), 1);
    for (let count = 0; count < 10; count++) await http.get(path);
    expect([sources.size, http.handler.status().length, released]).toEqual([1, 1, 9]);
    // A change after the last request reaches the kept view.
    http.put(nameOf("web"), 2);
    expect((await http.get(path)).seconds).toBe(2);
    expect([sources.size, released]).toEqual([1, 10]);
    http.clock.advance(30_000);
    expect([http.handler.status().length, released]).toEqual([0, 11]);
  });

  it.each(["at rest", "during a poll"])(
    "releases the view of a caller whose access is revoked %s",
    async (moment) => {
      const revoking = new AbortController();
      let open = 0;
      const http: Http = useHttp({
        viewOf: () => {
          open++;
          return {
            source: http.cache,
            key: "k",
            revoked: revoking.signal,
            release: () => {
              open--;
            },
          };
        },
      });
      http.put(nameOf("web"), 1);
      const { headers } = await http.get(path);
      const poll = moment === "at rest" ? undefined : http.get(after(path, headers));
      await turns();
      expect(open).toBe(poll === undefined ? 1 : 2);
      revoking.abort();
      await poll;
      expect([open, http.handler.status().length]).toEqual([0, 0]);
    },
  );

  it("rejects polls that wait when access is revoked, and ends event streams", async () => {
    const revoking = new AbortController();
    const http: Http = useHttp({
      viewOf: () => ({ source: http.cache, key: "k", revoked: revoking.signal }),
    });
    http.put(nameOf("web"), 1);
    const target = after(path, (await http.get(path)).headers);
    const poll = http.get(target);
    const { body } = await http.send(path, { headers: { accept: "text/event-stream" } });
    const events = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await events.next();
    const last = events.next();
    await turns();
    revoking.abort();
    expect(await poll).toMatchObject({
      status: 403,
      text: expect.stringContaining("revoked") as unknown,
    });
    expect((await last).done).toBe(true);
    expect((await http.get(path)).status).toBe(403);
  });

  it("sends TTL and do_not_cache with events, and protobuf if the URL says so [B-HTTP-15]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1, { version: "v 1", ttlMs: 90_000, noStore: true });
    const { headers } = await http.get(path);
    const id = `v%201@${headers["xds-position"] ?? ""}`;
    const facts = `"version":"v 1","ttl":90,"noStore":true`;
    const json = JSON.stringify({ name: nameOf("web"), connectTimeout: "1s" });
    expect(await (await openEvents(http, path))()).toBe(
      `event: resource\nid: ${id}\ndata: {${facts},"resource":${json}}\n\n`,
    );
    const { body } = await http.send(`${path}?form=protobuf`);
    const base64 = Buffer.from(body as Uint8Array).toString("base64");
    expect(await (await openEvents(http, `${path}?form=protobuf`))()).toBe(
      `event: resource\nid: ${id}\ndata: {${facts},"protobuf":"${base64}"}\n\n`,
    );
    const yaml = await http.get(`${path}?form=yaml`, { headers: { accept: "text/event-stream" } });
    expect([yaml.status, JSON.parse(yaml.text)]).toEqual([
      406,
      { code: "UNIMPLEMENTED", message: "events have form=json or form=protobuf" },
    ]);
  });

  it("sends events of a type that it does not know only in protobuf", async () => {
    const http = useHttp();
    const name = `xdstp://${authority}/acme.Flag/a`;
    http.cache.put({ typeUrl: "type.googleapis.com/acme.Flag", name, value: Uint8Array.of(8, 1) });
    expect(await (await openEvents(http, "/acme.Flag/a?form=protobuf"))()).toContain(
      '"protobuf":"CAE="',
    );
    const headers = { accept: "text/event-stream" };
    expect((await http.get("/acme.Flag/a", { headers })).status).toBe(406);
  });

  it("sends a comment at once to a client that has the state, and later often enough for a TTL [B-HTTP-15]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1, { ttlMs: 9_000 });
    const next = await openEvents(http, path);
    const [, id = ""] = /^id: (.*)$/m.exec(await next()) ?? [];
    const resumed = await openEvents(http, path, id);
    expect(await resumed()).toBe(":\n\n");
    const comments = [next(), resumed()];
    await turns();
    http.clock.advance(2_999);
    await turns();
    expect(http.handler.waiting).toBe(2);
    http.clock.advance(1);
    expect(await Promise.all(comments)).toEqual([":\n\n", ":\n\n"]);
  });

  it("lets no page read the answers, with allowOrigin: false", async () => {
    const http = useHttp({ allowOrigin: false });
    http.put(nameOf("web"), 1);
    const names = Object.keys((await http.get(path)).headers);
    expect(names.filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("counts its answers by status", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    for (const id of ["web", "web", "none"]) await http.get(`/${type}/${id}`);
    expect([...http.handler.answered]).toEqual([
      [200, 2],
      [404, 1],
    ]);
  });

  it("rejects polls over its limit, and serves again when some have ended", async () => {
    const http = useHttp({ limits: { waiting: 2 } });
    http.put(nameOf("web"), 1);
    const target = after(path, (await http.get(path)).headers);
    const left = new AbortController();
    const polls = [http.get(target), http.get(target, { signal: left.signal })];
    await turns();
    expect((await http.get(target)).status).toBe(503);
    left.abort();
    await polls[1];
    const third = http.get(target);
    await turns();
    expect(http.handler.waiting).toBe(2);
    http.put(nameOf("web"), 2);
    expect((await third).seconds).toBe(2);
    await polls[0];
  });

  it("releases ten thousand polls in slices, all with the newest state", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const target = after(path, (await http.get(path)).headers);
    const polls = Array.from({ length: 10_000 }, () => http.get(target));
    await turns();
    expect(http.handler.waiting).toBe(10_000);
    http.put(nameOf("web"), 2);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    http.put(nameOf("web"), 3);
    const seconds = new Set((await Promise.all(polls)).map((answer) => answer.seconds));
    expect(seconds).toEqual(new Set([2, 3]));
    expect(http.handler.waiting).toBe(0);
  });

  it("follows no name that does not exist once its request has ended", async () => {
    const http = useHttp();
    for (let index = 0; index < 100; index++) await http.get(`/${type}/${index}`);
    expect(http.handler.status()).toEqual([]);
    expect(http.cache.counters.topics).toBe(0);
  });

  it("follows a name for a while after its last request", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    await http.get(path);
    http.clock.advance(29_999);
    expect(http.handler.status()).toHaveLength(1);
    http.clock.advance(1);
    expect(http.handler.status()).toEqual([]);
  });

  it("answers 503 to a poll whose access is decided after it closes, and follows nothing for it", async () => {
    const decided = Promise.withResolvers<undefined>();
    const source = createCache({ types: envoyTypes });
    source.put(clusters, { name: nameOf("web") });
    const http = useHttp({
      viewOf: async () => {
        await decided.promise;
        return { source };
      },
    });
    const poll = http.get(`/${type}/web?after=&at=x`);
    http.handler.close();
    decided.resolve(undefined);
    expect((await poll).status).toBe(503);
    expect(http.handler.status()).toEqual([]);
  });

  it("answers all that wait when it closes, and then 503", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const poll = http.get(after(path, (await http.get(path)).headers));
    await turns();
    http.handler.close();
    expect((await poll).status).toBe(204);
    expect((await http.get(path)).status).toBe(503);
  });
});
