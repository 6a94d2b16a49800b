import type { RejectedVersion } from "@xdstp/relay";
import { describe, expect, it } from "vitest";
import { mergeRejections, renderRejections } from "./rejected-versions.ts";
import { textWidth } from "./fit-text.ts";

const rejected: RejectedVersion = {
  typeUrl: "t",
  name: "a",
  version: "1",
  clients: 2,
  by: ["e1", "e2"],
  among: 2,
  reason: "first",
  since: 5,
};

describe("mergeRejections()", () => {
  it("joins what several processes have counted of one version, a client once as far as it is named, newest first [B-RELAY-5]", () => {
    const other = {
      ...rejected,
      clients: 10,
      by: ["e2", "e3"],
      among: 1,
      reason: "second",
      since: 7,
    };
    const next = { ...rejected, version: "2", since: 9 };
    expect(mergeRejections([[rejected], [next, other]])).toEqual([
      next,
      { ...rejected, clients: 11, by: ["e1", "e2", "e3"], among: 1 },
    ]);
    expect(mergeRejections([])).toEqual([]);
  });
});

const one: RejectedVersion = {
  typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  name: "xdstp://x/envoy.config.cluster.v3.Cluster/web",
  version: "2",
  clients: 1,
  by: ["e1"],
  among: 1,
  reason: "no such filter",
  since: 95_000,
};
const many: RejectedVersion = {
  ...one,
  name: "api",
  version: "",
  clients: 5,
  by: ["e1", "e2", "e3"],
  among: 3,
  reason: "",
  since: 40_000,
};

function shown(rejections: readonly RejectedVersion[], most = 9, columns = 120): readonly string[] {
  return renderRejections(rejections, { now: 100_000, most, columns }).map((line) =>
    line.map(([, text]) => text).join(""),
  );
}

describe("renderRejections()", () => {
  it("shows what was rejected, which version, by whom and why, a name by its end [B-RELAY-5]", () => {
    expect(shown([one, many])).toEqual([
      "REJECTED                           TYPE      VERSION  CLIENTS            AGE  NACK",
      "…oy.config.cluster.v3.Cluster/web  clusters  2        e1                 5s   no such filter",
      "api                                clusters  removal  e1, e2 and 3 more  1m   one of 3: without a text",
    ]);
    expect(shown([])).toEqual([]);
  });

  it("counts what it leaves out", () => {
    const lines = shown(
      Array.from({ length: 50 }, () => one),
      5,
    );
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toBe("and 47 rejections more");
    expect(shown([one, one, one], 4)).toHaveLength(4);
  });

  it("lets nothing of a client through to the terminal, and is not wider than it but for the reason, which is cut there [S-ACK-15]", () => {
    const evil = "\u001b[2J\u009b31m\u202e\r\n\u0007".repeat(20);
    const [head = "", row = ""] = shown(
      [{ ...one, name: evil, version: evil, by: [evil], typeUrl: `t/${evil}`, reason: evil }],
      9,
      80,
    );
    expect(row).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(textWidth(head)).toBeLessThanOrEqual(80);
  });
});
