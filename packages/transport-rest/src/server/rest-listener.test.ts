import { once } from "node:events";
import { createServer as createHttp1, type IncomingMessage } from "node:http";
import { connect, createServer as createHttp2, constants } from "node:http2";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect as connectTcp } from "node:net";
import type { Server } from "node:net";
import type { HttpListener } from "@xdstp/server";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { turns, useRest } from "../../test/use-rest.ts";
import { createRestListener, createRestRoute } from "./index.ts";

type Rest = ReturnType<typeof useRest>;

/** Listens on a free port of the loopback, for the time of the test. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** The clock of a handler stands still, so a poll without an update waits until it is moved. */
async function useHttp1(rest: Rest): Promise<string> {
  const server = createHttp1({ keepAliveTimeout: 1 }, createRestListener(rest.handler));
  return `http://127.0.0.1:${String(await listen(server))}/v3/discovery:clusters`;
}

type PollInit = Omit<RequestInit, "headers"> & {
  readonly headers?: Readonly<Record<string, string>>;
};

const poll = (url: string, init: PollInit = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    body: '{"node":{"id":"n"}}',
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
  });

describe("createRestListener()", () => {
  it("serves polls over HTTP/1.1 [S-REST-1]", async () => {
    const rest = useRest();
    rest.put("a", 1);
    const url = await useHttp1(rest);
    const answer = await poll(`${url}?x=1`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(await answer.json()).toMatchObject({ resources: [{ name: "a", connectTimeout: "1s" }] });
  });

  it("serves polls over HTTP/2 [S-REST-1]", async () => {
    const rest = useRest();
    rest.put("a", 1);
    const port = await listen(createHttp2(createRestListener(rest.handler)));
    const session = connect(`http://127.0.0.1:${String(port)}`);
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: "/v3/discovery:clusters",
    });
    stream.end('{"node":{"id":"n"}}');
    let text = "";
    for await (const part of stream.setEncoding("utf8")) text += String(part);
    expect(JSON.parse(text)).toMatchObject({ resources: [{ name: "a" }] });
    await new Promise<void>((resolve) => {
      session.close(resolve);
    });
  });

  it("sends an answer again over HTTP/2 whose stream the client has reset [S-REST-3]", async () => {
    const rest = useRest();
    rest.put("a", 1);
    const port = await listen(createHttp2(createRestListener(rest.handler)));
    const session = connect(`http://127.0.0.1:${String(port)}`, {
      settings: { initialWindowSize: 0 },
    });
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: "/v3/discovery:clusters",
    });
    stream.end('{"node":{"id":"n"}}');
    await new Promise((resolve) => stream.on("response", resolve));
    const closed = new Promise((resolve) => stream.on("close", resolve));
    stream.close(constants.NGHTTP2_CANCEL);
    await closed;
    await new Promise<void>((resolve) => {
      session.close(resolve);
    });
    await turns();
    expect(await rest.poll({ host: "127.0.0.1" })).toMatchObject({ clusters: ["a=1"] });
  });

  it("answers 500 if the identity of a client cannot be read, and goes on", async () => {
    const rest = useRest();
    rest.put("a", 1);
    let isBroken = true;
    const listener = createRestListener(rest.handler, () => {
      if (isBroken) throw new Error("no certificate");
      return undefined;
    });
    const port = await listen(createHttp1({ keepAliveTimeout: 1 }, listener));
    const url = `http://127.0.0.1:${String(port)}/v3/discovery:clusters`;
    expect((await poll(url)).status).toBe(500);
    isBroken = false;
    expect((await poll(url)).status).toBe(200);
  });

  it("reads no more of a body than its limit", async () => {
    const url = await useHttp1(useRest({ bodyBytes: 1_000 }));
    const answer = await poll(url, { body: "x".repeat(100_000) });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  });

  it("ends the poll of a client that disconnects, and answers others", async () => {
    const rest = useRest();
    rest.put("a", 1);
    const url = await useHttp1(rest);
    const { versionInfo } = (await (await poll(url)).json()) as { readonly versionInfo: string };
    const left = new AbortController();
    const held = poll(url, {
      signal: left.signal,
      headers: { prefer: "wait=30" },
      body: JSON.stringify({ node: { id: "n" }, versionInfo }),
    });
    left.abort();
    await expect(held).rejects.toThrow("abort");
    rest.put("a", 2);
    const answer = await poll(url, { body: JSON.stringify({ node: { id: "n" }, versionInfo }) });
    expect(await answer.json()).toMatchObject({ resources: [{ connectTimeout: "2s" }] });
    expect(rest.handler.sessions).toBe(1);
  });

  it.each([
    [
      "is cut in its body",
      "POST /v3/discovery:clusters HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{",
    ],
    ["is not HTTP", "\0\0\0\0\r\n\r\n"],
  ])("outlives a request that %s", async (_, text) => {
    const rest = useRest();
    rest.put("a", 1);
    const url = await useHttp1(rest);
    const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => undefined);
    socket.resume();
    socket.end(text);
    await closed;
    expect((await poll(url)).status).toBe(200);
  });
});

describe("createRestRoute()", () => {
  it("serves polls on the port of a server, and leaves other paths to the next listener [S-REST-1]", async () => {
    let listener: HttpListener = () => false;
    const next: HttpListener = (request, response) => {
      response.end(`next: ${request.url ?? ""}`);
      return true;
    };
    const rest = useRest({}, { http: [(...request) => listener(...request), next] });
    listener = createRestRoute(rest.handler);
    rest.put("a", 1);
    const { port } = await rest.server.listen({ port: 0 });
    const url = `http://127.0.0.1:${String(port)}`;
    const answer = await poll(`${url}/v3/discovery:clusters?x=1`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ resources: [{ name: "a" }] });
    expect(await (await fetch(`${url}/v3/other`)).text()).toBe("next: /v3/other");
  });

  it("counts a client by its certificate [S-REST-3]", async () => {
    const authority = createTestAuthority();
    const tls = { ...authority.issue({ dnsNames: ["localhost"] }), clientCa: authority.cert };
    let listener: HttpListener = () => false;
    const seen: unknown[] = [];
    const rest = useRest(
      {},
      {
        tls,
        http: [(...request) => listener(...request)],
        authorize: ({ identity }) => {
          seen.push(identity?.uris);
          return { key: "all", allows: () => true };
        },
      },
    );
    listener = createRestRoute(rest.handler);
    rest.put("a", 1);
    const { port } = await rest.server.listen({ port: 0 });
    const request = httpsRequest({
      method: "POST",
      host: "localhost",
      port,
      path: "/v3/discovery:clusters",
      headers: { "content-type": "application/json" },
      ca: authority.cert,
      ...authority.issue({ uris: ["spiffe://a/b"] }),
    });
    request.end('{"node":{"id":"n"}}');
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    answer.resume();
    expect([answer.statusCode, seen]).toEqual([200, [["spiffe://a/b"]]]);
  });
});
