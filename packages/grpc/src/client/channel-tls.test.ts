import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { StatusCode } from "@xdstp/core";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { useChannel, type ClientSeen } from "../../test/use-channel.ts";
import { messageOf, useServer } from "../../test/use-server.ts";
import { createGrpcChannel } from "./grpc-channel.ts";

const authority = createTestAuthority();
const own = authority.issue({
  name: "server",
  dnsNames: ["localhost", "xds.example"],
  addresses: ["127.0.0.1"],
});
const ca = authority.cert;

async function echoed(call: ClientSeen, text: string): Promise<void> {
  const before = call.messages.length;
  call.stream.send(messageOf(text));
  await call.has(before + 1);
  expect(call.messages[before]?.toString()).toBe(text);
}

describe("createGrpcChannel() with TLS", () => {
  test("carries messages to a server whose certificate is for the host, by name or address, or for the name that is given", async () => {
    const server = await useServer({ tls: own });
    await echoed(useChannel(`localhost:${server.port}`, { tls: { ca } }).call(), "name");
    await echoed(useChannel(`127.0.0.1:${server.port}`, { tls: { ca } }).call(), "address");
    await echoed(
      useChannel(`127.0.0.1:${server.port}`, { tls: { ca, servername: "xds.example" } }).call(),
      "override",
    );
    expect(server.calls[0]?.call.headers[":scheme"]).toBe("https");
  });

  test("shows its certificate", async () => {
    const server = await useServer({ tls: { ...own, clientCa: ca } });
    await echoed(
      useChannel(server.port, {
        tls: { ca, ...authority.issue({ uris: ["spiffe://td/a"] }) },
      }).call(),
      "x",
    );
    expect(server.calls[0]?.call.peer.identity?.uris).toEqual(["spiffe://td/a"]);
    const { code, message } = await useChannel(server.port, { tls: { ca } }).call().closed;
    expect(code).toBe(StatusCode.UNAVAILABLE);
    expect(message).toContain(
      "the server wants a client certificate that it trusts (INADEQUATE_SECURITY); give one as tls.cert and tls.key",
    );
  });

  test.each([
    [
      "another name",
      { ca, servername: "other.example" },
      /: its certificate is for DNS:localhost, DNS:xds\.example, IP Address:127\.0\.0\.1 \(ERR_TLS_CERT_ALTNAME_INVALID\); check the name, or set tls\.servername$/,
    ],
    [
      "another authority",
      { ca: createTestAuthority("other").cert },
      /: the authority that signed its certificate is not trusted here \(\w+\); give it as tls\.ca$/,
    ],
    [
      "the authorities of the machine",
      {},
      /: the authority that signed its certificate is not trusted here \(\w+\); give it as tls\.ca$/,
    ],
  ])("tells of a server whose certificate does not hold: %s", async (_, tls, text) => {
    const server = await useServer({ tls: own });
    const { code, message } = await useChannel(server.port, { tls }).call().closed;
    expect({ code, message }).toEqual({
      code: StatusCode.UNAVAILABLE,
      message: expect.stringMatching(text) as string,
    });
  });

  test("tells of a certificate that has ended", async () => {
    const clock = Date.now();
    const ended = authority.issue({ dnsNames: ["localhost"], notAfter: new Date(clock - 1000) });
    // A server with a clock of its own takes it.
    const server = await useServer({ tls: ended });
    expect((await useChannel(server.port, { tls: { ca } }).call().closed).message).toMatch(
      /its certificate is not valid now \(CERT_HAS_EXPIRED\); renew it, or set the clock$/,
    );
  });

  test.each([
    ["nothing", []],
    ["another protocol", ["http/1.1"]],
  ])("speaks to nobody that offers %s in ALPN", async (_, ALPNProtocols) => {
    const server = createServer({ ...own, ALPNProtocols }, (socket) => {
      socket
        .on("error", () => {
          /* so it should */
        })
        .end("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.close();
    });
    const { closed } = useChannel((server.address() as AddressInfo).port, { tls: { ca } }).call();
    expect((await closed).message).toMatch(
      /^cannot connect to localhost:\d+: (?:no HTTP\/2 came of it \(the server does not offer h2 in ALPN\)|it rejected the TLS of this client)/,
    );
  });

  test("tells TLS from what is none, from both sides", async () => {
    const [plain, secure] = [await useServer(), await useServer({ tls: own })];
    expect((await useChannel(plain.port, { tls: { ca } }).call().closed).message).toMatch(
      /: it does not speak TLS \(\w+\); connect without tls, or to its TLS port$/,
    );
    expect((await useChannel(secure.port).call().closed).message).toMatch(
      /: no HTTP\/2 came of it \(.+\); does it speak gRPC, and want TLS\?$/,
    );
  });
});

describe("replaceTls()", () => {
  const next = createTestAuthority("next authority");

  test("takes effect with the next call; those that are open go on where they are, and their connection ends with them", async () => {
    const server = await useServer({ tls: { ...own, clientCa: ca } });
    const { call, channel } = useChannel(server.port, {
      tls: { ca, ...authority.issue({ uris: ["spiffe://td/old"] }) },
    });
    const before = call();
    await echoed(before, "x");
    server.server.setTls({ ...next.issue({ dnsNames: ["localhost"] }), clientCa: next.cert });
    channel.replaceTls({ ca: next.cert, ...next.issue({ uris: ["spiffe://td/new"] }) });
    expect(channel.connectivity()).toEqual({ state: "idle" });
    const after = call();
    await echoed(after, "y");
    await echoed(before, "still here");
    expect(server.calls.map((seen) => seen.call.peer.identity?.uris)).toEqual([
      ["spiffe://td/old"],
      ["spiffe://td/new"],
    ]);
    expect(server.server.stats().connections).toBe(2);
    before.stream.close({ code: StatusCode.OK, message: "" });
    await server.event("connection-closed");
    await echoed(after, "on");
    expect(channel.connectivity()).toEqual({ state: "ready" });
  });

  test("ends an old connection that has no calls at once", async () => {
    const server = await useServer({ tls: own });
    const { call, channel } = useChannel(server.port, { tls: { ca } });
    const seen = call();
    await echoed(seen, "x");
    seen.stream.close({ code: StatusCode.OK, message: "" });
    await seen.closed;
    channel.replaceTls({ ca });
    await server.event("connection-closed");
  });

  test("changes nothing if something is broken", async () => {
    const server = await useServer({ tls: own });
    const { call, channel } = useChannel(server.port, { tls: { ca } });
    const other = authority.issue();
    for (const [tls, text] of [
      [{ ca: "none" }, "[INVALID_ARGUMENT] tls.ca holds no certificate in PEM"],
      [
        { ca, cert: other.cert },
        "[INVALID_ARGUMENT] tls.cert is alone; give cert and key, or neither",
      ],
      [
        { ca, key: other.key },
        "[INVALID_ARGUMENT] tls.key is alone; give cert and key, or neither",
      ],
      [
        { ca, cert: other.cert, key: own.key },
        "[INVALID_ARGUMENT] tls.key does not belong to tls.cert, or is not valid PEM",
      ],
      [
        { ca, cert: other.cert.slice(0, 200), key: other.key },
        "[INVALID_ARGUMENT] tls.cert holds no certificate in PEM",
      ],
    ] as const)
      expect(() => {
        channel.replaceTls(tls);
      }).toThrow(text);
    await echoed(call(), "x");
    expect(() => {
      useChannel(1).channel.replaceTls({ ca });
    }).toThrow(
      "[FAILED_PRECONDITION] the channel to localhost:1 has no TLS; create another one with the option tls",
    );
    const closed = createGrpcChannel({ target: "localhost:1", tls: {} });
    await closed.close();
    expect(() => {
      closed.replaceTls({});
    }).toThrow("[FAILED_PRECONDITION] the channel to localhost:1 is closed");
  });
});
