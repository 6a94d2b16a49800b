import { describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/manual-clock.ts";
import { createHeartbeats, type BeatOutcome, type Beating, type Heartbeats } from "./heartbeats.ts";
import { createScheduler } from "./scheduler.ts";

/** Counts the heartbeats that were requested, and returns the outcome that a test sets. */
class Noting implements Beating {
  outcome: BeatOutcome = "sent";
  readonly beats: number[] = [];
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  beat(): BeatOutcome {
    this.beats.push(this.#clock.now());
    return this.outcome;
  }
}

function useHeartbeats(): {
  readonly clock: ManualClock;
  readonly heartbeats: Heartbeats;
  readonly one: Noting;
} {
  const clock = createManualClock();
  const heartbeats = createHeartbeats(
    clock,
    createScheduler({
      later: (callback) => {
        callback();
      },
    }),
  );
  return { clock, heartbeats, one: new Noting(clock) };
}

describe("createHeartbeats()", () => {
  it("asks three times in a TTL, with one timer for everyone [S-TTL-2]", () => {
    const { clock, heartbeats, one } = useHeartbeats();
    const others = Array.from({ length: 200 }, () => new Noting(clock));
    for (const beating of [one, ...others]) {
      heartbeats.add(9_000, beating);
      heartbeats.add(9_000, beating);
    }
    heartbeats.add(90_000, one);
    expect(clock.timers).toBe(1);
    clock.advance(9_000);
    for (const { beats } of [one, ...others]) expect(beats).toEqual([3_000, 6_000, 9_000]);
  });

  it("ceases when nothing has the TTL any more, and when the stream is over", () => {
    const { clock, heartbeats, one } = useHeartbeats();
    const other = new Noting(clock);
    for (const beating of [one, other]) heartbeats.add(3_000, beating);
    one.outcome = "none";
    clock.advance(1_000);
    heartbeats.drop(other);
    clock.advance(10_000);
    expect([one.beats, other.beats]).toEqual([[1_000], [1_000]]);
    expect(clock.timers).toBe(0);
    heartbeats.add(3_000, one);
    clock.advance(1_000);
    expect(one.beats).toEqual([1_000, 12_000]);
  });

  it("asks sooner again who could not send, and him alone", () => {
    const { clock, heartbeats, one } = useHeartbeats();
    const other = new Noting(clock);
    for (const beating of [one, other]) heartbeats.add(12_000, beating);
    one.outcome = "later";
    clock.advance(6_000);
    expect([one.beats, other.beats]).toEqual([[4_000, 5_000, 6_000], [4_000]]);
    one.outcome = "sent";
    clock.advance(2_000);
    expect([one.beats, other.beats]).toEqual([
      [4_000, 5_000, 6_000, 7_000, 8_000],
      [4_000, 8_000],
    ]);
  });

  it("takes a shorter TTL although a longer one waits", () => {
    const { clock, heartbeats, one } = useHeartbeats();
    heartbeats.add(90_000, new Noting(clock));
    clock.advance(1_000);
    heartbeats.add(900, one);
    clock.advance(900);
    expect(one.beats).toEqual([1_300, 1_600, 1_900]);
  });

  it("does not run hot for a TTL that nobody can keep up", () => {
    const { clock, heartbeats, one } = useHeartbeats();
    heartbeats.add(1, one);
    clock.advance(1_000);
    expect(one.beats.length).toBeLessThanOrEqual(50);
  });
});
