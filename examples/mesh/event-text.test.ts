import { describe, expect, it } from "vitest";
import { eventText, visible } from "./event-text.ts";

describe("eventText()", () => {
  it("shows each problem with its place, and that nothing was applied", () => {
    const problems = [
      { file: "a.yaml", line: 3, column: 1, code: "syntax" as const, message: "no" },
      { file: "b.yaml", code: "syntax" as const, message: "nor this" },
    ];
    expect(eventText({ kind: "rejected", problems, serving: true })).toEqual([
      "a.yaml:3:1: no",
      "b.yaml: nor this",
      "not applied: what was there before is still served",
    ]);
  });

  it("says who rejected what, and lets nothing through that a terminal would obey", () => {
    const stream = { id: 1, variant: "sotw", peer: "127.0.0.1", node: undefined } as const;
    const event = {
      kind: "nack",
      stream,
      typeUrl: "type.googleapis.com/a.v3.Cluster",
      version: "2",
      accepted: "1",
      nonce: "3",
      error: { code: 3, message: "bad\u001b[2J" },
    } as const;
    expect(eventText(event)).toEqual(["127.0.0.1 rejected Cluster: bad\\u{1b}[2J"]);
  });

  it("says nothing of what happens all the time", () => {
    expect(
      eventText({
        kind: "ack",
        stream: { id: 1, variant: "sotw", peer: "", node: undefined },
        typeUrl: "",
        version: "",
        nonce: "",
      }),
    ).toEqual([]);
  });
});

describe("visible()", () => {
  it("keeps ordinary text", () => {
    expect(visible("é → x")).toBe("é → x");
  });
});
