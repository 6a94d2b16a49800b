import { createFakeClock } from "@xdstp/testing";
import type { FederationSource } from "@xdstp/federation";
import { StatusCode, type ResourceSource } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { flag, flagName, flagUrl } from "../../test/flag.ts";
import { useClient, useOrigin, useRelay } from "../../test/use-relay.ts";
import { createLastWords, createLookUpBook } from "./status-of.ts";

describe("relay.status()", () => {
  it("says who is asked, what was answered by what was held, and since when that may be old", async () => {
    const origin = await useOrigin();
    origin.cache.put({ typeUrl: flagUrl, name: flagName("a"), value: Buffer.from("1") });
    const { relay, uri } = await useRelay([origin.uri]);
    expect(relay.status().upstreams).toEqual([
      {
        id: expect.any(String) as string,
        name: origin.uri,
        authorities: [],
        isDefault: true,
        state: "idle",
        lookUps: { held: 0, asked: 0 },
      },
    ]);
    for (let client = 0; client < 3; client += 1)
      expect(await useClient([uri]).read(flag, flagName("a"))).toMatchObject({ value: "1" });
    const [answering] = relay.status().upstreams;
    expect(answering).toMatchObject({
      state: "answering",
      lookUps: { held: 2, asked: 1 },
      lastWordAt: expect.any(Number) as number,
    });
    expect(answering).not.toHaveProperty("staleSince");
    await origin.close();
    await expect
      .poll(() => relay.status().upstreams[0])
      .toMatchObject({
        state: "unreachable",
        staleSince: expect.any(Number) as number,
        failure: { code: "UNAVAILABLE" },
      });
    expect(await useClient([uri]).read(flag, flagName("a"))).toMatchObject({ value: "1" });
  });
});

describe("createLastWords()", () => {
  it("counts staleness from the first end of a stream until something comes, or nothing is wanted", () => {
    const clock = createFakeClock({ start: 1_000 });
    const words = createLastWords(clock);
    const closed = {
      server: "s",
      variant: "delta",
      kind: "closed",
      status: { code: StatusCode.UNAVAILABLE, message: "" },
      responded: true,
      retryMs: 1,
    } as const;
    words.note({
      server: "s",
      variant: "delta",
      kind: "accepted",
      typeUrl: flagUrl,
      nonce: "1",
      version: "",
      resources: 1,
      removed: 0,
    });
    clock.advance(10);
    words.note(closed);
    clock.advance(10);
    words.note(closed);
    expect(words.of("s")).toEqual({ lastWordAt: 1_000, staleSince: 1_010 });
    words.note({ server: "s", variant: "delta", kind: "idle" });
    expect(words.of("s")).toEqual({ lastWordAt: 1_000 });
    expect(words.of("t")).toEqual({});
  });
});

describe("createLookUpBook()", () => {
  it("counts each name where it is asked, as many authorities as clients may name", () => {
    const source = (id: string, more: Partial<FederationSource>): FederationSource => ({
      servers: [
        {
          id,
          name: id,
          open: () => {
            throw new Error("nobody opens it");
          },
        },
      ],
      ...more,
    });
    const book = createLookUpBook([
      source("a", { authorities: ["a", ""] }),
      source("o", { opaque: true }),
      source("d", {}),
    ]);
    const counted = book.over({
      topic: (_: string, { name }: { name: string }) => ({ settled: name.endsWith("held") }),
    } as unknown as ResourceSource);
    for (const name of [
      "xdstp://a/t/held",
      "xdstp:///t/x",
      "held",
      "xdstp://b/t/x",
      "xdstp://c/t/held",
      "xdstp:",
    ])
      counted.topic("t", { name });
    expect(["a", "o", "d", "none"].map((id) => book.of(id))).toEqual([
      { held: 1, asked: 1 },
      { held: 1, asked: 0 },
      { held: 1, asked: 2 },
      { held: 0, asked: 0 },
    ]);
  });
});
