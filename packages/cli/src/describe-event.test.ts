import { XdsError } from "@xdstp/core";
import type { FolderEvent } from "@xdstp/folder";
import type { ServerEvent } from "@xdstp/server";
import { describe, expect, it } from "vitest";
import { streamStatus, typeStatus } from "../test/status-of.ts";
import type { CliEvent } from "./cli-event.ts";
import { describeEvent } from "./describe-event.ts";
import { keptText } from "./describe-folder-event.ts";

const stream = streamStatus(4, [], "e1");
const { typeUrl } = typeStatus();
const evil = "\u001b[2J\u009b\u202e\n";
const about = { stream, typeUrl, version: "2", nonce: "9" } as const;

const onServer: readonly (readonly [ServerEvent, string])[] = [
  [{ kind: "connect", stream }, "info connect: e1 #4 delta ads"],
  [
    { kind: "connect", stream: { ...stream, node: undefined, service: typeUrl } },
    "info connect: 127.0.0.1:4 #4 delta clusters",
  ],
  [
    { kind: "subscribe", stream, typeUrl, added: ["a", "b", "c", "d", "e"], dropped: ["x"] },
    "info subscribe: e1 #4 clusters subscribes to a, b, c and 2 more, unsubscribes from x",
  ],
  [
    { kind: "subscribe", stream, typeUrl, added: [], dropped: [] },
    "info subscribe: e1 #4 clusters requests",
  ],
  [
    { kind: "push", ...about, resources: 1, removed: 2, bytes: 30 },
    "info push: e1 #4 clusters version 2, nonce 9: 1 resource, 2 removed, 30 bytes",
  ],
  [{ kind: "ack", ...about }, "good ack: e1 #4 clusters version 2, nonce 9"],
  [
    { kind: "nack", ...about, accepted: "", error: { code: 13, message: "bad" } },
    "error nack: e1 #4 clusters version 2, nonce 9, keeps none: bad",
  ],
  [
    {
      kind: "nack",
      ...about,
      accepted: "",
      error: { code: 13, message: "bad" },
      missed: [{ typeUrl, name: "c\u001b", served: false }],
    },
    "error nack: e1 #4 clusters version 2, nonce 9, keeps none: bad; it refers to Cluster c\\u{1b}, which is not served",
  ],
  [
    { kind: "stale-nonce", stream, typeUrl, nonce: "3" },
    "info stale-nonce: e1 #4 clusters nonce 3 is not the newest",
  ],
  [
    {
      kind: "not-sent",
      stream,
      typeUrl,
      resources: [{ name: "a", reason: "too-large", bytes: 5_000_000, limit: "responseBytes" }],
    },
    "error not-sent: e1 #4 clusters a is not sent: it has 5,000,000 bytes; --limit responseBytes=5500000 makes room, for clients that take as much (gRPC: 4 MiB by default)",
  ],
  [
    { kind: "disconnect", stream, code: 14, message: "lost" },
    "info disconnect: e1 #4 code 14: lost",
  ],
  [
    { kind: "disconnect", stream, code: 8, message: "more than 2 subscriptions of one type" },
    "info disconnect: e1 #4 code 8: more than 2 subscriptions of one type; xdstp serve and xdstp relay take more with --stream-names",
  ],
  [
    { kind: "rejected", path: "/a/B", peer: "p", status: { code: 14, message: "not ready" } },
    "warning turned away: p /a/B: not ready",
  ],
  [
    {
      kind: "fetch",
      typeUrl,
      node: undefined,
      names: [],
      accepted: "",
      status: { code: 0, message: "" },
      version: "5",
      resources: 2,
    },
    "info fetch: a client clusters version 5, 2 resources",
  ],
  [
    {
      kind: "fetch",
      typeUrl,
      node: stream.node,
      names: [],
      accepted: "",
      error: { code: 3, message: "bad" },
      status: { code: 14, message: "not ready" },
      version: "",
      resources: 0,
    },
    "error fetch: e1 clusters not ready, rejects the answer before: bad",
  ],
  [
    {
      kind: "rejected",
      path: "/a/B",
      peer: "p",
      status: { code: 7, message: "not allowed" },
      reason: "no team\u001b",
    },
    "warning turned away: p /a/B: not allowed (no team\\u{1b})",
  ],
  [
    {
      kind: "rejected",
      path: "/a/B",
      peer: "p",
      status: { code: 14, message: "not ready" },
      reason: "not ready",
    },
    "warning turned away: p /a/B: not ready",
  ],
  [{ kind: "connection-cut", peer: "p", reason: "silent" }, "warning cut: p: silent"],
  [
    { kind: "connection-cut", peer: "p", reason: "no-certificate", detail: "CERT_HAS_EXPIRED" },
    "warning cut: p: no-certificate (CERT_HAS_EXPIRED)",
  ],
  [
    {
      kind: "stream-cut",
      peer: "p",
      path: "/a/B",
      reason: "too-large",
      status: { code: 8, message: "big" },
    },
    "warning cut: p /a/B: too-large, big",
  ],
  [{ kind: "fault", where: "turn", error: new Error("oh") }, "error fault: turn: oh"],
  [{ kind: "warning", warning: "node-version", message: "m" }, "info note: m"],
  [{ kind: "warning", warning: "unrelated-source", message: "m" }, "warning warning: m"],
  [{ kind: "fault", where: "turn", error: "oh" }, "error fault: turn: oh"],
];

const others: readonly (readonly [CliEvent, string])[] = [
  [
    { from: "cache", event: { kind: "aliases-ignored", typeUrl, name: "n" } },
    "warning aliases: clusters n: its aliases are not served: xdstp names have redirects instead; leave them out, or use an opaque name",
  ],
  [
    {
      from: "cache",
      event: { kind: "variants-overlap", typeUrl, name: "n", variants: ["", "env=prod"] },
    },
    "warning variants: clusters n: clients that match several of its variants are given none: one without constraints; env=prod",
  ],
  [
    {
      from: "cache",
      event: { kind: "version-reused", typeUrl, name: "n", version: "1", servedAs: "1~a" },
    },
    "warning version: clusters n: version 1 was used before for other content, so it is served as 1~a; give each content a version of its own, or none",
  ],
  [
    { from: "cache", event: { kind: "feed-failed", error: new XdsError("INTERNAL", "oh") } },
    "error failed: edits are not followed any more: oh",
  ],
  [
    {
      from: "cache",
      event: { kind: "feed-failed", error: new XdsError("INTERNAL", "oh"), retryMs: 1_200 },
    },
    "error failed: edits are not followed until the next attempt in 2 s: oh",
  ],
  [
    {
      from: "relay",
      event: {
        kind: "listening",
        address: { host: "127.0.0.1", port: 1 },
        upstreams: ["a:1", "b:1"],
        by: "boot.json",
      },
    },
    "good listening: 127.0.0.1:1, relaying a:1, b:1 by boot.json; to connect: xdstp bootstrap envoy --server 127.0.0.1:1 > envoy.yaml && envoy -c envoy.yaml (or: xdstp bootstrap grpc --server 127.0.0.1:1)",
  ],
  [
    { from: "upstream", event: { kind: "opened", server: "s", variant: "delta", attempt: 1 } },
    "info opened: s is asked",
  ],
  [
    { from: "upstream", event: { kind: "opened", server: "s", variant: "delta", attempt: 3 } },
    "info opened: s is asked again, attempt 3",
  ],
  [
    {
      from: "upstream",
      event: {
        kind: "closed",
        server: "s",
        variant: "delta",
        status: { code: 14, message: `lost${evil}` },
        responded: true,
        retryMs: 1_234,
      },
    },
    "warning closed: s is away: lost\\u{1b}[2J\\u{9b}\\u{202e} ; next attempt in 1.2 s",
  ],
  [
    {
      from: "upstream",
      event: {
        kind: "closed",
        server: "s",
        variant: "delta",
        status: { code: 0, message: "" },
        responded: true,
        retryMs: 0,
      },
    },
    "warning closed: s is away: it has ended the stream; next attempt in 0.0 s",
  ],
  [
    {
      from: "upstream",
      event: {
        kind: "closed",
        server: "s",
        variant: "delta",
        status: { code: 8, message: "more than 9 globs of one type" },
        responded: false,
        retryMs: 0,
      },
    },
    "warning closed: s is away: more than 9 globs of one type; xdstp serve and xdstp relay take more with --stream-names; next attempt in 0.0 s",
  ],
  [
    {
      from: "upstream",
      event: { kind: "opaque-rejected", typeUrl, names: ["a"], reason: "no key" },
    },
    "warning opaque-rejected: clusters a: no key",
  ],
  [
    {
      from: "upstream",
      event: { kind: "upstream-full", server: "s", typeUrl, names: ["a"], reason: "too many" },
    },
    "warning upstream-full: s clusters a: too many",
  ],
  [
    {
      from: "upstream",
      event: { kind: "tenant-rejected", values: { id: "n" }, reason: "too many" },
    },
    'warning tenant-rejected: clients with {"id":"n"}: too many',
  ],
  [
    {
      from: "upstream",
      event: {
        kind: "resource-rejected",
        typeUrl,
        name: "n",
        version: "2",
        client: `e1${evil}`,
        among: 1,
        reason: "bad",
      },
    },
    "error resource-rejected: clusters n version 2 by e1\\u{1b}[2J\\u{9b}\\u{202e} : bad",
  ],
  [
    {
      from: "upstream",
      event: {
        kind: "resource-rejected",
        typeUrl,
        name: "n",
        version: "",
        client: "e1",
        among: 3,
        reason: "bad",
      },
    },
    "error resource-rejected: clusters n removal by e1: one of 3: bad",
  ],
  [
    { from: "upstream", event: { kind: "snapshot-opened", dir: "d", resources: 1, ms: 2.4 } },
    "good snapshot-opened: d: 1 resource in 2 ms",
  ],
  [
    { from: "upstream", event: { kind: "snapshot-well", dir: "d" } },
    "good snapshot-well: d can be written again",
  ],
  [
    { from: "upstream", event: { kind: "snapshot-evicted", resources: 2, bytes: 9 } },
    "info snapshot-evicted: 2 resources without subscribers, 9 bytes",
  ],
  [
    { from: "upstream", event: { kind: "snapshot-trouble", message: "disk full", retryMs: 1 } },
    "error snapshot-trouble: disk full",
  ],
  [
    { from: "upstream", event: { kind: "snapshot-locked", message: "no key", resources: 1 } },
    "warning snapshot-locked: no key",
  ],
  [
    { from: "upstream", event: { kind: "idle", server: "s", variant: "delta" } },
    "info idle: s is not needed for now",
  ],
  [
    {
      from: "upstream",
      event: {
        kind: "accepted",
        server: "s",
        variant: "delta",
        typeUrl,
        nonce: "1",
        version: "",
        resources: 2,
        removed: 1,
      },
    },
    "good accepted: s clusters version none, nonce 1: 2 resources, 1 removed",
  ],
  [
    {
      from: "upstream",
      event: {
        kind: "rejected",
        server: "s",
        variant: "delta",
        typeUrl,
        nonce: "1",
        version: "3",
        resources: 2,
        names: [],
        reason: "bad",
        rule: "C-DUP-2",
      },
    },
    "error rejected: s clusters version 3, nonce 1 is rejected: bad [C-DUP-2]",
  ],
  [
    {
      from: "upstream",
      event: { kind: "ignored", server: "s", variant: "delta", typeUrl, names: 1 },
    },
    "warning ignored: s clusters 1 name came without a subscription",
  ],
  [
    {
      from: "upstream",
      event: { kind: "timeout", server: "s", variant: "delta", typeUrl, names: ["a"] },
    },
    "warning timeout: s clusters has not answered in time for a",
  ],
  [
    { from: "upstream", event: { kind: "foreign", server: "s", typeUrl, names: 2, namesHash: 1 } },
    "warning foreign: s clusters 2 names of authorities that it is not asked for",
  ],
  [
    {
      from: "upstream",
      event: { kind: "credentials-replaced", server: "s", variant: "delta", files: ["c.pem"] },
    },
    "good credentials-replaced: s new certificates are shown to it: c.pem",
  ],
  [
    {
      from: "upstream",
      event: {
        kind: "credentials-rejected",
        server: "s",
        variant: "delta",
        files: ["c.pem"],
        error: new XdsError("INTERNAL", "oh"),
      },
    },
    "error credentials-rejected: s new certificates are not used, those before stay: oh",
  ],
  [{ from: "folder", event: { kind: "polling", message: "m" } }, "warning polling: m"],
  [
    {
      from: "folder",
      event: {
        kind: "unreadable",
        problem: { file: "c", code: "unreadable-file", message: "is gone", hint: "put it back" },
      },
    },
    "error not ready: c: is gone (put it back); new streams are rejected until then",
  ],
];

function shown(event: CliEvent): readonly string[] {
  return describeEvent(event).map(({ level, label, text }) => `${level} ${label}: ${text}`);
}

/** Two resources of two files that were loaded. */
function loaded(of: Partial<Extract<FolderEvent, { readonly kind: "loaded" }>>): CliEvent {
  const event = {
    kind: "loaded",
    files: 2,
    resources: 2,
    revision: 1,
    older: 0,
    put: 2,
    removed: 0,
  } as const;
  return { from: "folder", event: { ...event, problems: [], warnings: [], ...of } };
}

describe("describeEvent()", () => {
  it.each(onServer)("tells of %o", (event, text) => {
    expect(shown({ from: "server", event })).toEqual([text]);
  });

  it.each(others)("tells of %o", (event, text) => {
    expect(shown(event)).toEqual([text]);
  });

  it("shows the first twenty problems of a batch, and counts the others", () => {
    const problems = Array.from({ length: 23 }, (_, line) => ({
      file: "f",
      line,
      code: "syntax" as const,
      message: "m",
    }));
    const lines = shown({ from: "folder", event: { kind: "rejected", problems, serving: true } });
    expect(lines).toHaveLength(22);
    expect(lines.slice(-2)).toEqual([
      "error broken: and 3 problems more",
      "error rejected: 23 problems; nothing of these edits is applied; the last good state is still served",
    ]);
  });

  it("shows what is broken next to what was loaded", () => {
    const problems = [
      { file: "c/a.yaml", line: 1, column: 2, code: "wrong-value", message: "is wrong" } as const,
    ];
    expect(shown(loaded({ put: 1, problems }))).toEqual([
      "error broken: c/a.yaml:1:2: is wrong",
      "good loaded: 2 resources from 2 files, revision 1: 1 put, 0 removed",
      "error partial: 1 problem; what is good of these edits is applied; what is broken stays as it was",
    ]);
  });

  it("counts what is served in an older version than the folder has", () => {
    expect(shown(loaded({ older: 1 }))).toEqual([
      "good loaded: 2 resources (1 in an older version) from 2 files, revision 1: 2 put, 0 removed",
    ]);
  });

  it("shows warnings of what was loaded", () => {
    const warnings = [{ file: "c/a.txt", code: "unread-file" as const, message: "is not read" }];
    expect(shown(loaded({ put: 2, warnings }))).toEqual([
      "good loaded: 2 resources from 2 files, revision 1: 2 put, 0 removed",
      "warning warning: c/a.txt: is not read",
    ]);
  });

  it("says where there are no versions because nothing is served", () => {
    const versions = (of: Readonly<Record<string, string>>): CliEvent => ({
      from: "serve",
      event: { kind: "versions", versions: of },
    });
    expect(shown(versions({}))).toEqual(["info versions: none, since nothing is served"]);
  });

  it("shows the versions of ten node keys, and the number of the others", () => {
    const keys = Array.from({ length: 12 }, (_, at) => `k${at}`);
    const [line = ""] = shown({
      from: "serve",
      event: {
        kind: "versions",
        versions: {},
        views: Object.fromEntries(keys.map((key) => [key, { "a/own.Flag": "1" }])),
        moreViews: 5,
      },
    });
    expect(line).toMatch(/; for node key "k9": own\.Flag 1; and 7 more node keys$/);
    expect(line).not.toContain('"k10"');
  });

  it("cuts versions that are hashes, and long ones", () => {
    const ack = (version: string): CliEvent => ({
      from: "server",
      event: { kind: "ack", ...about, version },
    });
    expect(shown(ack("0123456789abcdef0123456789abcdef"))).toEqual([
      "good ack: e1 #4 clusters version 01234567, nonce 9",
    ]);
    expect(shown(ack("v".repeat(30)))).toEqual([
      `good ack: e1 #4 clusters version ${"v".repeat(24)}, nonce 9`,
    ]);
  });

  it("lets nothing of a stranger through to the terminal [S-ACK-15]", () => {
    const from = streamStatus(1, [], evil);
    const events: readonly ServerEvent[] = [
      { kind: "subscribe", stream: from, typeUrl: evil, added: [evil], dropped: [evil] },
      {
        kind: "nack",
        stream: from,
        typeUrl: evil,
        version: evil,
        nonce: evil,
        accepted: evil,
        error: { code: 1, message: evil },
      },
      { kind: "stale-nonce", stream: from, typeUrl: evil, nonce: evil },
      {
        kind: "not-sent",
        stream: from,
        typeUrl: evil,
        resources: [{ name: evil, reason: "needs-wrapper" }],
      },
      { kind: "disconnect", stream: from, code: 1, message: evil },
      { kind: "rejected", path: evil, peer: evil, status: { code: 1, message: evil } },
      {
        kind: "fetch",
        typeUrl: evil,
        node: from.node,
        names: [evil],
        accepted: evil,
        error: { code: 1, message: evil },
        status: { code: 1, message: evil },
        version: evil,
        resources: 0,
      },
      {
        kind: "stream-cut",
        peer: "p",
        path: evil,
        reason: "malformed",
        status: { code: 1, message: evil },
      },
      { kind: "fault", where: "turn", error: new Error(evil) },
    ];
    for (const event of events)
      expect(shown({ from: "server", event }).join("")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

it("says of a volume that was unmounted from over other content what is served, and the way out", () => {
  const event = { directory: "/conf/a", message: "", held: 3, lost: 1 };
  expect(keptText({ ...event, reason: "unmounted" })).toBe(
    "the volume at /conf/a is no longer mounted, and the directory under it has other content: 1 of 3 resources are missing; no edit is applied, and the last state is still served. Mount it again; if the directory is meant, restart",
  );
});
