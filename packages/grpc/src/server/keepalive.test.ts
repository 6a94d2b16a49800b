import { once } from "node:events";
import { connect, createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished, test } from "vitest";

import { createKeepalive, createPingGuard, type KeptAlive, probeSession } from "./keepalive.ts";

const times = { pingMs: 30_000, pingTimeoutMs: 60_000, minBytesPerSecond: 256 };

/**
 * Opens a connection whose peer does not answer pings, and records the bytes that the peer has sent
 * and received.
 */
function useSilent() {
  const clock = createFakeClock();
  const meter = {
    sentBytes: 0,
    receivedBytes: 0,
    pinged: () => undefined,
    settled: () => undefined,
  };
  const seen = { pings: 0, isLost: false };
  const session = {
    destroyed: false,
    closed: false,
    ping: () => {
      seen.pings += 1;
    },
  } as unknown as KeptAlive["session"];
  createKeepalive(clock, times).start({
    session,
    meter,
    lost: () => {
      seen.isLost = true;
    },
  });
  return { clock, meter, seen };
}

describe("createKeepalive()", () => {
  it("keeps the connection of a peer that reads at the least rate, while its answer to the ping waits behind megabytes [S-LIM-1]", () => {
    const { clock, meter, seen } = useSilent();
    for (let period = 0; period < 10; period += 1) {
      clock.advance(30_000);
      meter.sentBytes += 60 * 256;
      clock.advance(60_000);
    }
    expect(seen).toEqual({ pings: 10, isLost: false });
    clock.advance(30_000);
    meter.sentBytes += 60 * 256 - 1;
    clock.advance(60_000);
    expect(seen.isLost).toBe(true);
  });

  it("counts one received byte as an answer", () => {
    const { clock, meter, seen } = useSilent();
    clock.advance(30_000);
    meter.receivedBytes += 1;
    clock.advance(60_000);
    expect(seen.isLost).toBe(false);
    clock.advance(90_000);
    expect(seen.isLost).toBe(true);
  });
});

test("a session that is destroyed is not probed, and nothing is thrown", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
  });
  await once(server, "listening");
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
  });
  const [session] = (await once(server, "session")) as [ServerHttp2Session];
  session.destroy();
  const counted: string[] = [];
  const meter = {
    sentBytes: 0,
    receivedBytes: 0,
    pinged: () => {
      counted.push("ping");
    },
    settled: () => {
      counted.push("settings");
    },
  };
  probeSession(session, meter, () => {
    counted.push("answer");
  });
  expect(counted).toEqual([]);
});

describe("createPingGuard()", () => {
  test("bears three early pings in a row, not the fourth [S-LIM-1]", () => {
    const guard = createPingGuard(createFakeClock(), 1000, { sentBytes: 0 });
    expect([guard.ping(), guard.ping(), guard.ping(), guard.ping(), guard.ping()]).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  test("forgets early pings after one in time", () => {
    const clock = createFakeClock();
    const guard = createPingGuard(clock, 1000, { sentBytes: 0 });
    for (let round = 0; round < 10; round += 1) {
      expect([guard.ping(), guard.ping(), guard.ping(), guard.ping()]).toEqual([
        true,
        true,
        true,
        true,
      ]);
      clock.advance(1000);
    }
  });

  test("forgets early pings after bytes were sent, however few of a message they are", () => {
    const meter = { sentBytes: 0 };
    const guard = createPingGuard(createFakeClock(), 1000, meter);
    guard.ping();
    for (let round = 0; round < 10; round += 1) {
      expect([guard.ping(), guard.ping(), guard.ping()]).toEqual([true, true, true]);
      meter.sentBytes += 1;
    }
  });
});
