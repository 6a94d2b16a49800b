import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import { adsVariants, readyCache, serve, types } from "../test/harness.ts";
import { logEvents, type LogLine, type ServerEvent } from "./index.ts";
import { logLine } from "./log-events.ts";

const key = "-----BEGIN PRIVATE KEY-----\nHIDDEN\n-----END PRIVATE KEY-----";
const stream = { id: 7, variant: "delta", peer: "192.0.2.1:5", node: undefined } as const;
const about = { stream, typeUrl: types.cluster };
const status = { code: 14, message: "not ready" };

describe.each(adsVariants)("logEvents() (%s)", (variant) => {
  it(`writes one flat object per line: time, level, event, client, type, version, reason (${variant}) [S-ACK-9] [S-ACK-15] [B-CSDS-7]`, () => {
    const cache = readyCache();
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    const { server, clock, open, turn } = serve(cache);
    const lines: string[] = [];
    server.events(
      logEvents(
        (line) => {
          lines.push(line);
        },
        { clock },
      ),
    );
    const call = open(variant, { id: "e\u001b\u009b\u202e1" });
    call.ask(types.cluster, ["a"]);
    turn();
    clock.advance(1_500);
    const response = call.next();
    call.nack(response, `bad ${key}\u001b[2J\u2028`);
    call.cancel();
    expect(lines.join("")).not.toMatch(/[\p{Cc}\u2028\u202e]|HIDDEN/u);
    const kind = variant === "delta/ads" ? "delta" : "sotw";
    const client = {
      from: "server",
      client: "e\u001b\u009b\u202e1",
      peer: "192.0.2.1:5",
      stream: expect.any(Number) as number,
      variant: kind,
    };
    expect(lines.map((line) => JSON.parse(line) as LogLine)).toEqual([
      {
        time: "1970-01-01T00:00:00.000Z",
        level: "info",
        event: "connect",
        ...client,
        client: undefined,
      },
      {
        time: "1970-01-01T00:00:00.000Z",
        level: "info",
        event: "subscribe",
        ...client,
        type: types.cluster,
        added: ["a"],
        dropped: [],
      },
      {
        time: "1970-01-01T00:00:00.000Z",
        level: "info",
        event: "push",
        ...client,
        type: types.cluster,
        version: response.version,
        nonce: response.nonce,
        resources: 1,
        removed: 0,
        bytes: expect.any(Number) as number,
      },
      {
        time: "1970-01-01T00:00:01.500Z",
        level: "error",
        event: "nack",
        ...client,
        type: types.cluster,
        version: response.version,
        accepted: "",
        nonce: response.nonce,
        code: 3,
        reason: "bad [redacted]\u001b[2J\u2028",
      },
      {
        time: "1970-01-01T00:00:01.500Z",
        level: "info",
        event: "disconnect",
        ...client,
        code: 1,
        reason: expect.any(String) as string,
      },
    ]);
  });
});

describe("logEvents()", () => {
  it("writes what is at least as bad as it is told", () => {
    const lines: string[] = [];
    const log = logEvents(
      (line) => {
        lines.push(line);
      },
      { level: "warning", clock: createFakeClock() },
    );
    for (const event of [
      { kind: "connect", stream },
      { kind: "rejected", path: "/p", peer: "p", status },
      { kind: "fault", where: "turn", error: new Error("x") },
    ] as const)
      log(event);
    expect(lines.map((line) => (JSON.parse(line) as LogLine).level)).toEqual(["warning", "error"]);
  });

  it.each<readonly [event: ServerEvent, line: object]>([
    [
      { kind: "connect", stream: { ...stream, service: types.cluster } },
      { level: "info", type: types.cluster, peer: "192.0.2.1:5", stream: 7, variant: "delta" },
    ],
    [
      { kind: "heartbeat", ...about, nonce: "1", resources: 2, bytes: 3 },
      { level: "info", nonce: "1", resources: 2, bytes: 3 },
    ],
    [
      { kind: "ack", ...about, nonce: "1", version: "v" },
      { level: "info", version: "v", nonce: "1", type: types.cluster },
    ],
    [
      { kind: "order-expired", stream, what: "cut", typeUrls: [types.route] },
      { level: "warning", what: "cut", types: [types.route] },
    ],
    [
      { kind: "stale-nonce", ...about, nonce: "1" },
      { level: "info", nonce: "1" },
    ],
    [
      {
        kind: "not-sent",
        ...about,
        resources: [{ name: "a", reason: "too-large", bytes: 5, limit: "responseBytes" }],
      },
      {
        level: "error",
        notSent: [{ name: "a", reason: "too-large", bytes: 5, limit: "responseBytes" }],
      },
    ],
    [
      { kind: "rejected", path: "/p", peer: "p", status, reason: `no such team ${key}` },
      { level: "warning", path: "/p", peer: "p", code: 14, reason: "no such team [redacted]" },
    ],
    [{ kind: "rejected", path: "/p", peer: "p", status }, { reason: "not ready" }],
    [
      {
        kind: "fetch",
        typeUrl: types.cluster,
        node: undefined,
        names: ["a"],
        accepted: "1",
        status: { code: 0, message: "" },
        version: "2",
        resources: 1,
      },
      { level: "info", names: ["a"], accepted: "1", version: "2", resources: 1, code: 0 },
    ],
    [
      {
        kind: "fetch",
        typeUrl: types.cluster,
        node: undefined,
        names: [],
        accepted: "1",
        error: { code: 3, message: "bad" },
        status: { code: 0, message: "" },
        version: "2",
        resources: 1,
      },
      { level: "error", code: 3, reason: "bad" },
    ],
    [
      {
        kind: "connection-opened",
        peer: "p",
        identity: { uris: ["spiffe://td/a"], dnsNames: [], subject: "", fingerprint: "" },
      },
      { level: "info", peer: "p", identity: "spiffe://td/a" },
    ],
    [
      { kind: "connection-closed", peer: "p" },
      { level: "info", peer: "p" },
    ],
    [
      { kind: "connection-cut", peer: "p", reason: "tls-handshake", detail: "ERR_SSL_X" },
      { level: "warning", peer: "p", reason: "tls-handshake", detail: "ERR_SSL_X" },
    ],
    [
      { kind: "stream-opened", peer: "p", path: "/p" },
      { level: "info", path: "/p" },
    ],
    [
      { kind: "stream-closed", peer: "p", path: "/p", status },
      { level: "info", code: 14, reason: "not ready" },
    ],
    [
      { kind: "stream-cut", peer: "p", path: "/p", reason: "malformed", status },
      { level: "warning", code: 14, reason: "malformed", detail: "not ready" },
    ],
    [
      { kind: "warning", warning: "node-version", message: "m" },
      { level: "info", warning: "node-version", reason: "m" },
    ],
    [
      { kind: "warning", warning: "unrelated-source", message: "m" },
      { level: "warning", warning: "unrelated-source", reason: "m" },
    ],
    [
      { kind: "fault", where: "turn", error: "text" },
      { level: "error", where: "turn", reason: "text" },
    ],
  ])("says of %j what concerns an operator", (event, line) => {
    expect(logLine(event, 0)).toMatchObject({
      time: "1970-01-01T00:00:00.000Z",
      from: "server",
      event: event.kind,
      ...line,
    });
  });
});
