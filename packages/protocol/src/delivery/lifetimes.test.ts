import { describe, expect, it } from "vitest";
import { added, storedResource } from "../../test/entries.ts";
import { createTestContext } from "../../test/server-context.ts";
import type { Entry } from "@xdstp/core";
import type { Batch } from "./batch.ts";
import { createExchange } from "./exchange.ts";
import type { FrameProfile } from "./frame-cache.ts";
import {
  createLifetimes,
  isNewestNonce,
  rejectHeartbeat,
  sendHeartbeat,
  settledBy,
  ttlsOf,
  type HeartbeatOwner,
  type Lifetimes,
} from "./lifetimes.ts";

const timed = (name: string, ttlMs: number): Entry => ({
  ...added(name),
  resource: { ...storedResource(name), ttlMs },
});
const stream = { id: 1, variant: "delta", peer: "p", node: undefined } as const;

/** Lifetimes with unanswered heartbeats of these nonces. */
const open = (...nonces: readonly number[]): Lifetimes => ({
  ...createLifetimes(),
  newest: nonces.at(-1) ?? 0,
  open: new Set(nonces),
});

describe("ttlsOf()", () => {
  it("gives each TTL once, the shortest first, and reads an array once", () => {
    const entries = [timed("a", 900), added("b"), timed("c", 300), timed("d", 900)];
    expect(ttlsOf(entries)).toEqual([300, 900]);
    expect(ttlsOf(entries)).toBe(ttlsOf(entries));
    expect(ttlsOf([added("b")])).toEqual([]);
  });
});

describe("settledBy()", () => {
  const inFlight = {} as Batch;
  it.each([
    ["any other nonce", open(5), { inFlight, nonceSent: 3 }, 3, 3],
    ["one without heartbeats", undefined, { inFlight, nonceSent: 3 }, 5, 5],
    ["that of a heartbeat after an unanswered response", open(5), { inFlight, nonceSent: 3 }, 5, 3],
    ["that of a heartbeat before it", open(2), { inFlight, nonceSent: 3 }, 2, 0],
    [
      "that of a heartbeat where nothing is unanswered",
      open(5),
      { inFlight: undefined, nonceSent: 3 },
      5,
      0,
    ],
  ] as const)(
    "takes %s for what it settles [S-TTL-5] [S-ACK-16]",
    (_, lifetimes, exchange, nonce, settled) => {
      expect(settledBy(lifetimes, { ...createExchange(), ...exchange }, nonce)).toBe(settled);
    },
  );

  it("forgets the heartbeats up to the one that was answered", () => {
    const lifetimes = open(5, 6, 7);
    settledBy(lifetimes, createExchange(), 6);
    expect([...lifetimes.open]).toEqual([7]);
  });
});

describe("isNewestNonce()", () => {
  it("takes those from the newest response to the newest heartbeat for the same [S-TTL-5] [S-NONCE-6]", () => {
    const exchange = { ...createExchange(), nonceSent: 3 };
    expect([2, 3, 4, 5, 6].map((nonce) => isNewestNonce(open(5), exchange, nonce))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    expect([2, 3, 4].map((nonce) => isNewestNonce(undefined, exchange, nonce))).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe("sendHeartbeat()", () => {
  /** The owner of heartbeats, with a profile that encodes names only. */
  function useOwner(lifetimes: Lifetimes | undefined = createLifetimes()) {
    const { context, events } = createTestContext({ limits: { errorText: 5 } });
    let nonce = 0;
    const profileOf = (ttlMs: number): FrameProfile => ({
      said: () => new Uint8Array(),
      encode: (entries: readonly Entry[], version: string) => {
        const bytes = Buffer.from(`${String(ttlMs)} ${String(entries.length)}`);
        return {
          list: [{ bytes, enveloped: bytes, nonce: ++nonce, bodyLength: bytes.length }],
          version,
          resources: entries.length,
          removed: 0,
          notSent: [],
          batch: undefined,
        };
      },
    });
    const sent: string[] = [];
    const host = {
      canSend: true,
      lastNonce: 0,
      send: (frames: readonly { readonly bytes: Uint8Array }[]) => {
        sent.push(...frames.map(({ bytes }) => Buffer.from(bytes).toString()));
      },
    };
    const profiles = new Map([900, 300].map((ttlMs) => [ttlMs, profileOf(ttlMs)]));
    const profile = {
      heartbeat: (ttlMs: number) => profiles.get(ttlMs),
    } as unknown as FrameProfile;
    const owner = {
      context,
      stream,
      typeUrl: "t",
      type: undefined,
      exchange: { ...createExchange(), versionSent: "v" },
      host,
      profile,
      lifetimes,
    } as HeartbeatOwner;
    return { owner, host, sent, events };
  }

  it("sends one for what has the TTL, and says what became of it [S-TTL-2]", () => {
    const { owner, host, sent, events } = useOwner();
    const entries = [timed("a", 900)];
    expect(sendHeartbeat(owner, entries, 300)).toBe("none");
    host.canSend = false;
    expect(sendHeartbeat(owner, entries, 900)).toBe("later");
    expect(sendHeartbeat({ ...owner, profile: {} as FrameProfile }, entries, 900)).toBe("none");
    expect(sendHeartbeat({ ...owner, lifetimes: undefined }, entries, 900)).toBe("none");
    expect(sent).toEqual([]);
    host.canSend = true;
    expect(sendHeartbeat(owner, entries, 900)).toBe("sent");
    expect(sent).toEqual(["900 1"]);
    expect(events).toEqual([
      { kind: "heartbeat", stream, typeUrl: "t", nonce: "1", resources: 1, bytes: 5 },
    ]);
  });

  it("sends one that is overdue behind what waits for the wire [S-TTL-2] [C-TTL-6]", () => {
    const { owner, host, sent } = useOwner();
    host.canSend = false;
    expect([sendHeartbeat(owner, [timed("a", 900)], 900, true), sent]).toEqual(["sent", ["900 1"]]);
  });

  it("remembers the newest 32 that nobody answers", () => {
    const { owner } = useOwner();
    for (let i = 0; i < 40; i++) sendHeartbeat(owner, [timed("a", 900)], 900);
    expect([
      owner.lifetimes?.newest,
      owner.lifetimes?.open.size,
      Math.min(...(owner.lifetimes?.open ?? [])),
    ]).toEqual([40, 32, 9]);
  });

  it("counts and tells a rejection, its text cut [S-ACK-15]", () => {
    const { owner, events } = useOwner();
    rejectHeartbeat(owner, 7, { code: 3, message: "too long" });
    expect(owner.exchange.nacks).toBe(1);
    expect(events).toMatchObject([
      {
        kind: "nack",
        typeUrl: "t",
        version: "v",
        nonce: "7",
        error: { code: 3, message: expect.stringMatching(/^too l/) as string },
      },
    ]);
    expect(JSON.stringify(events)).not.toContain("too long");
  });
});
