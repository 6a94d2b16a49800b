import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld } from "./harness/client-world.ts";

describe.each(["delta", "sotw"] as const)("streams (%s)", (variant) => {
  it("a change is sent without waiting for a response to the one before [C-STREAM-11]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    const [b] = await ask(PART, "b");
    const [c] = await ask(PART, "c");
    expect(server.rest().map(({ names }) => names)).toEqual(
      variant === "delta" ? [["a"], ["b"], ["c"]] : [["a"], ["a", "b"], ["a", "b", "c"]],
    );
    server.reply(PART, { resources: ["a", "b", "c"].map((name) => ({ name, text: "1" })) });
    expect([a?.now, b?.now, c?.now]).toEqual(["a=1", "b=1", "c=1"]);
  });

  it("what comes is read while nothing can be written [B-STREAM-12]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a, x] = [...(await ask(PART, "a")), ...(await ask(FULL, "x"))];
    expect(server.rest()).toHaveLength(2);
    server.raw.fill();
    const nonces = Array.from({ length: 1_000 }, (_, n) =>
      server.reply(PART, { resources: [{ name: "a", text: String(n) }] }),
    );
    server.reply(FULL, { resources: [{ name: "x", text: "1" }] });
    expect([a?.now, x?.now]).toEqual(["a=999", "x=1"]);
    // One was taken before the wire said that it is full.
    expect(server.rest().map(({ nonce }) => nonce)).toEqual(nonces.slice(0, 1));
    server.raw.drain();
    expect(
      server
        .rest()
        .filter(({ typeUrl }) => typeUrl === PART)
        .map(({ nonce }) => nonce),
    ).toEqual(nonces.slice(1));
  });
});
