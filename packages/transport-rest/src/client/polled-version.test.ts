import { create } from "@bufbuild/protobuf";
import { type DiscoveryRequest, DiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";

import { createPolledVersion } from "./polled-version.ts";

function requestFor(names: string, error?: string): DiscoveryRequest {
  return create(DiscoveryRequestSchema, {
    versionInfo: "v",
    resourceNames: names === "" ? [] : names.split(" "),
    ...(error !== undefined && { errorDetail: { message: error } }),
  });
}

describe("createPolledVersion()", () => {
  it.each<
    [
      what: string,
      polls: readonly [names: string, answer?: "accepted" | "rejected"][],
      version: string,
    ]
  >([
    ["the version of what it has accepted", [["a"], ["a", "accepted"]], "v"],
    ["it for more and fewer names", [["a b"], ["a b", "accepted"], ["a c"]], "v"],
    [
      "none for a name that it has left and subscribed to again",
      [["a"], ["a", "accepted"], [""], ["a"]],
      "",
    ],
    ["none until it has accepted a response", [["a"], [""], ["a"], ["a b"]], ""],
    ["it again then", [["a"], [""], ["a"], ["a", "accepted"]], "v"],
    ["it with the error of a rejection", [["a"], ["a", "rejected"]], "v"],
    ["none without it, since it may have taken a part", [["a"], ["a", "rejected"], ["a b"]], ""],
    [
      "it after a response that it accepts as a whole",
      [["a"], ["a", "rejected"], ["a", "accepted"]],
      "v",
    ],
  ])("a client bears %s [C-REST-6]", (_, polls, expected) => {
    const version = createPolledVersion();
    let last = requestFor("");
    for (const [names, answer] of polls) {
      last = requestFor(names, answer === "rejected" ? "no" : undefined);
      version.read(last, answer !== undefined);
    }
    expect(version.apply(last).versionInfo).toBe(expected);
  });
});
