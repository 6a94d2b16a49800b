import { XdsError, type ResourceSink } from "@xdstp/core";
import { expect, it, vi } from "vitest";

import { Ambient } from "./ambient.ts";

const place = { typeUrl: "type.googleapis.com/t.T", interest: { name: "one" } };

it("reports an error once, whichever object it is, another one, one that is a new report, and its end [C-ACK-18]", () => {
  const unavailable = vi.fn<ResourceSink["unavailable"]>();
  const ambient = new Ambient({
    commit: () => ({ revision: 0 }),
    held: () => [],
    unavailable,
  });
  const follower = {};
  const set = (text: string, isReport: boolean): void => {
    ambient.set(follower, new XdsError("UNAVAILABLE", text), [place], isReport);
  };
  set("it is away", false);
  set("it is away", false);
  set("it is broken", false);
  set("it is broken", true);
  ambient.set(follower, undefined, [place]);
  expect(unavailable.mock.calls.map(([, error]) => error?.text)).toEqual([
    "it is away",
    "it is broken",
    "it is broken",
    undefined,
  ]);
});
