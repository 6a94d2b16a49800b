import type { Resource } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { createDecoder } from "./decoder.ts";

const typeUrl = "type.googleapis.com/t.T";
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
const resource = (name: string): Resource => ({
  name,
  version: "1",
  payload: { typeUrl, value: Buffer.from(name) },
});

describe("createDecoder()", () => {
  it("decodes once what is checked by several and read in the same turn", () => {
    let decoded = 0;
    const decoder = createDecoder({
      typeUrl,
      decode: (payload) => `${String(payload)}${++decoded}`,
    });
    const [a, b] = [resource("a"), resource("b")];
    for (const one of [a, a, b, b]) expect(decoder.check(one, one.name, undefined)).toBeUndefined();
    expect([decoder.read(a), decoder.read(b), decoder.read(a), decoded]).toEqual([
      "a1",
      "b2",
      "a1",
      2,
    ]);
  });

  it("reads a redirect where the type can, and rejects it where it cannot [C-REDIR-1]", () => {
    const payload = {
      typeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator",
      value: Buffer.from("there"),
    };
    const redirect = { name: "a", version: "1", payload };
    const decode = (): string => "a payload";
    const able = createDecoder({ typeUrl, decode, redirect: (bytes) => `to ${String(bytes)}` });
    expect(able.check(redirect, "a", undefined)).toBeUndefined();
    expect(able.read(redirect)).toBe("to there");
    expect(createDecoder({ typeUrl, decode }).check(redirect, "a", undefined)?.text).toBe(
      "it is a xds.core.v3.ResourceLocator, which this client does not follow",
    );
  });

  it("keeps what comes only as long as it is read in the turn in which it came", async () => {
    let decoded = 0;
    const decoder = createDecoder({ typeUrl, decode: () => ++decoded });
    const cost = async (name: string, reads: boolean): Promise<number> => {
      const before = decoded;
      decoder.check(resource(name), name, undefined);
      if (reads) decoder.read(resource(name));
      await turn();
      return decoded - before;
    };
    expect([
      await cost("a", true),
      await cost("b", false),
      await cost("c", true),
      await cost("d", true),
    ]).toEqual([1, 1, 2, 1]);
  });
});
