import { describe, expect, it } from "vitest";
import { streamStatus, typeStatus } from "../test/status-of.ts";
import { textWidth } from "./fit-text.ts";
import { type RecentLine, renderScreen, type ScreenView } from "./render-screen.ts";

const listener = "type.googleapis.com/envoy.config.listener.v3.Listener";
const view: ScreenView = {
  title: "serve c",
  address: { host: "127.0.0.1", port: 1 },
  ready: true,
  resources: 3,
  revision: 7,
  now: 100_000,
  status: [],
  since: () => 40_000,
  troubles: [],
  recent: [],
};
const nacked = typeStatus({
  typeUrl: listener,
  state: "NACKED",
  versionSent: "7",
  nacks: 1,
  lastError: { code: 13, message: "no such filter", at: 95_000, since: 95_000, version: "7" },
});
const recent = (count: number): readonly RecentLine[] =>
  Array.from({ length: count }, (_, index) => ({
    level: "info",
    label: "ack",
    text: `event ${index}`,
    time: 0,
  }));

function render(more: Partial<ScreenView>, columns = 100, rows = 20): readonly string[] {
  return renderScreen({ ...view, ...more }, { columns, rows }, (_, text) => text).map((line) =>
    line.trimEnd(),
  );
}

describe("renderScreen()", () => {
  it("shows client, type, state, version, age and reason, those in trouble first", () => {
    const stale = typeStatus({ state: "STALE", versionSent: "3", pendingSince: 98_000 });
    expect(
      render({
        status: [
          streamStatus(1, [typeStatus()]),
          streamStatus(2, [stale, nacked]),
          streamStatus(3, []),
        ],
      }),
    ).toEqual([
      "xdstp serve c on 127.0.0.1:1  3 resources, revision 7, 3 streams",
      "",
      "CLIENT  TYPE       STATE      VERSION  AGE  NACK",
      "n2      listeners  NACKED     2 > 7    5s   no such filter",
      "n1      clusters   SYNCED     2        1m",
      "n2      clusters   STALE      2 > 3    2s",
      "n3      -          CONNECTED  -        1m   has asked for nothing yet",
      "",
    ]);
  });

  it("has a column for the view where a client has one of its own [S-NODE-10]", () => {
    expect(
      render({
        status: [
          { ...streamStatus(1, [typeStatus()]), viewKey: "gold\u001b" },
          streamStatus(2, []),
        ],
      }).slice(2, 5),
    ).toEqual([
      "CLIENT  VIEW        TYPE      STATE      VERSION  AGE  NACK",
      "n1      gold\\u{1b}  clusters  SYNCED     2        1m",
      "n2                  -         CONNECTED  -        1m   has asked for nothing yet",
    ]);
  });

  it.each([
    [
      "asks for what is not there",
      typeStatus({ state: "REQUESTED", versionSent: "", versionAccepted: "" }),
      "REQUESTED  -  1m  asks for names that are not there",
    ],
    [
      "does not answer",
      typeStatus({ state: "STALE", stuck: true, pendingSince: 0 }),
      "STALE  2  1m  no answer",
    ],
    [
      "is not sent what would point at nothing",
      typeStatus({
        state: "STALE",
        pendingSince: 99_000,
        heldBack: [
          {
            name: "r\u001b1",
            for: "c",
            forType: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
            since: 99_000,
          },
          {
            name: "s",
            for: "c",
            forType: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
            since: 99_000,
          },
        ],
      }),
      "STALE  2  1s  r\\u{1b}1 waits for clusters c since 1s and 1 more",
    ],
    [
      "rejects without a text",
      typeStatus({
        state: "NACKED",
        lastError: { code: 3, message: "", at: 0, since: 0, version: "2" },
      }),
      "NACKED  2  1m  code 3, without a text",
    ],
    [
      "rejects what refers to something that is not served",
      typeStatus({
        state: "NACKED",
        lastError: {
          code: 3,
          message: "bad",
          at: 0,
          since: 0,
          version: "2",
          missed: [{ typeUrl: "t/R", name: "r\u001b", served: false }],
        },
      }),
      "NACKED  2  1m  bad; it refers to R r\\u{1b}, which is not served",
    ],
    [
      "was rejected and has not answered the correction",
      typeStatus({
        state: "STALE",
        pendingSince: 99_000,
        lastError: { code: 3, message: "bad", at: 0, since: 0, version: "2" },
      }),
      "STALE  2  1s  bad",
    ],
    [
      "holds nothing yet",
      typeStatus({ state: "STALE", versionAccepted: "", pendingSince: 99_000 }),
      "STALE  none > 2  1s",
    ],
  ])("says so where a client %s", (_, type, row) => {
    expect(render({ status: [streamStatus(1, [type])] })[3]?.replaceAll(/ {2,}/g, "  ")).toBe(
      `n1  clusters  ${row}`,
    );
  });

  it("shows that no client is connected, and that nothing is ready [S-STREAM-9]", () => {
    expect(render({ ready: false })).toEqual([
      "xdstp serve c on 127.0.0.1:1  NOT READY, 0 streams",
      "",
      "no client is connected; to connect Envoy, or a gRPC program:",
      "  xdstp bootstrap envoy --server 127.0.0.1:1 > envoy.yaml && envoy -c envoy.yaml",
      "  xdstp bootstrap grpc --server 127.0.0.1:1",
      "",
    ]);
  });

  it("breaks a connect command that is too wide at a space, behind a backslash, and cuts nothing of it", () => {
    const lines = render({}, 60);
    expect(lines.join("\n").replaceAll(/ \\\n {4}/g, " ")).toContain(
      "  xdstp bootstrap envoy --server 127.0.0.1:1 > envoy.yaml && envoy -c envoy.yaml\n",
    );
  });

  it("puts a long reason below its row, in three lines at most", () => {
    const long = typeStatus({
      ...nacked,
      lastError: { code: 13, message: "x".repeat(500), at: 0, since: 0, version: "7" },
    });
    const lines = render({ status: [streamStatus(1, [long, typeStatus()])] }, 60);
    expect(lines[3]).toMatch(/^n1 +listeners +NACKED +2 > 7 +1m$/);
    expect(lines.slice(4, 7)).toEqual([
      `    ${"x".repeat(56)}`,
      `    ${"x".repeat(56)}`,
      `    ${"x".repeat(55)}…`,
    ]);
    expect(lines[7]).toMatch(/^n1 +clusters/);
  });

  it("lets nothing of a client through to the terminal [S-ACK-15]", () => {
    const evil = "\u001b[2J\u009b31m\u202e\r\n\u0007";
    const type = typeStatus({
      typeUrl: `type.googleapis.com/${evil}`,
      state: "NACKED",
      versionSent: evil,
      lastError: { code: 13, message: evil, at: 0, since: 0, version: evil },
    });
    expect(render({ status: [streamStatus(1, [type], evil)] }).join("")).not.toMatch(
      /[\p{Cc}\p{Cf}]/u,
    );
  });

  it("keeps what is wrong on top, at most a third of the screen", () => {
    const troubles = Array.from(
      { length: 40 },
      (_, index) => ({ level: "error", label: "broken", text: `problem ${index}` }) as const,
    );
    const lines = render({ troubles, recent: recent(5) }, 100, 12);
    expect(lines.slice(1, 5)).toEqual(["problem 0", "problem 1", "problem 2", "problem 39"]);
    expect(lines).toHaveLength(12);
  });

  it("shows the reason of a broken file to its end, right name and way out included, and what follows from it", () => {
    const problem =
      'config/example.com/clusters/web.yaml:1:1: the name is "web", but has to be "xdstp://example.com/envoy.config.cluster.v3.Cluster/web" (write it so, or leave it out) [N-42]';
    const summary =
      "1 problem; nothing of these edits is applied; the last good state is still served";
    const lines = render(
      { troubles: [problem, summary].map((text) => ({ level: "error", label: "broken", text })) },
      80,
      24,
    );
    expect(lines.slice(1, 6)).toEqual(
      [
        problem.slice(0, 78),
        `  ${problem.slice(78, 156)}`,
        `  ${problem.slice(156)}`,
        summary.slice(0, 78),
        `  ${summary.slice(78)}`,
      ].map((line) => line.trimEnd()),
    );
    const few = render(
      { troubles: [problem, summary].map((text) => ({ level: "error", label: "broken", text })) },
      80,
      9,
    );
    expect(few.slice(1, 4)).toEqual([
      problem.slice(0, 78),
      `  ${problem.slice(78, 155)}…`,
      `${summary.slice(0, 77)}…`,
    ]);
  });

  it("counts the rows that do not fit, and keeps the newest events", () => {
    const status = Array.from({ length: 1_000 }, (_, index) => streamStatus(index, [typeStatus()]));
    const lines = render({ status, recent: recent(50) }, 100, 24);
    expect(lines).toHaveLength(24);
    expect(lines.filter((line) => line.includes("SYNCED"))).toHaveLength(14);
    expect(lines).toContain("and 986 rows more");
    expect(lines.at(-1)).toContain("event 49");
    expect(lines.filter((line) => line.includes("event"))).toHaveLength(5);
  });

  it("leaves no row out where all fit exactly", () => {
    const status = Array.from({ length: 15 }, (_, index) => streamStatus(index, [typeStatus()]));
    const lines = render({ status, recent: recent(50) }, 100, 24);
    expect(lines.filter((line) => line.includes("SYNCED"))).toHaveLength(15);
    expect(lines.join("\n")).not.toContain("more");
  });

  it("never draws beyond the terminal, however small", () => {
    const full = {
      status: [streamStatus(1, [nacked, typeStatus()], "東京".repeat(20)), streamStatus(2, [])],
      recent: recent(9),
      troubles: [{ level: "error", label: "broken", text: "y".repeat(300) }],
    } as const;
    for (const columns of [1, 5, 20, 40, 80, 200]) {
      for (const rows of [1, 2, 3, 5, 10, 50]) {
        const lines = render(full, columns, rows);
        expect(lines.length).toBeLessThanOrEqual(rows);
        expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(columns);
      }
    }
  });
});
