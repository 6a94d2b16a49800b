import { createServer as createHttp1 } from "node:http";
import { connect, constants, createServer as createHttp2 } from "node:http2";
import { type AddressInfo, connect as connectTcp, type Server } from "node:net";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { authority, type Http, nameOf, turns, type, useHttp } from "../../test/use-http.ts";
import { createHttpListener, createHttpRoute } from "./index.ts";

const path = `/${type}/web`;

/** Listens on a free port of the loopback, for the time of the test. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function useHttp1(http: Http): Promise<string> {
  const server = createHttp1({ keepAliveTimeout: 1 }, createHttpListener(http.handler));
  return `http://127.0.0.1:${String(await listen(server))}${path}`;
}

function useOne(): Http {
  const http = useHttp({ authority });
  http.put(nameOf("web"), 1);
  return http;
}

async function waitingFor(http: Http, count: number): Promise<void> {
  while (http.handler.waiting !== count)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

describe("createHttpListener()", () => {
  it("serves resources over HTTP/1.1, and revalidates [B-HTTP-5]", async () => {
    const url = await useHttp1(useOne());
    const answer = await fetch(url);
    expect(await answer.json()).toEqual({ name: nameOf("web"), connectTimeout: "1s" });
    const again = await fetch(url, {
      headers: { "if-none-match": answer.headers.get("etag") ?? "" },
    });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await fetch(url, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe(answer.headers.get("content-length"));
  });

  it("serves resources over HTTP/2, by the authority of the request [B-HTTP-1]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const port = await listen(createHttp2(createHttpListener(http.handler)));
    const session = connect(`http://127.0.0.1:${String(port)}`);
    const stream = session.request({
      [constants.HTTP2_HEADER_AUTHORITY]: authority,
      [constants.HTTP2_HEADER_PATH]: path,
    });
    let text = "";
    for await (const part of stream.setEncoding("utf8")) text += String(part);
    expect(JSON.parse(text)).toMatchObject({ connectTimeout: "1s" });
    await new Promise<void>((resolve) => {
      session.close(resolve);
    });
  });

  it("takes host and path of a target that is a whole URL [B-HTTP-1]", async () => {
    const http = useHttp();
    http.put(nameOf("web"), 1);
    const port = await listen(
      createHttp1({ keepAliveTimeout: 1 }, createHttpListener(http.handler)),
    );
    const socket = connectTcp(port, "127.0.0.1");
    socket.write(
      `GET http://${authority}${path} HTTP/1.1\r\nhost: other.example\r\nconnection: close\r\n\r\n`,
    );
    let text = "";
    for await (const part of socket.setEncoding("utf8")) text += String(part);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('"connectTimeout":"1s"');
  });

  it("serves as one of several listeners, and leaves other methods to the next [S-LIM-8]", async () => {
    const callers: string[] = [];
    const http: Http = useHttp({
      authority,
      viewOf: ({ peer, identity }) => {
        callers.push(`${peer} ${identity?.uris.join() ?? ""}`);
        return { source: http.cache };
      },
    });
    http.put(nameOf("web"), 1);
    const route = createHttpRoute(http.handler);
    const identity = { uris: ["spiffe://a/b"], dnsNames: [], subject: "", fingerprint: "" };
    const server = createHttp1({ keepAliveTimeout: 1 }, (request, response) => {
      if (route(request, response, { address: "10.0.0.1:5", identity })) return;
      response.statusCode = 418;
      response.end();
    });
    const url = `http://127.0.0.1:${String(await listen(server))}${path}`;
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url, { method: "POST", body: "x" })).status).toBe(418);
    expect(callers).toEqual(["10.0.0.1:5 spiffe://a/b"]);
  });

  it("ends the poll of a client that disconnects", async () => {
    const http = useOne();
    const url = await useHttp1(http);
    const version = (await fetch(url)).headers.get("xds-version") ?? "";
    const left = new AbortController();
    const poll = fetch(`${url}?after=${version}`, { signal: left.signal });
    await waitingFor(http, 1);
    left.abort();
    await expect(poll).rejects.toThrow("abort");
    await waitingFor(http, 0);
  });

  it("sends events, the first at once, and each change", async () => {
    const http = useOne();
    const { events, leave } = await openEvents(await useHttp1(http));
    expect(await events.next()).toMatchObject({
      value: { event: "resource", data: { resource: { connectTimeout: "1s" } } },
    });
    await waitingFor(http, 1);
    http.put(nameOf("web"), 2);
    expect(await events.next()).toMatchObject({
      value: { data: { resource: { connectTimeout: "2s" } } },
    });
    await waitingFor(http, 1);
    http.clock.advance(15_000);
    expect(await events.next()).toMatchObject({ value: { event: "", data: undefined } });
    await waitingFor(http, 1);
    http.remove(nameOf("web"));
    expect(await events.next()).toMatchObject({ value: { event: "missing" } });
    leave();
    await waitingFor(http, 0);
  });

  it("sends no event that the client has seen", async () => {
    const http = useOne();
    const url = await useHttp1(http);
    const first = await openEvents(url);
    const { value } = await first.events.next();
    first.leave();
    await waitingFor(http, 0);
    const second = await openEvents(url, value?.id);
    expect(await second.events.next()).toMatchObject({ value: { event: "", data: undefined } });
    await waitingFor(http, 1);
    http.put(nameOf("web"), 2);
    expect(await second.events.next()).toMatchObject({
      value: { data: { resource: { connectTimeout: "2s" } } },
    });
    second.leave();
  });

  it("destroys the connection of a client that does not read its answer", async () => {
    const http = useHttp({ authority });
    const name = nameOf("web");
    http.cache.put({
      typeUrl: `type.googleapis.com/${type}`,
      name,
      value: new Uint8Array(64 * 1024 * 1024),
    });
    const listener = createHttpListener(http.handler, { clock: http.clock, writeMs: 1_000 });
    const port = await listen(createHttp1(listener));
    const socket = connectTcp(port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(`GET ${path}?form=protobuf HTTP/1.1\r\nhost: x\r\n\r\n`);
    while (http.clock.pending === 0) await turns();
    await turns();
    http.clock.advance(1_000);
    socket.resume();
    await closed;
    expect(socket.bytesRead).toBeLessThan(64 * 1024 * 1024);
  });

  it("keeps nothing of requests over HTTP/2 that their client has reset", async () => {
    const http = useOne();
    const clock = createFakeClock();
    const port = await listen(createHttp2(createHttpListener(http.handler, { clock })));
    const session = connect(`http://127.0.0.1:${String(port)}`);
    const version = (await http.get(path)).headers["xds-version"] ?? "";
    const polls = Array.from({ length: 20 }, () =>
      session.request({ [constants.HTTP2_HEADER_PATH]: `${path}?after=${version}` }),
    );
    await waitingFor(http, 20);
    for (const poll of polls) poll.close(constants.NGHTTP2_CANCEL);
    await waitingFor(http, 0);
    await turns();
    expect(clock.pending).toBe(0);
    session.destroy();
  });

  it("answers 500 if the identity of a client cannot be read, and goes on", async () => {
    const http = useOne();
    let isBroken = true;
    const listener = createHttpListener(http.handler, {
      identityOf: () => {
        if (isBroken) throw new Error("no certificate");
        return undefined;
      },
    });
    const port = await listen(createHttp1({ keepAliveTimeout: 1 }, listener));
    const url = `http://127.0.0.1:${String(port)}${path}`;
    expect((await fetch(url)).status).toBe(500);
    isBroken = false;
    expect((await fetch(url)).status).toBe(200);
  });

  it.each([
    ["is not HTTP", "\0\0\0\0\r\n\r\n"],
    ["has a path of 100,000 characters", `GET /${"a".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ["has no host", `GET ${path} HTTP/1.0\r\n\r\n`],
  ])("outlives a request that %s", async (_, text) => {
    const url = await useHttp1(useOne());
    const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => undefined);
    socket.resume();
    socket.end(text);
    await closed;
    expect((await fetch(url)).status).toBe(200);
  });
});

interface TestEvent {
  readonly event: string;
  readonly id: string;
  readonly data: unknown;
}

/** Opens an event stream. Call `leave` to disconnect. */
async function openEvents(
  url: string,
  lastId?: string,
): Promise<{ readonly events: AsyncGenerator<TestEvent, void>; readonly leave: () => void }> {
  const left = new AbortController();
  const answer = await fetch(url, {
    headers: {
      accept: "text/event-stream",
      ...(lastId !== undefined && { "last-event-id": lastId }),
    },
    signal: left.signal,
  });
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  return {
    events: readEvents(answer),
    leave: () => {
      left.abort();
    },
  };
}

/** Reads the events of an answer. */
async function* readEvents({ body }: Response): AsyncGenerator<TestEvent, void> {
  let text = "";
  for await (const part of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      yield readEvent(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function readEvent(text: string): TestEvent {
  const field = (name: string): string | undefined =>
    text
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const data = field("data");
  return {
    event: field("event") ?? "",
    id: field("id") ?? "",
    data: data === undefined ? undefined : (JSON.parse(data) as unknown),
  };
}
