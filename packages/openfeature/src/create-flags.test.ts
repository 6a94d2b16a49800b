import { fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { StructSchema, UInt32ValueSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Cache, createCache } from "@xdstp/cache";
import { forwardSource } from "@xdstp/core";
import { createServer } from "@xdstp/server";
import { describe, expect, it, onTestFinished } from "vitest";

import {
  createFlags,
  type Flags,
  type FlagsOptions,
  type RejectedFlags,
  typedFlags,
} from "./index.ts";
import { FlagSyncService } from "./gen/flagd/sync/v1/sync_pb.ts";

const typeUrl = "type.googleapis.com/google.protobuf.Struct";
const nameOf = (id: string): string => `xdstp://acme.example/google.protobuf.Struct/${id}`;

interface Served {
  readonly cache: Cache;
  readonly flags: Flags;
  readonly rejected: readonly RejectedFlags[];
  readonly url: string;
  readonly sync: ReturnType<typeof createClient<typeof FlagSyncService>>;
  readonly put: (id: string, content: JsonObject) => void;
  /** Closes the server, with time for its streams to end. */
  readonly close: () => Promise<void>;
}

/** Serves the flags of a cache on a free port, over both protocols. */
async function useFlags(
  options: Partial<FlagsOptions> = {},
  cache: Cache = createCache(),
): Promise<Served> {
  const rejected: RejectedFlags[] = [];
  const flags = createFlags({
    source: cache,
    collection: nameOf("web/*"),
    onRejected: (one) => rejected.push(one),
    ...options,
  });
  const server = createServer({ source: cache, routes: flags.routes, http: [flags.http] });
  const { host, port } = await server.listen({ port: 0 });
  const url = `http://${host}:${String(port)}`;
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await cache.close();
  });
  return {
    cache,
    flags,
    rejected,
    url,
    sync: createClient(FlagSyncService, createGrpcTransport({ baseUrl: url })),
    put: (id, content) => {
      const value = toBinary(StructSchema, fromJson(StructSchema, content));
      cache.put({ typeUrl, name: nameOf(id), value });
    },
    close: () => server.close({ graceMs: 5_000 }),
  };
}

const flag = (defaultVariant: string, more: JsonObject = {}): JsonObject => ({
  state: "ENABLED",
  variants: { on: true, off: false },
  defaultVariant,
  ...more,
});

async function evaluate(
  url: string,
  path = "",
  body: unknown = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; headers: Headers; body: unknown }> {
  const answer = await fetch(`${url}/ofrep/v1/evaluate/flags${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === "" ? undefined : (JSON.parse(text) as unknown),
  };
}

/** Returns the next message of a stream that has not ended. */
async function nextOf<T>(stream: AsyncIterator<T>): Promise<T> {
  const result = await stream.next();
  if (result.done === true) throw new Error("the stream has ended");
  return result.value;
}

const definitions = (json: string): unknown => (JSON.parse(json) as { flags: unknown }).flags;

describe("createFlags().routes", () => {
  it("sends all flags of the collection, and sends them again after a change", async () => {
    const { sync, put } = await useFlags({ syncContext: { env: "test" } });
    put("web/cart", flag("on"));
    put("other/cart", flag("on"));
    const stream = sync.syncFlags({})[Symbol.asyncIterator]();
    const first = await nextOf(stream);
    expect(definitions(first.flagConfiguration)).toEqual({ cart: flag("on") });
    expect(first.syncContext).toEqual({ env: "test" });
    put("web/cart", flag("off"));
    put("web/pay", flag("on"));
    let flags = definitions((await nextOf(stream)).flagConfiguration);
    if (Object.keys(flags as object).length === 1)
      flags = definitions((await nextOf(stream)).flagConfiguration);
    expect(flags).toEqual({ cart: flag("off"), pay: flag("on") });
    await stream.return?.();
  });

  it("ends streams with UNAVAILABLE when the server closes, so that each provider comes back", async () => {
    const { sync, put, close } = await useFlags();
    put("web/dark", flag("on"));
    const stream = sync.syncFlags({})[Symbol.asyncIterator]();
    await nextOf(stream);
    const end = expect(stream.next()).rejects.toThrow("[unavailable]");
    await close();
    await end;
  });

  it("selects another collection by the request, and by the header first", async () => {
    const { sync, put } = await useFlags();
    put("web/cart", flag("on"));
    put("shop/pay", flag("off"));
    const selector = nameOf("shop/*");
    const byField = await sync.fetchAllFlags({ selector });
    expect(definitions(byField.flagConfiguration)).toEqual({ pay: flag("off") });
    const byHeader = await sync.fetchAllFlags(
      { selector: nameOf("web/*") },
      { headers: { "flagd-selector": selector } },
    );
    expect(byHeader).toEqual(byField);
    expect((await sync.getMetadata({})).metadata).toEqual({});
  });

  it.each([
    ["flagSetId=app", 'the selector "flagSetId=app" is not an xdstp name or glob'],
    ["xdstp://a/envoy.config.cluster.v3.Cluster/*", "flags are served from"],
  ])("rejects the selector %s with the reason", async (selector, reason) => {
    const { sync } = await useFlags();
    await expect(sync.fetchAllFlags({ selector })).rejects.toThrow(reason);
  });

  it("keeps the last valid flags of a resource that is rejected, and reports it once", async () => {
    const { sync, put, rejected } = await useFlags();
    put("web/cart", flag("on"));
    await sync.fetchAllFlags({});
    put("web/cart", flag("blue"));
    put("web/pay", flag("off"));
    put("web/none", { state: "ENABLED" });
    const { flagConfiguration } = await sync.fetchAllFlags({});
    expect(definitions(flagConfiguration)).toEqual({ cart: flag("on"), pay: flag("off") });
    await sync.fetchAllFlags({});
    expect(rejected).toEqual([
      { name: nameOf("web/cart"), reason: expect.stringContaining("blue") as string },
      {
        name: nameOf("web/none"),
        reason: "none: variants is missing; give an object with a value for each variant",
      },
    ]);
  });

  it("keeps the last flags when a collection is larger than its limit", async () => {
    const { sync, put, rejected } = await useFlags({ limits: { documentBytes: 200 } });
    put("web/cart", flag("on"));
    const before = await sync.fetchAllFlags({});
    put("web/pay", flag("on", { metadata: { text: "x".repeat(200) } }));
    expect(await sync.fetchAllFlags({})).toEqual(before);
    expect(rejected).toMatchObject([{ name: nameOf("web/*") }]);
  });

  it("reads sets of flags, with their evaluators and metadata, and reports a key that is there twice", async () => {
    const { sync, put, rejected } = await useFlags();
    const rule = { in: ["@acme.example", { var: "email" }] };
    put("web/set", {
      flags: { cart: flag("off", { targeting: { if: [{ $ref: "staff" }, "on"] } }) },
      $evaluators: { staff: rule },
      metadata: { team: "shop" },
    });
    put("web/zzz", { flags: { cart: flag("on") } });
    const { flagConfiguration } = await sync.fetchAllFlags({});
    expect(definitions(flagConfiguration)).toEqual({
      cart: flag("off", { targeting: { if: [rule, "on"] }, metadata: { team: "shop" } }),
    });
    expect(rejected).toEqual([
      { name: nameOf("web/zzz"), reason: expect.stringContaining(nameOf("web/set")) as string },
    ]);
  });

  it("follows no more collections than the limit", async () => {
    const { sync, put } = await useFlags({ limits: { collections: 1 } });
    put("web/cart", flag("on"));
    const stream = sync.syncFlags({})[Symbol.asyncIterator]();
    const first = stream.next();
    await expect(sync.fetchAllFlags({ selector: nameOf("shop/*") })).rejects.toThrow(
      '1 collections of flags are followed already; raise the limit "collections"',
    );
    await first;
    await stream.return?.();
  });
});

describe("createFlags().http", () => {
  it("evaluates one flag by its targeting", async () => {
    const { url, put } = await useFlags();
    put("web/cart", flag("off", { targeting: { if: [{ "==": [{ var: "plan" }, "pro"] }, "on"] } }));
    expect((await evaluate(url, "/cart", { context: { plan: "pro" } })).body).toEqual({
      key: "cart",
      value: true,
      variant: "on",
      reason: "TARGETING_MATCH",
      metadata: {},
    });
    expect((await evaluate(url, "/cart")).body).toMatchObject({ value: false, reason: "DEFAULT" });
    const missing = await evaluate(url, "/none");
    expect(missing).toMatchObject({ status: 404, body: { errorCode: "FLAG_NOT_FOUND" } });
  });

  it("evaluates all flags, answers 304 until a value changes, and leaves a disabled flag to the caller", async () => {
    const { url, put } = await useFlags();
    put("web/cart", flag("on"));
    put("web/pay", flag("on", { state: "DISABLED" }));
    const first = await evaluate(url);
    expect(first.body).toEqual({
      flags: [
        { key: "cart", value: true, variant: "on", reason: "STATIC", metadata: {} },
        { key: "pay", reason: "DISABLED", metadata: {} },
      ],
      eventStreams: [{ type: "sse", endpoint: { requestUri: "/ofrep/v1/events" } }],
    });
    const known = { "if-none-match": first.headers.get("etag") ?? "" };
    expect((await evaluate(url, "", {}, known)).status).toBe(304);
    put("web/cart", flag("off"));
    expect((await evaluate(url, "", {}, known)).status).toBe(200);
  });

  it("sends an event for the present flags and for each change, and none that the client has seen", async () => {
    const { url, put } = await useFlags();
    put("web/cart", flag("on"));
    const ended = new AbortController();
    const { signal } = ended;
    const read = async (lastId?: string): Promise<() => Promise<string>> => {
      const answer = await fetch(`${url}/ofrep/v1/events`, {
        signal,
        headers: lastId === undefined ? {} : { "last-event-id": lastId },
      });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      return async () => (await reader?.read())?.value ?? "";
    };
    const next = await read();
    const first = await next();
    const [, id = ""] = /^id: (.+)$/m.exec(first) ?? [];
    expect(first).toContain(`data: {"type":"refetchEvaluation","etag":"\\"${id}\\""}`);
    const resumed = await read(id);
    put("web/cart", flag("off"));
    for (const event of [await next(), await resumed()]) {
      expect(event).toContain("refetchEvaluation");
      expect(event).not.toContain(id);
    }
    ended.abort();
  });

  it.each([
    ["{", 400, "PARSE_ERROR"],
    ["[]", 400, "PARSE_ERROR"],
    ['{"context":[]}', 400, "INVALID_CONTEXT"],
    ['{"context":{"targetingKey":1}}', 400, "INVALID_CONTEXT"],
    [JSON.stringify({ context: { text: "x".repeat(70_000) } }), 413, "GENERAL"],
  ])("rejects a body such as %.20s with status %i", async (body, status, errorCode) => {
    const { url } = await useFlags();
    expect(await evaluate(url, "", body)).toMatchObject({ status, body: { errorCode } });
  });

  it.each(["/%zz", "/a/b"])("rejects the path %s", async (path) => {
    const { url } = await useFlags();
    expect([400, 404]).toContain((await evaluate(url, path)).status);
  });

  it("does not read members of the prototype of an object as flags or values", async () => {
    const { url, put } = await useFlags();
    put("web/cart", flag("off", { targeting: { var: "__proto__.polluted" } }));
    expect((await evaluate(url, "/__proto__")).status).toBe(404);
    expect((await evaluate(url, "/constructor")).status).toBe(404);
    const context = '{"context":{"__proto__":{"polluted":"on"},"targetingKey":"a"}}';
    await evaluate(url, "/cart", context);
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  });

  it("answers 429 with retry-after to an address with too many requests", async () => {
    const clock = { now: () => 0, wallTime: () => 0, after: () => ({ cancel: () => undefined }) };
    const { url, put } = await useFlags({ limits: { requestsPerSecond: 2 }, clock });
    put("web/cart", flag("on"));
    const statuses: number[] = [];
    for (let count = 0; count < 3; count++) statuses.push((await evaluate(url)).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await evaluate(url)).headers.get("retry-after")).toBe("1");
  });

  it("answers 503 with retry-after while nothing is known", async () => {
    const { url } = await useFlags({ limits: { settleMs: 1 } });
    const { status, headers, body } = await evaluate(url);
    expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
    expect(body).toEqual({ errorCode: "GENERAL", errorDetails: "the flags are not known yet" });
  });

  it("lets pages of the allowed origin evaluate, and no page with false", async () => {
    const allowed = await useFlags({ allowOrigin: "https://app.example" });
    const asked = await fetch(`${allowed.url}/ofrep/v1/evaluate/flags`, { method: "OPTIONS" });
    expect(asked.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(asked.headers.get("access-control-allow-headers")).toContain("if-none-match");
    const closed = await useFlags({ allowOrigin: false });
    closed.put("web/cart", flag("on"));
    const { headers } = await evaluate(closed.url);
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });

  it("ends event streams and rejects requests of a caller whose access is revoked", async () => {
    const revoked = new AbortController();
    const cache = createCache();
    const { url, put, sync } = await useFlags(
      { viewOf: () => ({ source: cache, revoked: revoked.signal }) },
      cache,
    );
    put("web/cart", flag("on"));
    const events = await fetch(`${url}/ofrep/v1/events`);
    const stream = sync.syncFlags({})[Symbol.asyncIterator]();
    await stream.next();
    revoked.abort();
    expect(await events.text()).toContain("refetchEvaluation");
    await expect(stream.next()).rejects.toThrow("access was revoked");
    expect((await evaluate(url)).status).toBe(403);
  });
});

describe("createFlags().follow()", () => {
  const broken = flag("neither");

  it("reports resources that are not valid before a caller uses them, and each once over all callers", async () => {
    const cache = createCache();
    const views = [forwardSource(cache, {}), forwardSource(cache, {})];
    let calls = 0;
    const { url, put, flags, rejected } = await useFlags(
      { viewOf: () => ({ source: views[calls++ % 2] ?? cache }) },
      cache,
    );
    put("web/cart", broken);
    const ended = new AbortController();
    flags.follow(ended.signal);
    expect(rejected.map(({ name }) => name)).toEqual([nameOf("web/cart")]);
    put("web/pay", broken);
    await expect.poll(() => rejected.length).toBe(2);
    await evaluate(url);
    await evaluate(url);
    expect([rejected.length, flags.status().collections]).toEqual([2, 3]);
    ended.abort();
  });

  it("does not follow a collection any more when its signal has aborted", async () => {
    const { cache, put, flags, rejected } = await useFlags({ limits: { keepMs: 1 } });
    const ended = new AbortController();
    flags.follow(ended.signal);
    ended.abort();
    await expect.poll(() => cache.counters.topics).toBe(0);
    put("web/cart", broken);
    expect([rejected, flags.status().collections]).toEqual([[], 0]);
  });
});

describe("createFlags().status()", () => {
  it("counts answers by status, and streams while they are open", async () => {
    const { url, put, sync, flags } = await useFlags();
    put("web/cart", flag("on"));
    await evaluate(url, "/cart");
    await evaluate(url, "/none");
    await evaluate(url, "/none");
    const left = new AbortController();
    await fetch(`${url}/ofrep/v1/events`, { signal: left.signal });
    await nextOf(sync.syncFlags({}, { signal: left.signal })[Symbol.asyncIterator]());
    const { answered, ...now } = flags.status();
    expect([...answered]).toEqual([
      [200, 2],
      [404, 2],
    ]);
    expect(now).toEqual({ eventStreams: 1, syncStreams: 1, collections: 1 });
    left.abort();
    await expect
      .poll(() => flags.status())
      .toMatchObject({ eventStreams: 0, syncStreams: 0, collections: 1 });
  });
});

describe("typedFlags()", () => {
  it("translates messages of a type to flags", async () => {
    const reader = typedFlags(UInt32ValueSchema, ({ value }) => ({
      state: "ENABLED",
      variants: { value },
      defaultVariant: "value",
    }));
    const cache = createCache();
    const type = "google.protobuf.UInt32Value";
    const collection = `xdstp://acme.example/${type}/limits/*`;
    const { url } = await useFlags({ reader, collection }, cache);
    const value = toBinary(UInt32ValueSchema, { $typeName: type, value: 7 });
    const name = `xdstp://acme.example/${type}/limits/items`;
    cache.put({ typeUrl: `type.googleapis.com/${type}`, name, value });
    expect((await evaluate(url, "/items")).body).toMatchObject({ value: 7, reason: "STATIC" });
  });
});
