import { describe, expect, test, vi } from "vitest";
import { createTurn } from "./turn.ts";

describe("createTurn()", () => {
  test("grants one at a time, in the order of asking", () => {
    const turn = createTurn(2);
    const [a, b, c, d] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
    expect(turn.take(a)).toBe(true);
    expect(turn.take(b)).toBe(false);
    expect(turn.take(c)).toBe(false);
    expect(turn.take(d)).toBeUndefined();
    turn.leave(a);
    expect([a, b, c].map((each) => each.mock.calls.length)).toEqual([0, 1, 0]);
    turn.leave(b);
    turn.leave(c);
    expect(c).toHaveBeenCalledOnce();
    expect(turn.take(d)).toBe(true);
  });

  test("passes over one that has left while it waited", () => {
    const turn = createTurn(2);
    const [a, b, c] = [vi.fn(), vi.fn(), vi.fn()];
    turn.take(a);
    turn.take(b);
    turn.take(c);
    turn.leave(b);
    turn.leave(a);
    expect(b).not.toHaveBeenCalled();
    expect(c).toHaveBeenCalledOnce();
  });
});
