import { toBinary, create } from "@bufbuild/protobuf";
import { StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import type { RawServer } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { flag, flagUrl, turn, useDeltaScript } from "../test/use-script.ts";

/** Rows of "Known failures" and "Known vulnerabilities" in docs/reference/operators-and-security.md that concern what a program does with a client; titles name the row. */
let nonce = 0;

function give(server: RawServer<"delta">, typeUrl: string, name: string, value: Uint8Array): void {
  nonce++;
  server.send({
    typeUrl,
    nonce: String(nonce),
    resources: [{ name, version: String(nonce), resource: { typeUrl, value } }],
  });
}

/** Returns `depth` nested values, each the only one of the list around it. */
function nested(depth: number): Uint8Array {
  const parts: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < 2 * depth; level++) {
    const head = Buffer.from([level % 2 === 0 ? 0x0a : 0x32, ...varint(length)]);
    parts.push(head);
    length += head.length;
  }
  return Buffer.concat(parts.reverse());
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

describe("known failures, seen from a program", () => {
  it("grpc-go #8594: watchers that close, throw or give up in the midst of an update do not hold the stream up [C-ACK-13]", async () => {
    const { client, server } = useDeltaScript();
    const seen: string[] = [];
    client.watch(flag, "a", {
      onChanged: ({ value }) => {
        seen.push(value ?? "");
      },
    });
    for (let round = 0; round < 50; round++) {
      const closes = client.watch(flag, "a", {
        onChanged: () => {
          closes.close();
        },
      });
      const leaves = (async () => {
        for await (const { value } of client.watch(flag, "a")) return value;
        return "";
      })();
      const throws = (async () => {
        for await (const { value } of client.watch(flag, "a")) throw new Error(value);
      })().catch((error: unknown) => error);
      const rejects = client.watch(flag, "a", {
        validate: () => {
          throw new Error("never");
        },
      });
      const controller = new AbortController();
      const aborted = (async () => {
        for await (const { value } of client.watch(flag, "a", { signal: controller.signal }))
          expect(value).toBeDefined();
      })().catch((error: unknown) => error);
      await turn();
      rejects.close();
      give(server, flagUrl, "a", Buffer.from(String(round)));
      controller.abort(new Error("enough"));
      await Promise.all([leaves, throws, aborted, turn()]);
      await turn();
      expect(server.paused).toBe(false);
    }
    expect(seen.at(-1)).toBe("49");
    expect(client.status()[0]?.status?.types[0]?.wants).toHaveLength(1);
  });

  it("CVE-2026-44289, CVE-2026-45740, CVE-2026-48712, GHSA-qcvw-82hh-gq38: a message that nests without end is rejected, and the rest goes on [C-LIM-7, B-LIM-5]", async () => {
    const { client, server } = useDeltaScript();
    const typeUrl = `type.googleapis.com/${ValueSchema.typeName}`;
    const watch = client.watch(ValueSchema, "a")[Symbol.asyncIterator]();
    await turn();
    for (const depth of [1_000, 50_000]) {
      give(server, typeUrl, "a", nested(depth));
      expect((await watch.next()).value?.error?.code).toBe("INVALID_ARGUMENT");
    }
    give(server, typeUrl, "a", nested(10));
    expect((await watch.next()).value).toMatchObject({ value: { kind: { case: "listValue" } } });
    await client.dump();
  });

  it("redirects that lead in a circle are told, are asked for once each, and rejected by nobody [C-REDIR-4] [C-LIM-7]", async () => {
    const { client, server } = useDeltaScript();
    const [one, other] = ["xdstp://a/acme.v1.Flag/one", "xdstp://a/acme.v1.Flag/other"];
    const said = client.watch(flag, one)[Symbol.asyncIterator]();
    await turn();
    const redirect = (name: string, id: string): void => {
      nonce++;
      const value = toBinary(
        ResourceLocatorSchema,
        create(ResourceLocatorSchema, { id, authority: "a", resourceType: "acme.v1.Flag" }),
      );
      server.send({
        typeUrl: flagUrl,
        nonce: String(nonce),
        resources: [
          {
            name,
            version: String(nonce),
            resource: { typeUrl: `type.googleapis.com/${ResourceLocatorSchema.typeName}`, value },
          },
        ],
      });
    };
    redirect(one, "other");
    await turn();
    redirect(other, "one");
    expect((await said.next()).value?.error?.text).toContain(
      `${one} -> ${other} -> ${one}: the redirects go in a circle`,
    );
    for (let time = 0; time < 10; time++) redirect(other, "one");
    await turn();
    const asked = server.rest();
    expect(asked.flatMap(({ resourceNamesSubscribe }) => resourceNamesSubscribe)).toEqual([
      one,
      other,
    ]);
    expect(asked.filter(({ errorDetail }) => errorDetail !== undefined)).toEqual([]);
  });

  it("CVE-2023-36665: a key that is called __proto__ is a key like any other [C-LIM-7]", async () => {
    const { client, server } = useDeltaScript();
    const watch = client.watch(StructSchema, "a")[Symbol.asyncIterator]();
    await turn();
    const inner = toBinary(
      ValueSchema,
      create(ValueSchema, { kind: { case: "stringValue", value: "polluted" } }),
    );
    const key = Buffer.from("__proto__");
    const entry = Buffer.concat([
      Buffer.of(0x0a, key.length),
      key,
      Buffer.of(0x12, inner.length),
      inner,
    ]);
    give(
      server,
      `type.googleapis.com/${StructSchema.typeName}`,
      "a",
      Buffer.concat([Buffer.of(0x0a, entry.length), entry]),
    );
    const { value } = await watch.next();
    expect(value?.error).toBeUndefined();
    expect(({} as Record<string, unknown>).kind).toBeUndefined();
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "CVE-2023-36665: so is the name of a resource, %s",
    async (name) => {
      const { client, server } = useDeltaScript();
      const watch = client.watch(flag, name)[Symbol.asyncIterator]();
      await turn();
      give(server, flagUrl, name, Buffer.from("on"));
      expect((await watch.next()).value).toMatchObject({ name, value: "on" });
      expect((await client.dump()).genericXdsConfigs.map(({ name: shown }) => shown)).toEqual([
        name,
      ]);
    },
  );
});
