import type { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { FULL, madeUpTypes, PART } from "../harness/made-up-types.ts";
import { createRandom } from "../random/random.ts";
import { createClientWorld, turn, type ClientWorld } from "./harness/client-world.ts";

const ns = (id: string | number): string => `xdstp://a/test.Part/ns/${id}`;

function field(number: number, value: Uint8Array | string): Buffer {
  const bytes = Buffer.from(value);
  const length: number[] = [];
  for (let left = bytes.length; ; left = Math.floor(left / 128)) {
    length.push((left % 128) + (left >= 128 ? 128 : 0));
    if (left < 128) break;
  }
  return Buffer.concat([Buffer.of(number * 8 + 2, ...length), bytes]);
}

const head = Buffer.concat([field(4, PART), field(5, "n")]);
/** Field of the resources. */
const RESOURCES = 2;

/** Wide or deep, a response that carries as much work as its bytes allow. */
function hostile(variant: ClientWorld["variant"]): Readonly<Record<string, () => Buffer>> {
  const many = (count: number, one: Buffer, more: Buffer = Buffer.of()): Buffer =>
    Buffer.concat([head, more, Buffer.alloc(count * one.length, one)]);
  return {
    "a million resources without anything": () => many(1_000_000, Buffer.of(RESOURCES * 8 + 2, 0)),
    "two million of them": () => many(2_000_000, Buffer.of(RESOURCES * 8 + 2, 0)),
    "a million names": () =>
      many(1_000_000, variant === "delta" ? field(6, "x") : Buffer.of(7 * 8 + 2, 0)),
    "a name of a million bytes": () => many(1, field(RESOURCES, field(3, "x".repeat(1_000_000)))),
    "a million aliases": () =>
      Buffer.concat([
        head,
        field(RESOURCES, Buffer.concat([field(3, "a"), Buffer.alloc(1_000_000, field(4, ""))])),
      ]),
    "a million bytes of one tag": () => many(1, field(RESOURCES, Buffer.alloc(1_000_000, 0x12))),
    "a million nonces": () => many(500_000, field(5, "n")),
    "a million control planes": () =>
      many(500_000, Buffer.of((variant === "delta" ? 7 : 6) * 8 + 2, 0)),
    "a million unknown fields": () => many(500_000, Buffer.of(15 * 8, 1)),
    "a million bytes of an open varint": () => Buffer.concat([head, Buffer.alloc(1_000_000, 0xff)]),
  };
}

describe.each(["delta", "sotw"] as const)("an untrusted server (%s)", (variant) => {
  it.each(Object.keys(hostile(variant)))(
    "%s: is taken or rejected, and the client goes on [C-LIM-7]",
    { timeout: 120_000 }, // work that grows faster than the bytes would take hours
    async (what) => {
      const { ask, server } = createClientWorld(variant);
      const [a, glob] = await ask(PART, "a", ns("*"));
      server.rest();
      const bytes = hostile(variant)[what]?.() ?? Buffer.of();
      server.raw.sendBytes(bytes);
      await turn();
      for (const { error } of server.rest())
        expect((error?.message ?? "").length).toBeLessThanOrEqual(4_096);
      expect(server.raw.connected).toBe(true);
      server.reply(PART, { resources: [{ name: "a", text: "1" }] });
      expect([a?.now, glob?.topic.members()]).toEqual(["a=1", []]);
    },
  );

  it("more entries than the limit are rejected whole, and names, versions and aliases beyond it one by one [C-LIM-7]", async () => {
    const { ask, server, cache } = createClientWorld(variant, {
      client: { limits: { responseEntries: 3, nameLength: 10, aliases: 2 } },
    });
    await ask(PART, "*");
    server.rest();
    server.reply(PART, { resources: ["a", "b", "c", "d"].map((name) => ({ name })) });
    expect(server.next().error?.message).toContain("more than 3 entries");
    server.reply(PART, {
      version: "1",
      resources: [
        { name: "a".repeat(11) },
        { name: "b", version: "v".repeat(11) },
        { name: "c", aliases: ["x", "y", "z"] },
      ],
    });
    expect(server.next().error?.message).toMatch(
      /^3 resources rejected: .*longer than 10.*longer than 10.*more than 2 aliases/,
    );
    server.reply(PART, {
      version: "2",
      resources: [{ name: "a" }, { name: "b", aliases: ["x", "y"] }],
    });
    expect([server.next().error, cache.counters.resources]).toEqual([undefined, 2]);
  });

  it("a name that is not UTF-8 is rejected, and what came with it is taken [C-LIM-7]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    const wrapped = (resource: Buffer): Buffer =>
      field(
        RESOURCES,
        variant === "delta"
          ? resource
          : Buffer.concat([
              field(1, "type.googleapis.com/envoy.service.discovery.v3.Resource"),
              field(2, resource),
            ]),
      );
    const body = field(2, Buffer.concat([field(1, PART), field(2, field(1, "a"))]));
    server.rest();
    server.raw.sendBytes(
      Buffer.concat([
        head,
        wrapped(Buffer.concat([field(3, Buffer.of(0xc3, 0x28)), body])),
        wrapped(Buffer.concat([field(3, "a"), field(1, "v"), body])),
      ]),
    );
    expect([server.next().error?.message, a?.now]).toEqual([
      expect.stringContaining("UTF-8"),
      "a=",
    ]);
  });

  it("a check that throws fails one resource [C-LIM-7]", async () => {
    const types = madeUpTypes.map((type) => ({
      ...type,
      validate: ({ name }: { name: string }): XdsError | undefined => {
        if (name === "b") throw new RangeError("Maximum call stack size exceeded");
        return undefined;
      },
    }));
    const { ask, server } = createClientWorld(variant, { types });
    const [a, b] = await ask(PART, "a", "b");
    server.rest();
    server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
      ],
    });
    expect([a?.now, b?.now, server.next().error?.message]).toEqual([
      "a=1",
      expect.stringContaining("pending"),
      expect.stringContaining("call stack"),
    ]);
  });

  it("bytes that are not a message end the stream, and another is opened [C-LIM-7]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.raw.sendBytes(Buffer.from("HTTP/1.1 400 Bad Request"));
    expect(server.raw.connected).toBe(false);
    clock.advance(1_000);
    await turn();
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect(a?.now).toBe("a=1");
  });

  it("a response without a nonce is taken and answered without one [C-LIM-7]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.rest();
    server.reply(PART, { nonce: "", version: "1", resources: [{ name: "a", text: "1" }] });
    expect([a?.now, server.next().nonce]).toEqual(["a=1", ""]);
  });

  it("what a server that floods leaves behind is bounded by what is wanted [C-LIM-7]", async () => {
    const { ask, server, cache, clock, status } = createClientWorld(variant, {
      client: { limits: { rejectedMembers: 10 } },
    });
    await ask(PART, "a", "none");
    await ask(FULL, "*");
    for (let n = 0; n < 2_000; n++) {
      server.reply(PART, {
        resources: [{ name: "a", text: String(n), ttlMs: 1_000 + n }, { name: `b${n}` }],
        errors: [
          [`c${n}`, 14],
          ["none", 14, String(n)],
        ],
      });
      server.reply(FULL, { version: String(n), resources: [{ name: `d${n}`, payloadType: PART }] });
      server.rest();
    }
    await turn();
    const [part, full] = [status(PART), status(FULL)];
    expect([
      cache.counters.resources,
      cache.counters.topics,
      part.wants.length,
      full.wants[0]?.rejected.length,
    ]).toEqual([1, 3, 2, variant === "delta" ? 10 : 1]);
    expect(clock.pending).toBeLessThan(10);
  });

  it("a TTL longer than any timer of the machine is taken, one beyond all bounds is rejected [C-LIM-7]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.rest();
    server.reply(PART, { resources: [{ name: "a", text: "1", ttlMs: 40 * 86_400_000 }] });
    clock.advance(39 * 86_400_000);
    expect([a?.now, server.next().error]).toEqual(["a=1", undefined]);
    server.reply(PART, { resources: [{ name: "a", text: "2", ttlMs: 400_000_000_000_000 }] });
    expect([a?.now, server.next().error?.code]).toEqual(["a=1 ~INVALID_ARGUMENT", 3]);
  });

  it("no bytes whatever throw: random changes to good responses [C-LIM-7]", async () => {
    const random = createRandom(7);
    const world = createClientWorld(variant);
    const [a] = await world.ask(PART, "a", ns("*"), "*");
    const good = Buffer.concat([
      head,
      field(1, "v"),
      field(
        RESOURCES,
        variant === "delta"
          ? Buffer.concat([
              field(3, "a"),
              field(1, "v"),
              field(2, Buffer.concat([field(1, PART), field(2, field(1, "a"))])),
              field(6, Buffer.of(8, 5)),
              field(8, field(1, "a")),
            ])
          : Buffer.concat([field(1, PART), field(2, field(1, "a"))]),
      ),
    ]);
    for (let n = 0; n < 3_000; n++) {
      const bytes = Buffer.from(good);
      for (let k = 0; k <= random.below(3); k++)
        bytes[random.below(bytes.length)] = random.below(256);
      world.server.raw.sendBytes(
        random.below(4) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes,
      );
      if (!world.server.raw.connected) world.clock.advance(200_000);
      await Promise.resolve();
      world.server.rest();
    }
    world.clock.advance(200_000);
    await turn();
    world.server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect(a?.now).toMatch(/^a=1/);
  });
});
