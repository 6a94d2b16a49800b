import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import type { Batch } from "../delivery/batch.ts";
import { createExchange } from "../delivery/exchange.ts";
import { createStuckWatch } from "./stuck-watch.ts";

describe("createStuckWatch()", () => {
  it("ends a stream whose response is unanswered for so long, once, and says why [S-ACK-17]", () => {
    const clock = createManualClock();
    const watch = createStuckWatch(clock, 60_000);
    const ended: unknown[] = [];
    const exchange = createExchange();
    const debtor = {
      exchange,
      host: {
        end: (...said: readonly unknown[]) => {
          ended.push(said);
        },
      },
    };
    const owe = (): void => {
      exchange.inFlight = { since: clock.now() } as Batch;
      watch?.watch(debtor);
    };
    owe();
    clock.advance(59_999);
    exchange.inFlight = undefined;
    clock.advance(1);
    expect(ended).toEqual([]);
    owe();
    clock.advance(30_000);
    watch?.watch(debtor);
    expect(clock.timers).toBe(1);
    clock.advance(30_000);
    expect(ended).toEqual([[14, "a response was not answered for too long", "endStuckMs"]]);
  });

  it("is not there where nobody is ended for that", () => {
    expect(createStuckWatch(createManualClock(), Infinity)).toBeUndefined();
  });
});
