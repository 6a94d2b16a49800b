import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createKeepalive, type KeptAlive } from "./keepalive.ts";

const times = { pingMs: 30_000, pingTimeoutMs: 60_000, minBytesPerSecond: 256 };

/** A connection whose peer does not answer pings, and the bytes that it has sent and received. */
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
