import type { ByteStream, ByteStreamHandler, Message, Status } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { createFakeClock, type FakeClock } from "../create-fake-clock.ts";
import { createNetwork } from "./create-network.ts";
import type { Network } from "./network.ts";
import { createSeededRandom } from "./seeded-random.ts";

/** Creates an end that records its calls. */
interface End {
  readonly out: ByteStream;
  readonly heard: readonly string[];
  readonly closed: readonly Status[];
  say(text: string): boolean;
}

interface Scene {
  readonly clock: FakeClock;
  readonly network: Network;
  /** All events, with their times. */
  readonly log: readonly string[];
  /** The server ends, in the order of their calls. */
  readonly served: readonly End[];
  readonly call: (name?: string, address?: string) => End;
}

function createScene(seed = 1, options: Partial<Parameters<typeof createNetwork>[0]> = {}): Scene {
  const clock = createFakeClock();
  const log: string[] = [];
  const served: End[] = [];
  const network = createNetwork({ clock, random: createSeededRandom(seed), ...options });
  const end = (name: string, open: (handler: ByteStreamHandler) => ByteStream): End => {
    const [heard, closed]: [string[], Status[]] = [[], []];
    const note = (what: string): void => {
      log.push(`${clock.now()} ${name} ${what}`);
    };
    const out = open({
      onMessage: (bytes) => {
        heard.push(Buffer.from(bytes).toString());
        note(Buffer.from(bytes).toString());
      },
      onOpened: () => {
        note("opened");
      },
      onDrained: () => {
        note("drained");
      },
      onClosed: (status) => {
        closed.push(status);
        note("closed");
      },
    });
    return { out, heard, closed, say: (text) => out.send(messageOf(text)) };
  };
  network.listen("a", (out) => {
    let own: ByteStreamHandler | undefined;
    served.push(
      end(`server${served.length + 1}`, (handler) => {
        own = handler;
        return out;
      }),
    );
    if (own === undefined) throw new Error("no handler");
    return own;
  });
  return {
    clock,
    network,
    log,
    served,
    call: (name = "client", address = "a") =>
      end(name, (handler) => network.connect(address, handler)),
  };
}

function messageOf(text: string): Message {
  const enveloped = Buffer.from([0, 0, 0, 0, text.length, ...Buffer.from(text)]);
  return { enveloped, bytes: enveloped.subarray(5) };
}

function first<T>(from: readonly T[]): T {
  const [one] = from;
  if (one === undefined) throw new Error("there is none");
  return one;
}

describe("createNetwork()", () => {
  it("opens a stream after some time, and brings what was said before, in order", () => {
    const { clock, call, served, network } = createScene();
    const client = call();
    expect(client.out.opening).toBe(true);
    for (const text of ["1", "2", "3", "4"]) client.say(text);
    expect(served).toEqual([]);
    clock.advance(1_000);
    expect(client.out.opening).toBe(false);
    const server = first(served);
    expect(server.heard).toEqual(["1", "2", "3", "4"]);
    server.say("hello");
    expect(client.heard).toEqual([]);
    clock.advance(30);
    expect(client.heard).toEqual(["hello"]);
    expect(network.connections).toHaveLength(1);
  });

  it("lets streams overtake each other, never a message another one of its stream", () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const { clock, call, served, log } = createScene(seed);
      const [one, other] = [call("one"), call("other")];
      clock.advance(100);
      const before = log.length;
      for (const text of ["1", "2", "3"]) {
        one.say(`a${text}`);
        other.say(`b${text}`);
      }
      clock.advance(1_000);
      expect(served.map(({ heard }) => heard.map((text) => text.slice(1)))).toEqual([
        ["1", "2", "3"],
        ["1", "2", "3"],
      ]);
      orders.add(
        log
          .slice(before)
          .map((line) => line.split(" ")[2])
          .join(),
      );
    }
    expect(orders.size).toBeGreaterThan(5);
  });

  it("does the same each time with the same seed", () => {
    const run = (seed: number): readonly string[] => {
      const { clock, call, log, served } = createScene(seed);
      const clients = [call("one"), call("other")];
      clock.advance(60);
      for (const end of [...clients, ...served]) end.say("x");
      clock.advance(100);
      return log;
    };
    expect(run(7)).toEqual(run(7));
    expect(run(7)).not.toEqual(run(8));
  });

  it("ends a call for both behind what was sent", () => {
    const { clock, call, served, network } = createScene();
    const client = call();
    clock.advance(100);
    const server = first(served);
    server.say("bye");
    server.out.close({ code: 5, message: "over" });
    expect(server.closed).toEqual([{ code: 5, message: "over" }]);
    expect(client.closed).toEqual([]);
    server.say("too late");
    clock.advance(100);
    expect([client.heard, client.closed]).toEqual([["bye"], [{ code: 5, message: "over" }]]);
    expect(network.connections).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("closes a call with UNAVAILABLE where nobody listens", () => {
    const { clock, call, network } = createScene();
    const client = call("client", "elsewhere");
    clock.advance(100);
    expect(client.closed).toEqual([{ code: 14, message: "no server listens there" }]);
    expect(network.connections).toEqual([]);
    expect(() =>
      network.listen("a", () => {
        throw new Error("unused");
      }),
    ).toThrow("a: a server listens there already");
  });

  it.each([
    { told: "both", client: 0, server: 0 },
    { told: "client", client: 0, server: 20_000 },
    { told: "server", client: 20_000, server: 0 },
    { told: "neither", client: 20_000, server: 20_000 },
  ] as const)(
    "cuts a connection and tells $told; who is not told hears nothing until the keepalive",
    ({ told, client: clientMs, server: serverMs }) => {
      const { clock, call, served, network } = createScene();
      const client = call();
      clock.advance(100);
      const server = first(served);
      client.say("on its way");
      first(network.connections).cut(told);
      client.say("lost");
      server.say("lost too");
      const closedAfter = (end: End, ms: number): void => {
        expect(end.closed.length).toBe(ms === 0 ? 1 : 0);
      };
      closedAfter(client, clientMs);
      closedAfter(server, serverMs);
      clock.advance(19_999);
      closedAfter(client, clientMs);
      closedAfter(server, serverMs);
      clock.advance(1);
      for (const end of [client, server])
        expect([end.heard, end.closed]).toEqual([
          [],
          [{ code: 14, message: "the connection was lost" }],
        ]);
      expect(network.connections).toEqual([]);
    },
  );

  it("stalls a connection without a word, and brings everything afterwards", () => {
    const { clock, call, served, network } = createScene();
    const client = call();
    clock.advance(100);
    first(network.connections).stall(60_000);
    client.say("1");
    client.say("2");
    clock.advance(59_999);
    expect(first(served).heard).toEqual([]);
    clock.advance(100);
    expect(first(served).heard).toEqual(["1", "2"]);
    expect(client.closed).toEqual([]);
  });

  it("tells a sender to wait while the window is full of what a slow or paused reader has not taken", () => {
    const { clock, call, served, network, log } = createScene(1, { window: 4 });
    const client = call();
    clock.advance(100);
    first(network.connections).slow("server", 1_000);
    expect(["1", "2", "3", "4", "5"].map((text) => client.say(text))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    clock.advance(1_100);
    expect(first(served).heard).toEqual(["1"]);
    expect(log.at(-1)).not.toContain("drained");
    expect(first(network.connections).isPaused("client")).toBe(true);
    expect(first(network.connections).isPaused("server")).toBe(false);
    while (first(served).heard.length < 3) clock.advance(1);
    expect(log.at(-1)).not.toContain("drained");
    expect(first(network.connections).isPaused("client")).toBe(true);
    clock.advance(100);
    expect(log.filter((line) => line.endsWith("client drained"))).toHaveLength(1);
    expect(first(network.connections).isPaused("client")).toBe(false);
    first(served).out.pause?.();
    clock.advance(60_000);
    expect(first(served).heard).toEqual(["1", "2", "3"]);
    first(served).out.resume?.();
    clock.advance(10);
    expect(first(served).heard).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("brings a call twice; what the second one answers is lost", () => {
    const { clock, call, served, network } = createScene();
    network.duplicateNext();
    const client = call();
    client.say("hello");
    clock.advance(100);
    expect(served.map(({ heard }) => heard)).toEqual([["hello"], ["hello"]]);
    expect(network.connections.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true]);
    const [one, other] = served;
    one?.say("one");
    other?.say("other");
    clock.advance(100);
    expect(client.heard).toEqual(["one"]);
    first(network.connections).cut("client");
    clock.advance(100);
    expect(network.connections.map(({ isDuplicate }) => isDuplicate)).toEqual([false]);
    call();
    clock.advance(100);
    expect(served).toHaveLength(3);
  });

  it("shows an observer what is sent and what arrives, and lends the bytes", () => {
    const seen: string[] = [];
    const note =
      (what: string) =>
      (_: unknown, from: string, bytes: Uint8Array): void => {
        seen.push(`${what} ${from} ${Buffer.from(bytes).toString()}`);
      };
    const { clock, network } = createScene(1, {
      observer: { onSent: note("sent"), onArrived: note("arrived") },
    });
    let kept: Uint8Array = Buffer.from("");
    network.listen("b", () => ({
      onMessage: (bytes) => {
        kept = bytes;
      },
      onDrained: () => undefined,
      onClosed: () => undefined,
    }));
    network
      .connect("b", {
        onMessage: () => undefined,
        onDrained: () => undefined,
        onClosed: () => undefined,
      })
      .send(messageOf("x"));
    clock.advance(100);
    expect(seen).toEqual(["sent client x", "arrived client x"]);
    expect([...kept]).toEqual([0xff]);
  });
});
