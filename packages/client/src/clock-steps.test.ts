import { create, toBinary } from "@bufbuild/protobuf";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";

import { flag, flagUrl, turn, useDeltaScript, useSotwScript } from "../test/use-script.ts";

const hourMs = 3_600_000;
/** A resource that lives for 6 s. */
const resourceOf = (name: string) => ({
  name,
  version: "1",
  ttl: { seconds: 6n, nanos: 0 },
  resource: { typeUrl: flagUrl, value: Buffer.from("on") },
});

const scripts = {
  delta: () => {
    const script = useDeltaScript({ idleMs: 5_000 });
    const give = (name: string): void => {
      script.server.send({ typeUrl: flagUrl, nonce: "1", resources: [resourceOf(name)] });
    };
    return { script, give };
  },
  sotw: () => {
    const script = useSotwScript({ idleMs: 5_000 });
    const give = (name: string): void => {
      const value = toBinary(ResourceSchema, create(ResourceSchema, resourceOf(name)));
      script.server.send({
        typeUrl: flagUrl,
        nonce: "1",
        versionInfo: "1",
        resources: [{ typeUrl: "type.googleapis.com/envoy.service.discovery.v3.Resource", value }],
      });
    };
    return { script, give };
  },
};

/**
 * Returns the events and values of a client, each with its millisecond. The wall clock is stepped
 * every 500 ms.
 */
async function timeline(variant: keyof typeof scripts, stepMs: number): Promise<readonly string[]> {
  const {
    script: { client, clock, server, events },
    give,
  } = scripts[variant]();
  const seen: string[] = [];
  const note = (what: string): void => {
    seen.push(`${clock.now()} ${what}`);
  };
  const pass = async (ms: number): Promise<void> => {
    const end = clock.now() + ms;
    while (clock.now() < end) {
      const known = events.length;
      clock.advance(100);
      await turn();
      for (const { kind } of events.slice(known)) note(kind);
      if (clock.now() % 500 === 0) clock.stepWallTime(stepMs);
    }
  };
  const watch = (name: string) => {
    const made = client.watch(flag, name);
    void (async () => {
      for await (const { value, error } of made)
        note(`${name} ${value ?? ""} ${error?.code ?? ""}`);
    })();
    return made;
  };
  const watches = [watch("lives-6-s"), watch("does-not-exist")];
  await pass(1_000);
  give("lives-6-s");
  // The time to live, and the 15 s after which a name without a response does not exist.
  await pass(20_000);
  for (let end = 0; end < 3; end++) {
    server.close();
    // The back-off.
    await pass(5_000);
  }
  for (const one of watches) one.close();
  // The idle time.
  await pass(10_000);
  return seen;
}

describe.each(["delta", "sotw"] as const)("a step of the wall clock (%s)", (variant) => {
  it.each([
    ["back", -hourMs],
    ["forward", hourMs],
  ])(
    `by an hour %s every half a second changes no time to live, back-off, idle time or time until a name does not exist (${variant}) [S-TTL-11, C-MISS-4, C-STREAM-14]`,
    async (_, stepMs) => {
      expect(await timeline(variant, stepMs)).toEqual([
        "100 opened",
        "1100 lives-6-s on ",
        "7000 lives-6-s  NOT_FOUND",
        "15100 does-not-exist  NOT_FOUND",
        "15100 timeout",
        "22000 opened",
        "26100 lives-6-s  UNAVAILABLE",
        "26100 does-not-exist  UNAVAILABLE",
        "27600 opened",
        "31100 lives-6-s  UNAVAILABLE",
        "31100 does-not-exist  UNAVAILABLE",
        "33600 opened",
        "41100 idle",
      ]);
    },
  );
});
