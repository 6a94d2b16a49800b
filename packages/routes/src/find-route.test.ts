import { fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { RouteConfigurationSchema } from "@xdstp/protos/envoy/route";
import { describe, expect, it } from "vitest";
import { findRoute, type FoundRoute } from "./find-route.ts";
import type { RouteRequest } from "./route-request.ts";

// The suites with real programs compare the results with Envoy itself, over random configurations.
// This file tests the reasons, and what random requests do not cover.

const ok = { directResponse: { status: 200 } };
const registry = envoyRegistry();

function find(
  routes: readonly JsonObject[],
  request: Partial<RouteRequest> = {},
  more: JsonObject = {},
): FoundRoute {
  const virtualHosts: JsonValue[] = [{ name: "v", domains: ["*"], routes: [...routes] }];
  const json = { name: "r", virtualHosts, ...more };
  return findRoute(fromJson(RouteConfigurationSchema, json, { registry }), {
    authority: "shop.example",
    path: "/api/items?x=1",
    ...request,
  });
}

/** Returns the reasons of a match that fails or may fail. */
function reasons(match: JsonObject, request: Partial<RouteRequest> = {}): readonly string[] {
  const hasPath = ["path", "pathSeparatedPrefix", "safeRegex", "connectMatcher", "pathMatchPolicy"];
  const path = hasPath.some((name) => name in match) ? {} : { prefix: "/" };
  const { tried } = find([{ match: { ...path, ...match }, ...ok }], request);
  return [tried[0]?.match ?? "", ...(tried[0]?.reasons ?? [])];
}

describe("the virtual host of a request", () => {
  const hostOf = (authority: string, more: JsonObject = {}): string | undefined => {
    const domains = ["shop.example", "*.example", "*p.example", "shop.*", "shop.ex*", "*"];
    const virtualHosts = domains.map((domain) => ({ name: domain, domains: [domain], routes: [] }));
    return find([], { authority }, { virtualHosts, ...more }).virtualHost?.name;
  };

  it.each([
    ["shop.example", "shop.example"],
    ["SHOP.Example", "shop.example"],
    ["a.example", "*.example"],
    ["desktop.example", "*p.example"],
    ["shop.org", "shop.*"],
    ["shop.ex.org", "shop.ex*"],
    ["other.org", "*"],
    ["shop.example:80", "shop.ex*"],
  ])("of %s is that with the domain %s", (authority, domain) => {
    expect(hostOf(authority)).toBe(domain);
  });

  it("is found without the port, or by another header, where the configuration says so", () => {
    expect(hostOf("shop.example:8080", { ignorePortInHostMatching: true })).toBe("shop.example");
    expect(hostOf("[::1]:8080", { ignorePortInHostMatching: true })).toBe("*");
    const config = fromJson(RouteConfigurationSchema, {
      vhostHeader: "X-Host",
      virtualHosts: [{ name: "v", domains: ["inside.example"] }],
    });
    const request = { authority: "shop.example", path: "/" };
    expect(findRoute(config, request).virtualHost).toBeUndefined();
    expect(
      findRoute(config, { ...request, headers: { "x-host": "inside.example" } }).virtualHost,
    ).toEqual({ name: "v", domain: "inside.example" });
  });

  it("is not looked for where the only domain is *, also without the header that names it", () => {
    const config = fromJson(RouteConfigurationSchema, {
      vhostHeader: "X-Host",
      virtualHosts: [{ name: "v", domains: ["*"] }],
    });
    expect(findRoute(config, { authority: "shop.example", path: "/" }).virtualHost?.name).toBe("v");
  });

  it("may be missing", () => {
    expect(find([], {}, { virtualHosts: [] })).toEqual({
      virtualHost: undefined,
      tried: [],
      route: undefined,
      notes: [],
    });
  });
});

describe("the reasons why a route does not match", () => {
  it.each([
    [{ prefix: "/app" }, {}, 'the path "/api/items" does not begin with "/app"'],
    [{ path: "/api" }, {}, 'the path "/api/items" is not "/api"'],
    [{ pathSeparatedPrefix: "/ap" }, {}, 'the path "/api/items" is not in or below "/ap"'],
    [
      { safeRegex: { regex: "/api" } },
      {},
      'the path "/api/items" does not match the expression "/api"',
    ],
    [{ connectMatcher: {} }, {}, "the method is not CONNECT"],
    [{}, { path: "" }, "the request has no path"],
    [{ grpc: {} }, {}, "the request is not gRPC"],
    [{ tlsContext: { presented: true } }, {}, "the certificate of the client is not presented"],
    [
      { tlsContext: { validated: false } },
      { clientCertificate: "validated" },
      "the certificate of the client is validated",
    ],
    [{ headers: [{ name: "X-A" }] }, {}, 'the header "X-A" is missing'],
    [
      { headers: [{ name: "X-A", presentMatch: false }] },
      { headers: { "x-a": "" } },
      'the header "X-A" is present',
    ],
    [
      { headers: [{ name: "x-a", rangeMatch: { start: "1", end: "5" } }] },
      { headers: { "X-A": ["5", "b"] } },
      'the header "x-a" is "5" and "b", which is not from 1 to below 5',
    ],
    [
      {
        headers: [
          { name: "x-a", stringMatch: { prefix: "B", ignoreCase: true }, invertMatch: true },
        ],
      },
      { headers: { "x-a": "bc" } },
      'the header "x-a" is "bc", which is the prefix "B" in any case',
    ],
    [{ queryParameters: [{ name: "y" }] }, {}, 'the query parameter "y" is missing'],
    [
      { queryParameters: [{ name: "x", presentMatch: false }] },
      {},
      'the query parameter "x" is present',
    ],
    [
      { queryParameters: [{ name: "x", stringMatch: { exact: "2" } }] },
      {},
      'the query parameter "x" is "1", which is not "2"',
    ],
    [
      { cookies: [{ name: "s", stringMatch: { exact: "1" } }] },
      { headers: { cookie: "t=1" } },
      'the cookie "s" is missing',
    ],
    [
      { runtimeFraction: { defaultValue: { numerator: 0 } } },
      {},
      "its share of the requests is 0 %",
    ],
  ] as const)("%j", (match, request, reason) => {
    expect(reasons(match as JsonObject, request)).toEqual(["no", reason]);
  });

  it("are all that fail, without what may match", () => {
    expect(
      reasons({
        headers: [{ name: "a" }, { name: "b" }],
        runtimeFraction: { defaultValue: { numerator: 5 } },
      }),
    ).toEqual(["no", 'the header "a" is missing', 'the header "b" is missing']);
  });
});

describe("a route by a template", () => {
  const matched = (pathTemplate: string): JsonObject => ({
    pathMatchPolicy: {
      name: "uri",
      typedConfig: {
        "@type":
          "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig",
        pathTemplate,
      },
    },
  });
  const rewritten = (pathTemplate: string, pathTemplateRewrite: string): string | undefined => {
    const typedConfig = {
      "@type":
        "type.googleapis.com/envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig",
      pathTemplateRewrite,
    };
    const action = { cluster: "c", pathRewritePolicy: { name: "uri", typedConfig } };
    const { route } = find([{ match: matched(pathTemplate), route: action }]);
    return route?.outcome?.kind === "cluster" ? route.outcome.path : undefined;
  };

  it.each([
    "/api/items",
    "/api/*",
    "/*/items",
    "/**",
    "/{all=**}",
    "/api/{id}",
    "/{a}/{b}",
    "/{all=api/*}",
    "/api/*ms",
    "/**items",
  ])("%s takes /api/items", (template) => {
    expect(reasons(matched(template))).toEqual(["yes"]);
  });

  it.each(["/api", "/*", "/api/items/", "/api/*/*", "/api/{id}x", "/API/*"])(
    "%s does not take it, and says so",
    (template) => {
      expect(reasons(matched(template))).toEqual([
        "no",
        `the path "/api/items" does not match the template "${template}"`,
      ]);
    },
  );

  it.each([
    ["api", 'is not a path of printable ASCII that begins with "/"'],
    ["/api//items", "has an empty segment"],
    ["/{a}/{a}", 'has the variable "a" twice'],
    ["/{a}{b}", 'has "{b}", which is not a segment of a path'],
    ["/**/*", 'has "*" after "**"'],
    ["/{a=**}/{b}", 'has "*" after "**"'],
    ["/{1}", 'has the variable name "1"'],
    ["/{a", 'has a "{" without a "}"'],
    ["/a}", 'has "a}", which is not a segment of a path'],
    ["/{a=}", "has an empty segment"],
    ["/{a=*b}", 'has "*b" in the variable "a"'],
    ["/{a}/b c", 'is not a path of printable ASCII that begins with "/"'],
    [
      "/{seventeen_letters}",
      'has the variable "seventeen_letters", whose name is longer than 16 characters',
    ],
    ["/{a}/{b}/{c}/{d}/{e}/{f}", "has 6 variables, and 5 are allowed"],
  ])("%s may take it, since Envoy rejects that", (template, fault) => {
    expect(reasons(matched(template))).toEqual([
      "maybe",
      `Envoy rejects the template "${template}", which ${fault}`,
    ]);
  });

  it("rewrites with the variables of the template, and keeps the query", () => {
    expect(rewritten("/api/{id}", "/v2/{id}/x")).toBe("/v2/items/x?x=1");
    expect(rewritten("/{a}/{b}", "/{b}/{a}{a}")).toBe("/items/apiapi?x=1");
    expect(rewritten("/{all=**}", "/v2/{all}")).toBe("/v2/api/items?x=1");
  });

  it.each(["v2", "//v2", "/{other}", "/{id", "/v 2"])(
    "does not show the path of the rewrite %s, which Envoy rejects",
    (rewrite) => {
      expect(rewritten("/api/{id}", rewrite)).toBeUndefined();
    },
  );
});

describe("a route that may match", () => {
  it.each([
    [
      { runtimeFraction: { defaultValue: { numerator: 5, denominator: "TEN_THOUSAND" } } },
      "its share of the requests is 0.05 %",
    ],
    [
      { runtimeFraction: { defaultValue: { numerator: 100 }, runtimeKey: "k" } },
      'its share of the requests is 100 %, unless the runtime key "k" says otherwise',
    ],
    [
      { dynamicMetadata: [{ filter: "jwt", path: [{ key: "k" }], value: { presentMatch: true } }] },
      'the metadata "jwt" of the request decides',
    ],
    [{ filterState: [{ key: "k" }] }, 'the filter state "k" of the request decides'],
    [{ pathMatchPolicy: { name: "uri" } }, 'the extension "uri" decides by the path'],
    [
      { safeRegex: { regex: "(" } },
      'the path "/api/items" does not match the expression "(" (it cannot be evaluated here)',
    ],
  ])("%j", (match, reason) => {
    expect(reasons(match)).toEqual(["maybe", reason]);
  });

  it("is one by its certificate where nothing is known of that", () => {
    expect(reasons({ tlsContext: { presented: true } }, { scheme: "https" })).toEqual([
      "maybe",
      "the certificate of the client decides",
    ]);
  });

  it("does not end the search: those after it are tried, up to one that surely matches", () => {
    const half = { runtimeFraction: { defaultValue: { numerator: 50 } } };
    const { tried, route } = find([
      { match: { prefix: "/", ...half }, ...ok },
      { match: { prefix: "/no" }, ...ok },
      { name: "last", match: { prefix: "/" }, ...ok },
      { match: { prefix: "/" }, ...ok },
    ]);
    expect(tried.map(({ match }) => match)).toEqual(["maybe", "no", "yes"]);
    expect(route?.name).toBe("last");
    expect(find([{ match: { prefix: "/", ...half }, ...ok }]).route).toBeUndefined();
  });
});

describe("the outcome of a route", () => {
  const outcome = (route: JsonObject, request: Partial<RouteRequest> = {}) =>
    find([{ match: { prefix: "/api" }, ...route }], request).route?.outcome;

  it("has the clusters with their weights, those of 0 left out", () => {
    const clusters = [
      { name: "a", weight: 9 },
      { name: "b", weight: 0 },
      { clusterHeader: "x-to", weight: 1 },
    ];
    expect(
      outcome({ route: { weightedClusters: { clusters } } }, { headers: { "x-to": "c" } }),
    ).toEqual({
      kind: "cluster",
      chosenBy: "weights",
      clusters: [
        { name: "a", weight: 9 },
        { name: "c", weight: 1 },
      ],
      path: "/api/items?x=1",
      host: "shop.example",
    });
  });

  it("has no cluster where the header that names it is missing, or where an extension chooses", () => {
    expect(outcome({ route: { clusterHeader: "x-to" } })).toMatchObject({
      chosenBy: "header",
      clusters: [],
    });
    expect(outcome({ route: { clusterSpecifierPlugin: "p" } })).toMatchObject({
      chosenBy: "extension",
      clusters: [],
    });
  });

  it("has no path and no host where only Envoy can make them", () => {
    expect(
      outcome({ route: { cluster: "a", pathRewrite: "%PATH%", autoHostRewrite: true } }),
    ).toMatchObject({
      path: undefined,
      host: undefined,
    });
  });

  it.each([
    [".*", "/new", "/new?x=1"],
    ["[^/]*$", "end", "/api/end?x=1"],
    ["x*", "-", "-/-a-p-i-/-i-t-e-m-s-?x=1"],
    ["(i)(t)", "\\2\\1", "/api/tiems?x=1"],
    ["i", "\\1", "/api/items?x=1"],
  ])("has the path that %s is replaced in by %s, as RE2 does", (regex, substitution, path) => {
    const regexRewrite = { pattern: { regex }, substitution };
    expect(outcome({ route: { cluster: "a", regexRewrite } })).toMatchObject({ path });
  });

  it("names the action of a route that forwards nothing", () => {
    expect(outcome({ nonForwardingAction: {} })).toEqual({
      kind: "other",
      action: "nonForwardingAction",
    });
  });
});

describe("a cookie", () => {
  it("has a value without the quotes around it", () => {
    const cookies = [{ name: "s", stringMatch: { exact: "abc" } }];
    expect(reasons({ cookies }, { headers: { cookie: 't=1; s="abc"' } })).toEqual(["yes"]);
  });
});

describe("a virtual host that requires TLS", () => {
  const requireTls = (kind: string, request: Partial<RouteRequest>) =>
    find([], request, {
      virtualHosts: [
        {
          name: "v",
          domains: ["*"],
          requireTls: kind,
          routes: [{ match: { prefix: "/" }, ...ok }],
        },
      ],
    }).redirect;
  const redirect = {
    kind: "redirect",
    status: 301,
    location: "https://shop.example:80/api/items?x=1",
  };

  it("redirects before all routes, and keeps the port", () => {
    expect(requireTls("ALL", { authority: "shop.example:80" })).toEqual(redirect);
    expect(requireTls("ALL", { scheme: "https" })).toBeUndefined();
  });

  it("may leave out internal requests, which a header marks", () => {
    expect(requireTls("EXTERNAL_ONLY", { authority: "shop.example:80" })).toEqual(redirect);
    expect(
      requireTls("EXTERNAL_ONLY", { headers: { "x-envoy-internal": "true" } }),
    ).toBeUndefined();
  });
});

describe("the notes", () => {
  it("name what may lead to another route and is not evaluated", () => {
    const extension = { name: "e", typedConfig: {} };
    const virtualHosts = [{ name: "v", domains: ["*"], matcher: {}, routes: [] }];
    expect(find([], {}, { virtualHosts, routeSpecifiers: [extension] }).notes).toEqual([
      "the virtual host chooses by a matcher tree, which is not evaluated",
      "route_specifiers may choose another route, and are not evaluated",
    ]);
    expect(find([], {}, { virtualHosts: [], vhds: {} }).notes).toEqual([
      "the virtual host may come on demand, by VHDS",
    ]);
  });
});
