import { describe, expect, it } from "vitest";
import { errorOf, name, valueOf, xdstpLocator } from "../test/parsed.ts";
import { composeName, nodeContextParams } from "./compose-name.ts";
import { printName } from "./print-name.ts";

const layers = {
  node: new Map([
    ["user_agent_name", "envoy"],
    ["metadata.foo", "bar"],
  ]),
  clientFeatures: new Map([["lb.least_loaded", false]]),
  attributes: new Map([["vip", "96.54.3.1"]]),
};

describe("composeName()", () => {
  it("puts all four layers into the effective name of the 2020 design [C-CTX-1] [N-61]", () => {
    const composed = valueOf(
      composeName(xdstpLocator("xdstp://foo/listeners/bar?some=thing"), layers),
    );
    expect(composed).toEqual(
      name(
        "xdstp://foo/listeners/bar?xds.node.user_agent_name=envoy&xds.node.metadata.foo=bar&some=thing&xds.client_feature.lb.least_loaded=false&xds.resource.vip=96.54.3.1",
      ),
    );
  });

  it("takes the literal locator and attributes only, unless told more [C-CTX-1] [N-63]", () => {
    const attributes = new Map([
      ["vip", "96.54.3.1"],
      ["listening_address", "10.1.1.3:8080"],
      ["host", "foo.com"],
    ]);
    const composed = valueOf(
      composeName(xdstpLocator("xdstp://some-authority/some.type/foo?bar=baz"), { attributes }),
    );
    expect(printName(composed)).toBe(
      "xdstp://some-authority/some.type/foo?bar=baz&xds.resource.host=foo.com&xds.resource.listening_address=10.1.1.3:8080&xds.resource.vip=96.54.3.1",
    );
    expect(valueOf(composeName(xdstpLocator("xdstp://a/t/x?k=v")))).toEqual(
      name("xdstp://a/t/x?k=v"),
    );
  });

  it("writes a feature that the client has as true", () => {
    expect(
      printName(
        valueOf(composeName(name("xdstp://a/t/x"), { clientFeatures: new Map([["f", true]]) })),
      ),
    ).toBe("xdstp://a/t/x?xds.client_feature.f=true");
  });

  it.each(["xds.resource.vip", "xds.node.id", "xds.", "xds.unknown"])(
    "rejects the literal key %j [N-60] [B-CTX-2]",
    (key) => {
      const error = errorOf(composeName(xdstpLocator(`xdstp://a/t/x?k=v&${key}=1`), layers));
      expect(error).toMatchObject({ code: "reserved-key", part: "context" });
      expect(error.message).toContain(JSON.stringify(key));
    },
  );

  it.each(["xds", "xdsx", "XDS.k", "udpa.node.id", "node.id", "client_features.f"])(
    "has nothing against the literal key %j and gives it no meaning [N-60] [N-61]",
    (key) => {
      const literal = `xdstp://a/t/x?${key}=1`;
      expect(valueOf(composeName(xdstpLocator(literal)))).toEqual(name(literal));
    },
  );

  it("passes reserved values through unchanged [N-64] [B-CTX-2]", () => {
    const composed = valueOf(
      composeName(xdstpLocator("xdstp://a/t/x?a=*&b=constraint:x"), {
        attributes: new Map([["k", "!v"]]),
      }),
    );
    expect(composed.contextParams).toEqual(
      new Map([
        ["a", "*"],
        ["b", "constraint:x"],
        ["xds.resource.k", "!v"],
      ]),
    );
  });

  it("drops the directives: only the collection is asked for [N-71]", () => {
    expect(
      valueOf(composeName(xdstpLocator("xdstp://a/tCollection/x#entry=n,alt=file:///y"))),
    ).toEqual(name("xdstp://a/tCollection/x"));
  });

  it.each([
    ["a node value", { node: new Map([["id", "a\ud800"]]) }, "a\\ud800", 1],
    ["a node key", { node: new Map([["metadata.\udc00", "v"]]) }, "xds.node.metadata.\\udc00", 18],
    [
      "a feature",
      { clientFeatures: new Map([["\ud800", true]]) },
      "xds.client_feature.\\ud800",
      19,
    ],
    [
      "an attribute",
      { attributes: new Map([["vip", "\u{1F600}\udc00"]]) },
      "\\ud83d\\ude00\\udc00",
      2,
    ],
  ])(
    "rejects an unpaired surrogate in %s instead of printing U+FFFD [N-06]",
    (_, bad, text, position) => {
      const error = errorOf(composeName(name("xdstp://a/t/x"), bad));
      expect(error).toMatchObject({ code: "utf8", part: "context", position });
      expect(error.message).toContain(text);
    },
  );

  it("takes whole characters beyond U+FFFF [N-06]", () => {
    expect(
      printName(
        valueOf(composeName(name("xdstp://a/t/x"), { attributes: new Map([["k", "\u{1F600}"]]) })),
      ),
    ).toBe("xdstp://a/t/x?xds.resource.k=%F0%9F%98%80");
  });

  it("leaves the locator as it was", () => {
    const literal = xdstpLocator("xdstp://a/t/x?k=v");
    composeName(literal, layers);
    expect(literal).toEqual(xdstpLocator("xdstp://a/t/x?k=v"));
  });
});

const node = {
  id: "n1",
  cluster: "c1",
  userAgentName: "envoy",
  userAgentVersion: "v",
  locality: { region: "r", zone: "z", subZone: "s" },
  userAgentBuildVersion: {
    version: { majorNumber: 1, minorNumber: 40, patch: 2 },
    metadata: { "build.type": "RELEASE" },
  },
  metadata: { foo: { bar: "baz" }, some: 42, text: "v", list: [true, null] },
};

describe("nodeContextParams()", () => {
  it.each([
    ["id", { id: "n1" }],
    ["cluster", { cluster: "c1" }],
    ["user_agent_name", { user_agent_name: "envoy" }],
    ["user_agent_version", { user_agent_version: "v" }],
    ["locality.region", { "locality.region": "r" }],
    ["locality.zone", { "locality.zone": "z" }],
    ["locality.sub_zone", { "locality.sub_zone": "s" }],
    ["user_agent_build_version.version", { "user_agent_build_version.version": "1.40.2" }],
    [
      "user_agent_build_version.metadata",
      { "user_agent_build_version.metadata.build.type": '"RELEASE"' },
    ],
    [
      "metadata",
      {
        "metadata.foo": '{"bar":"baz"}',
        "metadata.some": "42",
        "metadata.text": '"v"',
        "metadata.list": "[true,null]",
      },
    ],
  ])("gives the field %s [N-62] [C-CTX-3]", (field, params) => {
    expect(Object.fromEntries(valueOf(nodeContextParams(node, [field])))).toEqual(params);
  });

  it("gives several fields, and empty text for unset ones, so that the keys depend on the configuration only [N-62]", () => {
    const fields = [
      "id",
      "cluster",
      "user_agent_name",
      "user_agent_version",
      "locality.region",
      "locality.zone",
      "locality.sub_zone",
      "user_agent_build_version.version",
      "metadata",
      "user_agent_build_version.metadata",
    ];
    expect([...valueOf(nodeContextParams({}, fields))]).toEqual([
      ...fields.slice(0, 7).map((field) => [field, ""]),
      ["user_agent_build_version.version", "0.0.0"],
    ]);
  });

  it.each(["user-agent-name", "locality", "extensions", "userAgentName", "", "__proto__"])(
    "rejects the field %j [N-62]",
    (field) => {
      const error = errorOf(nodeContextParams(node, ["id", field]));
      expect(error).toMatchObject({ code: "node-field" });
      expect(error.message).toContain(JSON.stringify(field));
    },
  );

  it.each([
    ["id", { id: "\ud800" }],
    ["locality.zone", { locality: { zone: "z\udc00" } }],
    ["metadata", { metadata: { "\ud800": 1 } }],
  ])("rejects an unpaired surrogate in %s [N-06]", (field, bad) => {
    expect(errorOf(nodeContextParams(bad, [field]))).toMatchObject({
      code: "utf8",
      part: "context",
    });
  });

  it("keeps an unpaired surrogate inside a JSON text, which escapes it [N-06] [N-62]", () => {
    expect([...valueOf(nodeContextParams({ metadata: { k: "\ud800" } }, ["metadata"]))]).toEqual([
      ["metadata.k", '"\\ud800"'],
    ]);
  });

  it("does not merge the dynamic parameters of a node into names [N-65]", () => {
    expect(errorOf(nodeContextParams(node, ["dynamic_parameters"])).code).toBe("node-field");
  });
});
