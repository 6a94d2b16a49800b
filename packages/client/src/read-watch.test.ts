import { getEventListeners } from "node:events";
import { describe, expect, it, vi } from "vitest";

import { followSignal } from "./read-watch.ts";

describe("followSignal()", () => {
  it("calls once with the reason, until it is ended", () => {
    const [abort, heard, ended] = [new AbortController(), vi.fn(), vi.fn()];
    followSignal(abort.signal, heard);
    followSignal(abort.signal, ended)();
    abort.abort("enough");
    expect([heard.mock.calls, ended.mock.calls]).toEqual([[["enough"]], []]);
  });

  it("calls at once where the signal has aborted, and leaves nothing on it", () => {
    const [signal, heard] = [AbortSignal.abort("over"), vi.fn()];
    followSignal(signal, heard);
    expect([heard.mock.calls, getEventListeners(signal, "abort")]).toEqual([[["over"]], []]);
  });

  it("does nothing without a signal", () => {
    const heard = vi.fn();
    followSignal(undefined, heard)();
    expect(heard).not.toHaveBeenCalled();
  });
});
