import { once } from "node:events";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { lengthDelimited } from "@xdstp/core/wire";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServer } from "../src/index.ts";
import { createClient, payload, readResponse } from "./client.ts";
import { connectTo, openCall, requestsOf, type GrpcCall } from "./grpc-call.ts";
import {
  fetchPath,
  paths,
  readyCache,
  serve,
  types,
  variants,
  type VariantName,
} from "./harness.ts";

/** One test for each row of "Known vulnerabilities" in docs/reference/operators-and-security.md that concerns what messages hold; titles name the row. The wire has its own in packages/grpc. */
const depth = 50_000;

/** Returns a message that is nested in itself many times, always in the same field. */
function nested(field: number, levels: number): Uint8Array {
  const tag = (field << 3) | 3;
  const open = Buffer.from([
    (tag & 0x7f) | (tag > 0x7f ? 0x80 : 0),
    ...(tag > 0x7f ? [tag >> 7] : []),
  ]);
  const close = Buffer.from([
    ((tag + 1) & 0x7f) | (tag > 0x7f ? 0x80 : 0),
    ...(tag > 0x7f ? [tag >> 7] : []),
  ]);
  return Buffer.concat([
    ...Array.from({ length: levels }, () => open),
    ...Array.from({ length: levels }, () => close),
  ]);
}

/**
 * Returns a `google.protobuf.Struct` that is nested in itself: field 1 is a map entry, its field 2
 * a value, and field 5 of the value a struct.
 */
function deepStruct(levels: number): Uint8Array {
  let inner: Uint8Array = new Uint8Array(0);
  for (let level = 0; level < levels; level++)
    inner = lengthDelimited(
      1,
      Buffer.concat([lengthDelimited(1, "k"), lengthDelimited(2, lengthDelimited(5, inner))]),
    );
  return inner;
}

function witness(variant: VariantName): {
  readonly bad: ReturnType<ReturnType<typeof serve>["open"]>;
  readonly served: () => void;
} {
  const cache = readyCache();
  cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
  const { open, turn } = serve(cache);
  const [bad, good] = [open(variant), open(variant)];
  return {
    bad,
    served() {
      good.ask(types.cluster, ["a"]);
      turn();
      expect(good.next().names).toEqual(["a"]);
    },
  };
}

describe.each(variants)("known vulnerabilities (%s)", (variant) => {
  it(`CVE-2026-44289, -45740, -48712, CVE-2023-36665: a message that nests 50,000 deep ends its stream at most (${variant}) [B-LIM-5]`, () => {
    for (const message of [
      nested(100, depth),
      lengthDelimited(1, nested(100, depth)),
      lengthDelimited(1, lengthDelimited(3, deepStruct(2_000))),
    ]) {
      const { bad, served } = witness(variant);
      bad.send(message);
      expect([undefined, 3]).toContain(bad.closed?.code);
      served();
    }
  });

  it(`CVE-2023-36665: names of prototypes are names like others (${variant})`, () => {
    const { bad, served } = witness(variant);
    bad.ask("type.googleapis.com/constructor", ["__proto__", "constructor", "toString"], {
      __proto__x: "1",
      hasOwnProperty: "1",
    });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    served();
  });

  it(`CVE-2022-23635, GHSA-86vr-4wcv-mm9w, GHSA-8w5h-qr4r-2h6g, GHSA-qcvw-82hh-gq38: one unauthenticated message ends its stream at most, whatever it is (${variant}) [S-STREAM-7]`, () => {
    for (const message of [
      new Uint8Array(0),
      Uint8Array.of(0xff),
      Buffer.alloc(100_000, 0x0b),
      Buffer.alloc(1000, 0xff),
      Buffer.from("(a+)+$".repeat(1000)),
    ]) {
      const { bad, served } = witness(variant);
      bad.send(message);
      served();
    }
  });

  it(`GHSA-qcvw-82hh-gq38: a pattern in a name is not a pattern: work for it is as for any name (${variant}) [S-LIM-6]`, () => {
    const { bad, served } = witness(variant);
    // A regular expression would take years.
    bad.ask(types.cluster, [
      `xdstp://${"a".repeat(1000)}/${"%25".repeat(300)}?${"x&".repeat(30)}`,
      "(a+)+$".repeat(300),
      "/".repeat(2000),
      "xdstp:".repeat(300),
    ]);
    served();
  });
});

describe("known vulnerabilities (fetch)", () => {
  async function useFetch(): Promise<{
    readonly session: Awaited<ReturnType<typeof connectTo>>;
    readonly served: () => Promise<void>;
  }> {
    const cache = readyCache();
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    const server = createServer({ source: cache });
    const { port } = await server.listen({ port: 0 });
    const session = await connectTo(port);
    onTestFinished(async () => {
      session.destroy();
      await server.close({ graceMs: 1 });
    });
    return {
      session,
      async served() {
        const call: GrpcCall = openCall(session, paths["delta/ads"]);
        createClient(requestsOf(call), "delta").ask(types.cluster, ["a"]);
        expect(readResponse((await call.next()) ?? new Uint8Array(0), "delta").names).toEqual([
          "a",
        ]);
      },
    };
  }

  it.each([
    ["arrays", "[".repeat(1_000_000)],
    ["objects", '{"a":'.repeat(500_000)],
    ["Any", '{"@type":"type.googleapis.com/google.protobuf.Any","value":'.repeat(20_000)],
  ] as const)(
    "CVE-2024-24786, CVE-2026-48042: JSON of a million nested %s ends its call at most (fetch) [B-LIM-5]",
    async (_, json) => {
      const { session, served } = await useFetch();
      const stream = session.request({
        ":method": "POST",
        ":path": fetchPath,
        "content-type": "application/json",
      });
      const [headers] = (await Promise.all([
        once(stream, "response"),
        new Promise((resolve) => {
          stream.end(json, () => {
            resolve(undefined);
          });
        }),
      ])) as [unknown[], unknown];
      expect((headers[0] as Record<string, number>)[":status"]).toBeGreaterThanOrEqual(400);
      stream.destroy();
      await served();
    },
  );

  it.each(["gzip", "br", "zstd"])(
    "CVE-2026-48044: nothing compressed with %s is opened (fetch) [B-LIM-5]",
    async (encoding) => {
      const { session, served } = await useFetch();
      const stream = session.request({
        ":method": "POST",
        ":path": fetchPath,
        "content-type": "application/grpc",
        te: "trailers",
        "grpc-encoding": encoding,
      });
      const message = toBinary(
        DeltaDiscoveryRequestSchema,
        create(DeltaDiscoveryRequestSchema, {}),
      );
      stream.end(Buffer.concat([Buffer.from([1, 0, 0, 0, message.length]), message]));
      stream.resume();
      const [trailers] = (await once(stream, "trailers")) as [Record<string, string>];
      expect(trailers["grpc-status"]).toBe("12");
      stream.destroy();
      await served();
    },
  );

  it("protobuf-es stops at 100 levels: where it does not any more, requests need a check of their own", () => {
    expect(() =>
      fromBinary(
        DeltaDiscoveryRequestSchema,
        lengthDelimited(1, lengthDelimited(3, deepStruct(200))),
      ),
    ).toThrow("depth");
  });
});
