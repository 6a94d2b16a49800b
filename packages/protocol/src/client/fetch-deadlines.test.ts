import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createFetchDeadlines } from "./fetch-deadlines.ts";
import { changeName, type WantedName } from "./wanted.ts";
import { createWantedIndex } from "./wanted-index.ts";

function want(name: string): WantedName {
  const made = createWantedIndex("t").add({ name });
  if (made?.kind !== "name") throw new Error("it is new, and a name");
  changeName(made, { kind: "sent", first: true });
  return made;
}

describe("createFetchDeadlines()", () => {
  it("tells of what is still awaited when its time is over, with one timer for all [C-MISS-4]", () => {
    const clock = createManualClock();
    const due: string[] = [];
    const deadlines = createFetchDeadlines(clock, 15_000, (wants) => {
      due.push(`${clock.now()} ${wants.map(({ key }) => key).join("")}`);
    });
    const [a, b, c] = [want("a"), want("b"), want("c")];
    deadlines.start([a, b]);
    clock.advance(5_000);
    deadlines.start([c]);
    expect(clock.timers).toBe(1);
    changeName(b, { kind: "answered" });
    clock.advance(60_000);
    expect([due, clock.timers]).toEqual([["15000 a", "20000 c"], 0]);
  });

  it("concludes nothing once it is stopped, and nothing at all with 0", () => {
    const clock = createManualClock();
    const due: unknown[] = [];
    const [stopped, never] = [15_000, 0].map((ms) =>
      createFetchDeadlines(clock, ms, (wants) => {
        due.push(wants);
      }),
    );
    for (const deadlines of [stopped, never]) deadlines?.start([want("a")]);
    stopped?.stop();
    clock.advance(60_000);
    expect([due, clock.timers]).toEqual([[], 0]);
  });
});
