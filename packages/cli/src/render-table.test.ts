import { describe, expect, it } from "vitest";
import { textWidth } from "./fit-text.ts";
import { renderTable } from "./render-table.ts";
import type { StatusRow } from "./status-row.ts";

/** Clients of two node keys. Their version labels are as long as labels are shown. */
const twoKeys: readonly StatusRow[] = [
  {
    client: "envoy-gateway-eu-west-1a-7d9f",
    view: "gold",
    type: "clusters",
    state: "NACKED",
    version: "release-2026-11-22.1-gold > release-2026-11-23.4-gold",
    age: "12m",
    reason: "no such filter: envoy.filters.http.rate_limit_quota",
    tone: "error",
  },
  {
    client: "envoy-gateway-eu-west-1b-11aa",
    view: "basic",
    type: "endpoints",
    state: "SYNCED",
    version: "9bq0c2mh",
    age: "3s",
    reason: "",
    tone: "good",
  },
];

function lines(rows: readonly StatusRow[], columns: number): readonly string[] {
  const table = renderTable(rows, columns);
  return [table.head, ...table.rows.flat()].map((line) =>
    line
      .map(([, text]) => text)
      .join("")
      .trimEnd(),
  );
}

describe("renderTable()", () => {
  it("fits two node keys into 80 columns: both versions are shortened first", () => {
    expect(lines(twoKeys, 80)).toEqual([
      "CLIENT                  VIEW   TYPE       STATE   VERSION              AGE  NACK",
      "envoy-gateway-eu-west…  gold   clusters   NACKED  release… > release…  12m",
      "    no such filter: envoy.filters.http.rate_limit_quota",
      "envoy-gateway-eu-west…  basic  endpoints  SYNCED  9bq0c2mh             3s",
    ]);
  });

  it.each([80, 70, 60])("shows every column in %i columns", (columns) => {
    const long = twoKeys.map((row) => ({ ...row, view: "k".repeat(255), type: "x".repeat(60) }));
    for (const rows of [twoKeys, long])
      for (const line of lines(rows, columns)) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  });

  it("shortens nothing where there is room, and only the longer of two versions where that is enough", () => {
    expect(lines(twoKeys, 100_000)[1]).toContain(
      "envoy-gateway-eu-west-1a-7d9f  gold   clusters   NACKED  ",
    );
    expect(
      lines(
        twoKeys.map((row) => ({ ...row, version: "none > release-2026-11-23.4" })),
        80,
      )[1],
    ).toContain("  none > release-202…  12m");
  });
});
