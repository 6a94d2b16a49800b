import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { createTestContext, type TestContext } from "../../test/server-context.ts";
import { lengthDelimited } from "@xdstp/core/wire";
import type { Message, ResourceSource, ResourceType, Status } from "@xdstp/core";
import { createFrame, type Frame } from "../delivery/frame.ts";
import { nodeInfoOf } from "./node-info.ts";
import { rankOf } from "../order/relations.ts";
import {
  createServerStream,
  type ServerCall,
  type ServerStream,
  type Variant,
} from "./server-stream.ts";
import type { DecodedRequest, TypeHost, TypeMachine } from "./type-machine.ts";

const types: readonly ResourceType[] = [
  { typeUrl: "base", refersTo: ["top"] },
  { typeUrl: "top", follows: [{ typeUrl: "base", when: "accepted" }] },
  { typeUrl: "ring-a", refersTo: ["ring-b"] },
  { typeUrl: "ring-b", refersTo: ["ring-a"] },
];
const source: ResourceSource = {
  revision: 0,
  ready: true,
  serves: () => true,
  descriptor: (typeUrl) => types.find((type) => type.typeUrl === typeUrl),
  topic: () => {
    throw new Error("no topic is asked for here");
  },
};

/** A type whose state a test sets, and that records the calls of the stream. */
interface FakeType {
  pending: boolean;
  held: boolean;
  inFlight: boolean;
  plain: boolean;
  frames: readonly Frame[];
}

interface Subject extends TestContext {
  readonly stream: ServerStream;
  readonly log: readonly string[];
  readonly sent: readonly Message[];
  readonly closed: readonly Status[];
  readonly type: (typeUrl: string) => FakeType;
  readonly ask: (init: Parameters<typeof create<typeof DeltaDiscoveryRequestSchema>>[1]) => void;
  /** Runs a turn in which the stream is served. */
  readonly drain: () => void;
  /** `free: false` means that the wire is full. */
  wire: { free: boolean };
}

const node = { id: "n", cluster: "c" };

function decode(bytes: Uint8Array): DecodedRequest {
  const {
    typeUrl,
    responseNonce,
    errorDetail,
    node: given,
  } = fromBinary(DeltaDiscoveryRequestSchema, bytes);
  return { node: given && nodeInfoOf(given), typeUrl, nonce: responseNonce, error: errorDetail };
}

function useStream(
  call: Pick<ServerCall, "typeUrl" | "identity"> = {},
  limits: { readonly types?: number } = {},
): Subject {
  const test = createTestContext({ source, limits });
  const log: string[] = [];
  const fakes = new Map<string, FakeType>();
  const hosts: TypeHost[] = [];
  const variant: Variant<DecodedRequest> = {
    name: "delta",
    decode,
    weigh: () => ({ names: 0 }),
    createType: ({ host, typeUrl }) => {
      hosts.push(host);
      const fake: FakeType = {
        pending: false,
        held: false,
        inFlight: false,
        plain: true,
        frames: [],
      };
      fakes.set(typeUrl, fake);
      return machineOf(fake, typeUrl, host, log);
    },
  };
  const sent: Message[] = [];
  const closed: Status[] = [];
  const wire = { free: true };
  const stream = createServerStream(
    test.context,
    variant,
    { peer: "127.0.0.1:1", ...call },
    {
      send: (message) => {
        sent.push(message);
        return wire.free;
      },
      close: (status) => {
        closed.push(status);
      },
    },
  );
  const type = (typeUrl: string): FakeType => {
    const fake = fakes.get(typeUrl);
    if (fake === undefined) throw new Error(`${typeUrl} was not asked for`);
    return fake;
  };
  const ask: Subject["ask"] = (init) => {
    stream.onMessage(
      toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, init)),
    );
  };
  const drain = (): void => {
    hosts[0]?.schedule();
    test.settle();
  };
  return { ...test, drain, stream, log, sent, closed, type, ask, wire };
}

function machineOf(
  fake: FakeType,
  typeUrl: string,
  host: TypeHost,
  log: string[],
): TypeMachine<DecodedRequest> {
  return {
    typeUrl,
    rank: rankOf(source, typeUrl),
    repairQueued: false,
    unansweredSince: undefined,
    subscriptions: 0,
    nameLength: 0,
    get pending() {
      return fake.pending;
    },
    get heldFrom() {
      return fake.held ? 1 : Infinity;
    },
    get heldBase() {
      return fake.held ? 0 : Infinity;
    },
    get inFlight() {
      return fake.inFlight;
    },
    get answeredUpTo() {
      return fake.inFlight ? 0 : Infinity;
    },
    get unsentFrom() {
      return fake.pending ? 0 : Infinity;
    },
    overdue: false,
    taken: false,
    rejectedFrom: Infinity,
    rejecting: false,
    knowsReferences: true,
    heldBack: new Map(),
    mayBeCold: false,
    isObsolete: false,
    waitsAsWhole: false,
    isBusy: false,
    lacks: () => false,
    mayRetry: false,
    retryRejected: () => undefined,
    awaitRepair: () => undefined,
    hasAccepted: () => false,
    isCold: () => false,
    awaits: () => false,
    removed: () => "never-sent",
    misses: () => false,
    take: () => {
      log.push(`take ${typeUrl}`);
    },
    putBack: () => undefined,
    releaseHolds: () => undefined,
    request: ({ nonce }) => {
      log.push(`request ${typeUrl} ${nonce}`);
    },
    plainAck: ({ nonce }) => {
      log.push(`plain ${typeUrl} ${nonce}`);
      return fake.plain;
    },
    view: () => {
      throw new Error("nobody looks at names here");
    },
    drain: (removeUpTo) => {
      log.push(`drain ${typeUrl} ${removeUpTo > 0 ? "all" : "additions"}`);
      fake.pending = false;
      if (removeUpTo > 0) fake.held = false;
      host.send(fake.frames);
    },
    release: () => {
      log.push(`release ${typeUrl}`);
      fake.held = false;
    },
    warm: () => undefined,
    repair: () => undefined,
    status: () => {
      throw new Error("not asked for here");
    },
    close: () => {
      log.push(`close ${typeUrl}`);
    },
  };
}

describe("createServerStream()", () => {
  it("routes requests to their types, and plain ACKs without decoding them", () => {
    const { ask, log, events } = useStream();
    ask({ node, typeUrl: "base" });
    ask({ typeUrl: "top", resourceNamesSubscribe: ["a"] });
    ask({ typeUrl: "base", responseNonce: "7" });
    ask({ typeUrl: "top", responseNonce: "8" });
    expect(log).toEqual(["request base ", "request top ", "plain base 7", "plain top 8"]);
    expect(events.map(({ kind }) => kind)).toEqual(["connect"]);
  });

  it("decodes what looks like a plain ACK and is more to its type", () => {
    const { ask, log, type } = useStream();
    ask({ node, typeUrl: "base" });
    type("base").plain = false;
    ask({ typeUrl: "base", responseNonce: "7" });
    expect(log.slice(1)).toEqual(["plain base 7", "request base 7"]);
  });

  it("takes requests without a type on a per-type stream, and rejects another type there", () => {
    const { ask, log, closed } = useStream({ typeUrl: "base" });
    ask({ node });
    ask({ responseNonce: "7" });
    expect(log).toEqual(["request base ", "plain base 7"]);
    ask({ typeUrl: "top" });
    expect(closed).toEqual([{ code: 3, message: "type_url is not the type of this service" }]);
  });

  it.each([
    ["no type on ADS", { node }, { code: 3, message: "type_url is missing" }],
    [
      "no node in the first message",
      { typeUrl: "base" },
      { code: 3, message: "the first message has no node" },
    ],
  ])("ends for %s", (_what, init, status) => {
    const { ask, closed } = useStream();
    ask(init);
    expect(closed).toEqual([status]);
  });

  it("ends for another node, and keeps the first", () => {
    const { ask, closed, stream } = useStream();
    ask({ node, typeUrl: "base" });
    ask({ node: { id: "other" }, typeUrl: "base" });
    expect(closed).toEqual([{ code: 3, message: "node.id or node.cluster changed on the stream" }]);
    expect(stream.info.node?.id).toBe("n");
  });

  it("ends for bytes that are not a request, with a text that the peer did not choose", () => {
    const { stream, closed } = useStream();
    stream.onMessage(Uint8Array.of(0x0a, 0xff));
    expect(closed).toEqual([{ code: 3, message: "the request cannot be decoded" }]);
  });

  it("tells who the peer is where its wire has verified that [S-NODE-8]", () => {
    const identity = { uris: ["spiffe://td/x"], dnsNames: [], subject: "CN=x", fingerprint: "00" };
    const { stream, events } = useStream({ identity });
    expect(stream.status()).toMatchObject({ identity });
    expect(events).toMatchObject([{ kind: "connect", stream: { identity } }]);
    expect(useStream().stream.status()).not.toHaveProperty("identity");
  });

  it("ends for more types than the limit", () => {
    const { ask, closed } = useStream({}, { types: 2 });
    ask({ node, typeUrl: "a" });
    ask({ typeUrl: "b" });
    expect(closed).toEqual([]);
    ask({ typeUrl: "c" });
    expect(closed).toEqual([{ code: 8, message: "more than 2 types on one stream" }]);
  });

  it("closes its types once when the call is over, says so, and ignores what comes later", () => {
    const { ask, stream, log, closed, events, drain } = useStream();
    ask({ node, typeUrl: "base" });
    stream.onClosed({ code: 1, message: "gone" });
    stream.onClosed({ code: 1, message: "gone" });
    stream.end(0, "");
    ask({ typeUrl: "base" });
    drain();
    expect(log).toEqual(["request base ", "close base"]);
    expect(closed).toEqual([]);
    expect(events.slice(1)).toMatchObject([{ kind: "disconnect", code: 1, message: "gone" }]);
  });

  it("sends what is due and ends with OK when the peer sends no more", () => {
    const { stream, closed, log, ask, type, settle } = useStream();
    ask({ node, typeUrl: "base" });
    type("base").pending = true;
    stream.onEnd?.();
    expect(closed).toEqual([]);
    settle();
    expect(closed).toEqual([{ code: 0, message: "" }]);
    expect(log.slice(-2)).toEqual(["drain base all", "close base"]);
  });

  it("waits for the wire to take what was sent before it ends", () => {
    const { stream, closed, ask, type, settle, wire, sent } = useStream();
    ask({ node, typeUrl: "base" });
    Object.assign(type("base"), { pending: true, frames: [createFrame([]), createFrame([])] });
    wire.free = false;
    stream.onEnd?.();
    settle();
    expect([sent.length, closed.length]).toEqual([1, 0]);
    wire.free = true;
    stream.onDrained();
    settle();
    expect([sent.length, closed.length]).toEqual([2, 1]);
  });

  it("drains in a later turn what became pending by a request", () => {
    const { ask, type, log, settle } = useStream();
    ask({ node, typeUrl: "base" });
    type("base").pending = true;
    ask({ typeUrl: "base" });
    expect(log).not.toContain("drain base all");
    settle();
    expect(log.at(-1)).toBe("drain base all");
  });

  it("sends nothing of a type while a response of it is unanswered", () => {
    const { ask, type, log, drain } = useStream();
    ask({ node, typeUrl: "base" });
    Object.assign(type("base"), { pending: true, inFlight: true });
    drain();
    ask({ typeUrl: "top" });
    drain();
    expect(log.filter((line) => line.startsWith("drain"))).toEqual([]);
  });

  it("drains types in the order of what follows what, whichever was asked for first", () => {
    const { ask, type, log, drain } = useStream();
    ask({ node, typeUrl: "top" });
    ask({ typeUrl: "base" });
    type("top").pending = true;
    type("base").pending = true;
    drain();
    expect(log.slice(2)).toEqual(["drain base additions", "drain top all"]);
  });

  it("ends a circle of removals that wait for each other", () => {
    const { ask, type, log, drain } = useStream();
    ask({ node, typeUrl: "ring-a" });
    ask({ typeUrl: "ring-b" });
    type("ring-a").held = true;
    type("ring-b").held = true;
    drain();
    expect(log.slice(2)).toEqual(["release ring-a", "release ring-b"]);
  });

  it("sends no more than the wire takes, and goes on when it is drained", () => {
    const { ask, type, sent, stream, wire, settle, drain } = useStream();
    ask({ node, typeUrl: "base" });
    const frames = [createFrame([]), createFrame([]), createFrame([])];
    Object.assign(type("base"), { pending: true, frames });
    wire.free = false;
    drain();
    expect(sent).toEqual(frames.slice(0, 1));
    type("base").pending = true;
    drain();
    expect(sent).toHaveLength(1);
    wire.free = true;
    type("base").frames = [];
    stream.onDrained();
    settle();
    expect(sent).toEqual(frames);
    expect(type("base").pending).toBe(false);
  });

  it("admits a large message for a type that is new on the stream, and for no other", () => {
    const { ask, stream } = useStream();
    ask({ node, typeUrl: "base" });
    const prefixOf = (typeUrl: string): Uint8Array => lengthDelimited(2, typeUrl);
    expect(stream.admits?.(5 << 20, prefixOf("top"))).toBe(true);
    expect(stream.admits?.(5 << 20, prefixOf("base"))).toBe(false);
    expect(stream.admits?.(5 << 20, prefixOf("top").subarray(0, 3))).toBeUndefined();
    expect(stream.admits?.(5 << 20, Uint8Array.of(0x0b))).toBe(false);
  });
});
