import { createScheduler } from "@xdstp/protocol/server";
import { createFakeClock, createManualScheduler } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { nextTurn } from "./create-server.ts";

describe("nextTurn()", () => {
  it("comes after all that is due, and leaves no timer", async () => {
    const turns = createManualScheduler();
    const clock = createFakeClock();
    const scheduler = createScheduler({ slice: 1, later: turns.later });
    const served: string[] = [];
    for (const id of ["a", "b", "c"])
      scheduler.add({
        queued: false,
        drain: () => {
          served.push(id);
        },
      });
    const turn = nextTurn(scheduler, clock, 100).then(() => served.join());
    turns.run();
    expect(await turn).toBe("a,b,c");
    expect(clock.pending).toBe(0);
  });

  it("waits no longer than it may", async () => {
    const clock = createFakeClock();
    const turn = nextTurn(createScheduler({ later: () => undefined }), clock, 100);
    clock.advance(100);
    await turn;
  });
});
