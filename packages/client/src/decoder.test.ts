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
