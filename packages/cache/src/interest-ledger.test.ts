import { createFakeClock } from "@xdstp/testing";
import type { Interest } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { T, turn, U } from "../test/scene.ts";
import { InterestLedger } from "./interest-ledger.ts";

const x: Interest = { name: "x" };
const withParameters = (...parameters: readonly [string, string][]): Interest => ({
  name: "x",
  parameters: new Map(parameters),
});

function createScene(lingerMs = 0): {
  ledger: InterestLedger;
  clock: ReturnType<typeof createFakeClock>;
  told: string[];
} {
  const clock = createFakeClock();
  const told: string[] = [];
  const show = ({ name, parameters }: Interest): string => [name, ...(parameters ?? [])].join(" ");
  const ledger = new InterestLedger({
    clock,
    lingerMs,
    onChange: (changes) => {
      const texts = changes.map(
        ({ typeUrl, added, dropped, unheard }) =>
          `${typeUrl.slice(-1)}:${added.map((one) => ` +${show(one)}`).join("")}${dropped.map(({ interest, key }) => ` -${show(interest)} (${key})`).join("")}${unheard.map(({ key }) => ` (${key})`).join("")}`,
      );
      told.push(texts.join(", "));
    },
  });
  return { ledger, clock, told };
}

describe("InterestLedger", () => {
  it("wants a name until the last who asked for it has gone [B-RELAY-8]", async () => {
    const { ledger, told } = createScene();
    ledger.open(T, x, "x");
    ledger.open(T, x, "x");
    expect([ledger.wants(T, "x"), ledger.wants(U, "x"), ledger.wants(T, "y")]).toEqual([
      true,
      false,
      false,
    ]);
    await turn();
    ledger.close(T, x, "x");
    await turn();
    expect([ledger.wants(T, "x"), told]).toEqual([true, ["T: +x"]]);
    ledger.close(T, x, "x");
    await turn();
    expect([ledger.wants(T, "x"), told]).toEqual([false, ["T: +x", "T: -x (x)"]]);
  });

  it("wants a name as long as it is asked for with any parameters, in whatever order they stand [N-66]", async () => {
    const { ledger, told } = createScene();
    const [ab, ba, other] = [
      withParameters(["a", "1"], ["b", "2"]),
      withParameters(["b", "2"], ["a", "1"]),
      withParameters(["a", "2"]),
    ];
    for (const interest of [ab, ba, other]) ledger.open(T, interest, "x");
    await turn();
    expect(told).toEqual(["T: +x a,1 b,2 +x a,2"]);
    ledger.close(T, ab, "x");
    await turn();
    expect(told).toHaveLength(1 + 0);
    ledger.close(T, ba, "x");
    await turn();
    expect([ledger.wants(T, "x"), told.slice(1)]).toEqual([true, ["T: -x a,1 b,2 (x)"]]);
    ledger.close(T, other, "x");
    await turn();
    expect([ledger.wants(T, "x"), ledger.wants(U, "x")]).toEqual([false, false]);
  });

  it("takes no parameters and an empty map of them for the same", async () => {
    const { ledger, told } = createScene();
    ledger.open(T, x, "x");
    ledger.open(T, withParameters(), "x");
    await turn();
    expect(told).toEqual(["T: +x"]);
  });

  it("says what has been announced, by type, and not what has only begun or was dropped", async () => {
    const { ledger } = createScene();
    const announced = (): readonly unknown[] => [...ledger.announced()];
    ledger.open(T, x, "x");
    expect(announced()).toEqual([]);
    await turn();
    ledger.open(T, { name: "y" }, "y");
    ledger.open(U, x, "x");
    expect(announced()).toEqual([{ typeUrl: T, added: [x], dropped: [], unheard: [] }]);
    await turn();
    ledger.close(T, x, "x");
    await turn();
    expect(announced()).toEqual([
      { typeUrl: T, added: [{ name: "y" }], dropped: [], unheard: [] },
      { typeUrl: U, added: [x], dropped: [], unheard: [] },
    ]);
  });

  it("lets each linger for its own time, by one timer [B-RELAY-8]", async () => {
    const { ledger, clock, told } = createScene(100);
    for (const name of ["x", "y", "z"]) ledger.open(T, { name }, name);
    await turn();
    ledger.close(T, x, "x");
    clock.advance(40);
    for (const name of ["y", "z"]) ledger.close(T, { name }, name);
    expect(clock.pending).toBe(1);
    clock.advance(59);
    await turn();
    expect([told.length, ledger.wants(T, "x")]).toEqual([1, true]);
    clock.advance(1);
    await turn();
    expect([told.slice(1), clock.pending]).toEqual([["T: -x (x)"], 1]);
    clock.advance(40);
    await turn();
    expect([told.slice(2), clock.pending]).toEqual([["T: -y (y) -z (z)"], 0]);
  });

  it("does not linger for what no feed has heard of yet", async () => {
    const { ledger, clock, told } = createScene(100);
    ledger.open(T, x, "x");
    ledger.close(T, x, "x");
    await turn();
    expect([clock.pending, ledger.wants(T, "x"), told]).toEqual([0, false, ["T: (x)"]]);
  });

  it("begins anew with the time of one who comes back and goes again [B-RELAY-8]", async () => {
    const { ledger, clock, told } = createScene(100);
    ledger.open(T, x, "x");
    await turn();
    ledger.close(T, x, "x");
    clock.advance(50);
    ledger.open(T, x, "x");
    ledger.close(T, x, "x");
    clock.advance(50);
    await turn();
    expect([told.filter((text) => text.includes("-")), ledger.wants(T, "x")]).toEqual([[], true]);
    clock.advance(50);
    await turn();
    expect(told.at(-1)).toBe("T: -x (x)");
  });

  it("is silent once it has ended", async () => {
    const { ledger, clock, told } = createScene(100);
    ledger.open(T, x, "x");
    ledger.open(T, { name: "y" }, "y");
    await turn();
    ledger.close(T, x, "x");
    ledger.open(T, { name: "z" }, "z");
    ledger.end();
    ledger.close(T, { name: "y" }, "y");
    ledger.schedule();
    await turn();
    expect([told, clock.pending]).toEqual([["T: +x +y"], 0]);
  });

  it("does nothing for one who goes without having come", async () => {
    const { ledger, told } = createScene();
    ledger.close(T, x, "x");
    await turn();
    expect(told).toEqual([]);
  });

  it("does not grow by an interest that comes and goes while it lingers [C-LIM-7]", async () => {
    const { ledger, clock, told } = createScene(1_000);
    ledger.open(T, x, "x");
    await turn();
    for (let n = 0; n < 10_000; n++) {
      ledger.close(T, x, "x");
      if (n % 20 === 0) clock.advance(1);
      ledger.open(T, x, "x");
    }
    ledger.close(T, x, "x");
    expect([ledger.lingering < 100, clock.pending]).toEqual([true, 1]);
    clock.advance(999);
    await turn();
    const said = (): readonly string[] => told.filter((text) => text !== "");
    expect(said()).toEqual(["T: +x"]);
    clock.advance(1);
    await turn();
    expect([said(), ledger.lingering, clock.pending]).toEqual([["T: +x", "T: -x (x)"], 0, 0]);
  });
});
