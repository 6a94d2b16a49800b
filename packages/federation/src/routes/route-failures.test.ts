import { XdsError, type ResourceSink } from "@xdstp/core";
import { expect, it, vi } from "vitest";

import { RouteFailures } from "./route-failures.ts";

it("passes on each report of a server once, also where the next one has the very error of the one before", () => {
  const unavailable = vi.fn<ResourceSink["unavailable"]>();
  const failures = new RouteFailures({
    commit: () => ({ revision: 0 }),
    held: () => [],
    unavailable,
  });
  const error = new XdsError("UNAVAILABLE", "it is away");
  failures.speakFor("acme");
  expect([1, 1, 2].map((report) => failures.set(undefined, { error, report }))).toEqual([
    true,
    false,
    true,
  ]);
  expect(failures.of("type.googleapis.com/t.T")).toBe(error);
  expect(failures.set(undefined, undefined)).toBe(true);
  expect(unavailable.mock.calls).toEqual([
    [{ authority: "acme" }, error],
    [{ authority: "acme" }, error],
    [{ authority: "acme" }, undefined],
  ]);
});
