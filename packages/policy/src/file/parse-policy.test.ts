import { cluster, listener } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";
import { parsePolicy } from "./parse-policy.ts";

const rule = (more: string): string => `rules:\n- identity: spiffe://td/a\n${more}`;

describe("parsePolicy()", () => {
  it("reads identities, names by type in canonical spelling, and how the others are answered; YAML and JSON", () => {
    const yaml = rule(
      "  allow:\n    clusters: [b, 'p/*', 'xdstp://a/envoy.config.cluster.v3.Cluster/x?b=2&a=1']\n    envoy.config.listener.v3.Listener: ['*']\n    type.example/acme.Flag: [f]\n    '*': [everywhere]\n  forbidden: denied\n- identity: 'spiffe://td/*'\n",
    );
    const rules = parsePolicy(yaml, "p.yaml");
    expect(rules).toEqual([
      {
        identity: "spiffe://td/a",
        forbidden: "denied",
        status: "own",
        place: "p.yaml:2",
        allow: new Map([
          [cluster.typeUrl, ["b", "p/*", "xdstp://a/envoy.config.cluster.v3.Cluster/x?a=1&b=2"]],
          [listener.typeUrl, ["*"]],
          ["type.example/acme.Flag", ["f"]],
          ["*", ["everywhere"]],
        ]),
      },
      {
        identity: "spiffe://td/*",
        forbidden: "missing",
        status: "own",
        place: "p.yaml:9",
        allow: new Map(),
      },
    ]);
    expect(
      parsePolicy('{"rules":[{"identity":"spiffe://td/a","allow":{"clusters":["b"]}}]}', "p.json"),
    ).toEqual([
      {
        identity: "spiffe://td/a",
        forbidden: "missing",
        status: "own",
        place: "p.json:1",
        allow: new Map([[cluster.typeUrl, ["b"]]]),
      },
    ]);
    expect(parsePolicy("rules: []\n", "p.yaml")).toEqual([]);
  });

  it.each([
    "*",
    "x*",
    "xdst*",
    "xdstp:*",
    "xdstp://*",
    "xdstp://a*",
    "xdstp://a/*",
    "xdstp://a/T*",
    "xdstp://a/T/*",
    "xdstp://a/T/b/*",
    "xdstp://a/T/%*",
    "xdstp://a/T/%2*",
    "xdstp://a/T/%20*",
    "xdstp://a/T/b?*",
    "xdstp://a/T/b?k*",
    "xdstp://a/T/b?k=*",
    "xdstp://a/T/b?k=v&*",
    "xdstp:///T/*",
    "xdstp://Example.com/T/*",
  ])("takes the beginning %s, with which canonical names begin", (name) => {
    expect(
      parsePolicy(rule(`  allow:\n    '*': ['${name}']\n`), "p.yaml")[0]?.allow.get("*"),
    ).toEqual([name]);
  });

  it.each<readonly [string, fits: readonly string[], not: readonly string[]]>([
    [
      "clusters",
      [
        "opaque",
        "envoy.config.listener.v3.Listener/*",
        "*",
        "xdstp:*",
        "xdstp://a*",
        "xdstp://a/*",
        "xdstp://a/envoy.config.c*",
        "xdstp://a/envoy.config.cluster.v3.Cluster*",
        "xdstp:///envoy.config.cluster.v3.Cluster/x",
        "xdstp://a/envoy.config.cluster.v3.Cluster/*",
        "xdstp://a/envoy.config.cluster.v3.ClusterCollection/all",
        "xdstp://a/envoy.config.cluster.v3.ClusterColl*",
      ],
      [
        "xdstp://a/envoy.config.cluster.v3.Clusters*",
        "xdstp://a/envoy.config.l*",
        "xdstp://a/envoy.config.listener.v3.Listener/x",
        "xdstp:///envoy.config.listener.v3.ListenerCollection/*",
        "xdstp://a/envoy.config.cluster.v3.ClusterColl/*",
        "xdstp://a/envoy.config.cluster.v3.Cluste/x?k=v",
      ],
    ],
    [
      "envoy.config.cluster.v3.ClusterCollection",
      ["xdstp://a/envoy.config.cluster.v3.ClusterCollection/all"],
      ["xdstp://a/envoy.config.cluster.v3.Cluster/x"],
    ],
    ["type.example/acme.Flag", ["f"], ["xdstp://a/acme.Flag/f"]],
  ])(
    "takes under %s what names of that type and its lists can begin with, and nothing else [B-TYPE-5] [B-TYPE-6]",
    (type, fits, not) => {
      const read = (name: string) => (): unknown =>
        parsePolicy(rule(`  allow:\n    ${type}: ['${name}']\n`), "p.yaml");
      for (const name of fits) expect(read(name)).not.toThrow();
      for (const name of not)
        expect(read(name)).toThrow(
          `p.yaml:4:${8 + type.length}: "${name}" matches no name of ${type.slice(type.indexOf("/") + 1).replace("clusters", "envoy.config.cluster.v3.Cluster")}; put it under the type that it names, or under "*"`,
        );
    },
  );

  it.each<readonly [string, string]>([
    ["", "p.yaml:1:1: give a list of rules"],
    ["- identity: a\n", "p.yaml:1:1: give a list of rules"],
    ["rules: x\n", "p.yaml:1:8: give a list of rules"],
    ["rule: []\n", 'p.yaml:1:1: "rule" is unknown; there is rules'],
    ["rules:\n- a\n", "p.yaml:2:3: a rule has `identity` or `address`, and `allow`"],
    [
      "rules:\n- address: 10.0.0.0/33\n",
      "p.yaml:2:12: `address` is an IP address or a range of them: 192.0.2.0/24, 2001:db8::/32",
    ],
    ["rules:\n- address: [10.0.0.1]\n", "p.yaml:2:12: `address` is an IP address or a range"],
    [
      "rules:\n- identity: spiffe://td/a\n  address: 10.0.0.1\n",
      "p.yaml:3:3: the rule has `identity` and `address`",
    ],
    [
      "rules:\n- address: 10.0.0.1\n- address: 10.0.0.1\n",
      'p.yaml:3:3: there is a rule for "address 10.0.0.1" already',
    ],
    ["rules:\n- allow: {}\n", "p.yaml:2:3: the rule has no `identity`"],
    [
      rule("  allows: {}\n"),
      'p.yaml:3:3: "allows" is unknown; there are identity, address, allow, forbidden',
    ],
    [rule("  forbidden: no\n"), "p.yaml:3:14: `forbidden` is missing or denied"],
    [rule("  allow: [b]\n"), "p.yaml:3:10: `allow` has names by type"],
    [
      rule("  allow:\n    cluster: [b]\n"),
      'p.yaml:4:5: "cluster" is not a type: give listeners, routes,',
    ],
    [rule("  allow:\n    clusters: b\n"), "p.yaml:4:15: give a list of names"],
    [
      rule("  allow:\n    clusters: [1]\n"),
      "p.yaml:4:16: the name is not a text; put it in quotes",
    ],
    [rule("  allow:\n    clusters: ['']\n"), "p.yaml:4:16: the name is empty"],
    [rule("  allow:\n    clusters: ['a*b']\n"), 'p.yaml:4:16: "a*b": a * stands at the end only'],
    [
      rule("  allow:\n    clusters: [a]\n    envoy.config.cluster.v3.Cluster: [b]\n"),
      'p.yaml:5:5: there is a list for "envoy.config.cluster.v3.Cluster" already; put both into one',
    ],
    [rule("  allow:\n    acme..Flag: [a]\n"), 'p.yaml:4:5: "acme..Flag" is not a type'],
    [rule("  allow:\n    .Flag: [a]\n"), 'p.yaml:4:5: ".Flag" is not a type'],
    [rule("  allow:\n    /acme.Flag: [a]\n"), 'p.yaml:4:5: "/acme.Flag" is not a type'],
    [rule("  allow:\n    type.example/: [a]\n"), 'p.yaml:4:5: "type.example/" is not a type'],
    [
      rule("  allow:\n    type example/acme.Flag: [a]\n"),
      'p.yaml:4:5: "type example/acme.Flag" is not a type',
    ],
    ...[
      ["xdstp://a/T/%c3%a4/*", '; write "xdstp://a/T/%C3%A4/*"'],
      ["xdstp://a/T/%41*", '; write "xdstp://a/T/A*"'],
      ["xdstp://a/T/x?b=1&a=*", ""],
      ["xdstp:a/*", ""],
      ["xdstp://a/T/x%zz", ""],
      ["xdstp://a", ""],
    ].map(([name = "", out = ""]): readonly [string, string] => [
      rule(`  allow:\n    clusters: ['${name}']\n`),
      `p.yaml:4:16: ${JSON.stringify(name)} fits no name in canonical spelling${out}`,
    ]),
    [
      rule("- identity: spiffe://td/a\n"),
      'p.yaml:3:3: there is a rule for "spiffe://td/a" already',
    ],
    ["rules: [\n", "p.yaml:2:1: is not YAML:"],
    [rule("  allow: {}\n  allow: {}\n"), "p.yaml:4:3: is not YAML: Map keys must be unique"],
    ["[".repeat(50_000), "nests too deeply; rules have four levels"],
    [`rules: ${"[".repeat(3_000)}${"]".repeat(3_000)}`, "nests too deeply; rules have four levels"],
  ])("says of %j where and why it cannot be used", (text, message) => {
    expect(() => parsePolicy(text, "p.yaml")).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining(message) as string,
      }) as Error,
    );
  });
});
