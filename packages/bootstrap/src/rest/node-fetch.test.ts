import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { TLSSocket } from "node:tls";

import { parseTarget } from "@xdstp/grpc/client";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { useFolder } from "../../test/use-folder.ts";
import { createNodeFetch, type NodeFetch } from "./node-fetch.ts";

async function useServer(server: Server, ...where: readonly [string] | []): Promise<string> {
  const path = where[0];
  await new Promise<void>((resolve) => {
    if (path === undefined) server.listen(0, "127.0.0.1", resolve);
    else server.listen(path, resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return path === undefined
    ? `127.0.0.1:${String((server.address() as AddressInfo).port)}`
    : `unix:${path}`;
}

function useFetch(...call: Parameters<typeof createNodeFetch>): NodeFetch {
  const made = createNodeFetch(...call);
  onTestFinished(() => {
    made.close();
  });
  return made;
}

/** Sends a request, and returns the text of the answer. */
async function ask({ fetch }: NodeFetch, signal = new AbortController().signal): Promise<string> {
  const { status, headers, body } = await fetch("http://not.used/v3/discovery:clusters", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: Buffer.from("{}"),
    signal,
    redirect: "error",
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return `${String(status)} ${headers.get("x-a") ?? "none"} ${Buffer.concat(chunks).toString()}`;
}

/** Answers with what was requested. */
const echo: RequestListener = (request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    response.writeHead(203, { "x-a": "b" });
    response.end(`${request.method ?? ""} ${request.url ?? ""} ${body}`);
  });
};
const echoed = "203 b POST /v3/discovery:clusters {}";

describe("createNodeFetch()", () => {
  it("sends the request to the target, and keeps the connection for the next one [C-REST-6]", async () => {
    const server = createServer(echo);
    let connections = 0;
    server.on("connection", () => connections++);
    const http = useFetch(parseTarget(await useServer(server)));
    expect([await ask(http), await ask(http)]).toEqual([echoed, echoed]);
    expect(connections).toBe(1);
  });

  it("reaches a server on a socket in the file system", async () => {
    const at = useFolder();
    const http = useFetch(parseTarget(await useServer(createServer(echo), at("xds.sock"))));
    expect(await ask(http)).toBe(echoed);
  });

  it("sends a request again if the server has closed the idle connection, and rejects if it closes a new one", async () => {
    let requests = 0;
    const server = createServer((request, response) => {
      requests++;
      if (requests % 2 === 0) request.socket.destroy();
      else echo(request, response);
    });
    const target = parseTarget(await useServer(server));
    const http = useFetch(target);
    expect([await ask(http), await ask(http)]).toEqual([echoed, echoed]);
    expect(requests).toBe(3);
    const fresh = useFetch(target);
    await expect(ask(fresh)).rejects.toThrow("socket hang up");
  });

  it("ends a request that is aborted while the server holds it [C-REST-7]", async () => {
    const asked = new AbortController();
    const held = createServer(() => {
      asked.abort();
    });
    const http = useFetch(parseTarget(await useServer(held)));
    await expect(ask(http, asked.signal)).rejects.toThrow("aborted");
  });

  it("presents its certificate, uses the next one after it is replaced, and rejects an invalid one", async () => {
    const authority = createTestAuthority();
    const server = createTlsServer(
      {
        ...authority.issue({ addresses: ["127.0.0.1"] }),
        ca: authority.cert,
        requestCert: true,
      },
      ({ socket }, response) => {
        const peer = socket instanceof TLSSocket ? socket.getPeerCertificate() : undefined;
        response.end(String(peer?.subject.CN));
      },
    );
    const target = parseTarget(await useServer(server));
    const http = useFetch(target, { ca: authority.cert, ...authority.issue({ name: "one" }) });
    expect(await ask(http)).toBe("200 none one");
    http.replaceTls({ ca: authority.cert, ...authority.issue({ name: "two" }) });
    expect(await ask(http)).toBe("200 none two");
    expect(() => {
      http.replaceTls({ ca: "none" });
    }).toThrow("[INVALID_ARGUMENT]");
    expect(await ask(http)).toBe("200 none two");
    const other = useFetch(target, { ca: createTestAuthority().cert });
    await expect(ask(other)).rejects.toThrow("certificate");
  });
});
