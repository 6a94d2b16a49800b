import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { useFolder } from "../../../test/use-folder.ts";
import { checkFolder } from "../../check-folder.ts";
import { formatProblem } from "../../folder-problem.ts";
import type { ImportConnection } from "../imported.ts";
import { writeImport } from "../write-import.ts";
import { covering, covers } from "./hostnames.ts";
import { importGatewayApi } from "./import-gateway-api.ts";

const registry = envoyRegistry();
const connection: ImportConnection = {
  node: { id: "envoy", cluster: "default" },
  dynamicResources: {
    ads_config: {
      api_type: "DELTA_GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: "xdstp_server" } }],
    },
    lds_config: { ads: {}, resource_api_version: "V3" },
    cds_config: { ads: {}, resource_api_version: "V3" },
  },
  cluster: { name: "xdstp_server", load_assignment: { cluster_name: "xdstp_server" } },
};

const v1 = "apiVersion: gateway.networking.k8s.io/v1";
/** A Gateway `shop/edge`; `listeners` in the flow style of YAML. */
const gateway = (listeners: string, metadata = "name: edge, namespace: shop"): string =>
  `${v1}\nkind: Gateway\nmetadata: { ${metadata} }\nspec:\n  gatewayClassName: any\n  listeners: [${listeners}]\n`;
const http = "{ name: http, port: 8080, protocol: HTTP }";
/** A route in `shop` at the Gateway `edge`. */
const route = (spec: string, metadata = "name: r, namespace: shop", kind = "HTTPRoute"): string =>
  `${v1}\nkind: ${kind}\nmetadata: { ${metadata} }\nspec:\n  parentRefs: [{ name: edge, namespace: shop }]\n${indented(spec)}`;
const rule = (match: string, target = "a"): string =>
  `{ matches: [{ ${match} }], backendRefs: [{ name: ${target}, port: 80 }] }`;
const toService = (target = "a"): string =>
  `rules: [{ backendRefs: [{ name: ${target}, port: 80 }] }]`;
/** A Service with one endpoint. */
const service = (name: string, namespace = "shop", port = "{ port: 80 }"): string =>
  `apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: ${namespace} }
spec: { ports: [${port}] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: ${namespace}, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [{ port: 8080 }]
endpoints: [{ addresses: [10.0.0.1] }]
`;

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ") + "\n";
}

const joined = (...objects: readonly string[]): string => objects.join("---\n");

function imported(...objects: readonly string[]) {
  const files = [{ file: "k8s.yaml", text: joined(...objects) }];
  return importGatewayApi({ files, registry, connection });
}

type Read = ReturnType<typeof imported>;

/** Problems and warnings as they are shown. */
const shown = ({ problems, warnings }: Read): readonly string[] =>
  [...problems, ...warnings].map(formatProblem);

/** The resources of a type by name, after a check that nothing is wrong. */
function resources(result: Read, type: string): Readonly<Record<string, JsonObject>> {
  expect(result.problems.map(formatProblem)).toEqual([]);
  return Object.fromEntries(
    result.files
      .filter(({ typeUrl }) => typeUrl.endsWith(`.${type}`))
      .map(({ name, text }) => [name, parse(text) as JsonObject]),
  );
}

interface Host {
  readonly domains: readonly string[];
  readonly routes: readonly { readonly match: JsonObject; readonly [field: string]: unknown }[];
}

function hosts(result: Read, name = "shop/edge/http"): readonly Host[] {
  return resources(result, "RouteConfiguration")[name]?.virtual_hosts as unknown as Host[];
}

/** The routes of the only virtual host. */
function routes(result: Read): Host["routes"] {
  const all = hosts(result);
  expect(all).toHaveLength(1);
  return all[0]?.routes ?? [];
}

describe("importGatewayApi", () => {
  it("writes a folder that can be served, with recognisable names", async () => {
    const { dir } = await useFolder();
    const result = imported(gateway(http), route(toService()), service("a"));
    expect(shown(result)).toEqual([]);
    const target = join(dir, "out");
    expect(
      await writeImport(result, {
        dir: target,
        bootstrap: `${target}.yaml`,
        force: false,
        registry,
      }),
    ).toBeUndefined();
    expect(await checkFolder({ dir: target, registry })).toMatchObject({
      problems: [],
      warnings: [],
    });
    expect(result.files.map(({ name, path }) => [name, path])).toEqual([
      ["shop/edge/http", "_opaque/listeners/shop%2Fedge%2Fhttp.yaml"],
      ["shop/edge/http", "_opaque/routes/shop%2Fedge%2Fhttp.yaml"],
      ["shop/a/80", "_opaque/clusters/shop%2Fa%2F80.yaml"],
      ["shop/a/80", "_opaque/endpoints/shop%2Fa%2F80.yaml"],
    ]);
    expect(result.notes).toEqual([]);
    expect(parse(result.bootstrap.text)).toMatchObject({ node: { id: "envoy" } });
  });

  it("reads lists, JSON and several files, in any order", () => {
    const items = [service("a"), route(toService()), gateway(http)].flatMap((text) =>
      text.split("---\n").map((one) => parse(one) as JsonObject),
    );
    const whole = imported(gateway(http), route(toService()), service("a"));
    const list = { apiVersion: "v1", kind: "List", items };
    const one = (file: string, value: object) => ({ file, text: JSON.stringify(value) });
    for (const files of [
      [one("k8s.json", list)],
      [one("k8s.yaml", list)],
      items.map((item, at) => one(`${at}.json`, item)),
    ])
      expect(importGatewayApi({ files, registry, connection }).files).toEqual(whole.files);
  });

  it("gives the items of a typed list their type", () => {
    const text = joined(gateway(http), route(toService()), service("a"));
    const list =
      "apiVersion: v1\nkind: ServiceList\nitems: [{ metadata: { name: b, namespace: shop } }]\n";
    expect(imported(text, list).notes).toEqual([
      "Nothing served refers to Service shop/b: not imported.",
    ]);
  });

  it.each([
    ["", "k8s.yaml: is empty"],
    ["a: [", "k8s.yaml:1:5: is not valid YAML"],
    ["- a", "k8s.yaml:1:1: holds a value where an object is expected"],
    ["a: 1", "k8s.yaml:1:1: holds no object of Kubernetes: kind is missing"],
    ["kind: Gateway", "k8s.yaml:1:1: holds no object of Kubernetes: apiVersion is missing"],
    ["---\nkind: Gateway\napiVersion: v1", "k8s.yaml:2:1: Gateway has no metadata"],
    [
      "kind: Gateway\napiVersion: v1\nmetadata: { name: 1 }",
      "k8s.yaml:3:13: holds no object of Kubernetes: name is not a text",
    ],
  ])("says where %j is not an object", (text, expected) => {
    const { problems, files } = imported(text);
    expect(files).toEqual([]);
    expect(problems.map(formatProblem).join("\n")).toContain(expected);
  });

  it.each([
    ["rules: 1", "13:3: HTTPRoute shop/r: spec.rules is not a list"],
    ["hostnames: [A.b]", '13:15: HTTPRoute shop/r: spec.hostnames[0] is not a hostname such as "'],
    [
      "rules: [{ backendRefs: [{ name: a, port: 70000 }] }]",
      "13:38: HTTPRoute shop/r: spec.rules[0].backendRefs[0].port is not an integer from 1 to 65535",
    ],
    [
      "rules: [{ timeouts: { request: 1 day } }]",
      '13:25: HTTPRoute shop/r: spec.rules[0].timeouts.request is not a duration such as "1m30s"',
    ],
    [
      "rules: [{ matches: [{ path: { type: Glob, value: /a } }] }]",
      'spec.rules[0].matches[0].path.type is "Glob", not one of Exact, PathPrefix, RegularExpression',
    ],
    [
      "rules: [{ matches: [{ path: { type: RegularExpression, value: '(' } }] }]",
      "spec.rules[0].matches[0].path.value is not a pattern of RE2: missing",
    ],
    [
      'rules: [{ filters: [{ type: RequestHeaderModifier, requestHeaderModifier: { set: [{ name: "a b", value: c }] } }] }]',
      "requestHeaderModifier.set[0].name is not the name of a header",
    ],
    [
      "rules: [{ filters: [{ type: URLRewrite, urlRewrite: { hostname: a } }, { type: URLRewrite, urlRewrite: { hostname: b } }] }]",
      "13:74: HTTPRoute shop/r: spec.rules[0].filters[1] is not the only URLRewrite in its list; join it with the one before",
    ],
    [
      "rules: [{ filters: [{ type: URLRewrite, urlRewrite: { hostname: -a } }] }]",
      "spec.rules[0].filters[0].urlRewrite.hostname is not a hostname such as",
    ],
    [
      'rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { hostname: "*.a" } }] }]',
      'requestRedirect.hostname is not a hostname such as "shop.example", without a wildcard',
    ],
    [
      "rules: [{ filters: [{ type: URLRewrite, urlRewrite: { path: { type: ReplacePrefixMatch } } }] }]",
      "urlRewrite.path.replacePrefixMatch is not set, and the type needs it",
    ],
    [
      "rules: [{ filters: [{ type: URLRewrite, urlRewrite: { path: { type: ReplaceFullPath, replaceFullPath: /a, replacePrefixMatch: /b } } }] }]",
      "urlRewrite.path.replacePrefixMatch is not for this type",
    ],
  ])("imports nothing where a route has %s", (spec, expected) => {
    const result = imported(gateway(http), route(spec));
    expect(result.files).toEqual([]);
    expect(shown(result).join("\n")).toContain(expected);
  });

  it.each(["foo", "/foo", "/foo/"])("replaces a prefix by %s with one slash before it", (to) => {
    const filter = `{ type: URLRewrite, urlRewrite: { path: { type: ReplacePrefixMatch, replacePrefixMatch: ${to} } } }`;
    const rules = ["/a", "/"].map(
      (from) =>
        `{ matches: [{ path: { value: ${from} } }], filters: [${filter}], backendRefs: [{ name: a, port: 80 }] }`,
    );
    const all = routes(imported(gateway(http), route(`rules: [${rules.join()}]`), service("a")));
    expect(all.map(({ route: action }) => action)).toEqual([
      { cluster: "shop/a/80", prefix_rewrite: "/foo" },
      { cluster: "shop/a/80", prefix_rewrite: "/foo/" },
    ]);
  });

  it("reports filters without a type as that only", () => {
    const problems = shown(imported(gateway(http), route("rules: [{ filters: [{}, {}] }]")));
    expect(problems.filter((one) => one.includes("type is missing"))).toHaveLength(2);
    expect(problems.join("\n")).not.toContain("the only");
  });

  it("reads merge keys of YAML", () => {
    const text = route(
      "rules:\n- &one { matches: [{ path: { value: /a } }], backendRefs: [{ name: a, port: 80 }] }\n- <<: *one\n  matches: [{ path: { value: /b } }]",
    );
    const all = routes(imported(gateway(http), text, service("a")));
    expect(all.map(({ match, route: to }) => [match, to])).toEqual([
      [{ path_separated_prefix: "/a" }, { cluster: "shop/a/80" }],
      [{ path_separated_prefix: "/b" }, { cluster: "shop/a/80" }],
    ]);
  });

  it("rejects an object that is there twice", () => {
    expect(shown(imported(gateway(http), gateway(http)))[0]).toMatch(
      /^k8s.yaml:8:1: Gateway shop\/edge is also in k8s.yaml, document 1 \(keep one of them\)/,
    );
  });

  it("reports each field, kind and filter that it does not know, with its line", () => {
    const lines = shown(
      imported(
        gateway(http),
        route(
          'rules: [{ sessionPersistence: { sessionName: a }, filters: [{ type: ExtensionRef, extensionRef: { group: a, kind: b, name: c } }], backendRefs: [{ name: a, port: 80, colour: "red" }] }]',
        ),
        service("a"),
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: d }\n",
      ),
    );
    expect(lines).toEqual([
      "k8s.yaml:13:13: HTTPRoute shop/r: spec.rules[0].sessionPersistence is not imported: requests of a session may reach several endpoints (add the filter envoy.filters.http.stateful_session to the listener)",
      'k8s.yaml:13:63: HTTPRoute shop/r: spec.rules[0].filters[0] is not imported: the filter "ExtensionRef" is not supported here, so these requests are answered with an error (use RequestHeaderModifier, ResponseHeaderModifier, RequestRedirect, URLRewrite, RequestMirror, CORS, or write the filter into the files)',
      "k8s.yaml:13:169: HTTPRoute shop/r: spec.rules[0].backendRefs[0].colour is not imported: this field is not supported (check its spelling, or change the written files)",
      'k8s.yaml:27:1: Deployment default/d is not imported: the kind "Deployment of apps" is not read (leave it out of the files if traffic does not depend on it)',
    ]);
  });
});

describe("what is not imported", () => {
  const parts = [gateway(http), route(toService()), service("a")];
  const base = `apiVersion: gateway.networking.k8s.io/v1\n`;

  it.each([
    [
      `${base}kind: GatewayClass\nmetadata: { name: c }\nspec: { controllerName: x, parametersRef: { name: p } }\n`,
      "GatewayClass c: spec.parametersRef is not imported: they are settings of another implementation",
    ],
    [
      `${base}kind: HTTPRoute\nmetadata: { name: s }\nspec: { constructor: {} }\n`,
      "HTTPRoute default/s: spec.constructor is not imported: this field is not supported",
    ],
    [
      `${base}kind: HTTPRoute\nmetadata: { name: s }\nspecs: {}\n`,
      "HTTPRoute default/s: specs is not imported: this field is not supported",
    ],
    [
      gateway("{ name: t, port: 9000, protocol: TCP }", "name: t, namespace: shop"),
      "Gateway shop/t: spec.listeners[0] is not imported: it has no route (attach a TCPRoute, or remove the listener)",
    ],
    [
      gateway("{ name: t, port: 9000, protocol: UDP, hostname: a.b }", "name: t, namespace: shop"),
      "Gateway shop/t: spec.listeners[0].hostname is not imported: a connection of UDP does not name a host",
    ],
    [
      gateway("{ name: t, port: 9000, protocol: SCTP }", "name: t, namespace: shop"),
      'spec.listeners[0].protocol is not imported: the protocol "SCTP" is not supported',
    ],
    [
      gateway("{ name: t, port: 8443, protocol: HTTPS }", "name: t, namespace: shop"),
      "Gateway shop/t: spec.listeners[0] is not imported: it has no certificateRefs",
    ],
    [
      route(
        "rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { port: 1 } }], backendRefs: [{ name: a, port: 80 }] }]",
        "name: s, namespace: shop",
      ),
      "HTTPRoute shop/s: spec.rules[0].backendRefs is not imported: the rule redirects all requests",
    ],
    [
      route(
        "rules: [{ filters: [{ type: RequestMirror, requestMirror: { backendRef: { name: a, port: 80, weight: 2 } } }] }]",
        "name: s, namespace: shop",
      ),
      "requestMirror.backendRef.weight is not imported: this field is not supported",
    ],
    [
      route(
        "rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { port: 1 } }, { type: URLRewrite, urlRewrite: { hostname: b } }] }]",
        "name: s, namespace: shop",
      ),
      "HTTPRoute shop/s: spec.rules[0].filters is not imported: the rule redirects all requests, so that its RequestMirror and URLRewrite do nothing",
    ],
    [
      route(`rules: [${rule("method: CONNECT")}]`, "name: s, namespace: shop"),
      "HTTPRoute shop/s: spec.rules[0].matches[0].method is not imported: a request of this method has no path, so the route never matches it",
    ],
    [
      joined(
        route(toService("tls"), "name: s, namespace: shop"),
        service("tls", "shop", "{ port: 80, appProtocol: https }"),
      ),
      'HTTPRoute shop/s: spec.rules[0].backendRefs[0] is not imported: the appProtocol of the port is "https", and no BackendTLSPolicy has the Service, so requests are sent without TLS',
    ],
  ])("is reported (%#)", (text, expected) => {
    expect(shown(imported(...parts, text)).join("\n")).toContain(expected);
  });

  it("of a Service with session affinity is reported", () => {
    const sticky = service("a").replace(
      "spec: { ports",
      "spec: { sessionAffinity: ClientIP, ports",
    );
    expect(shown(imported(gateway(http), route(toService()), sticky))).toEqual([
      "k8s.yaml:18:9: Service shop/a: spec.sessionAffinity is not imported: requests of a client may reach several endpoints (write lb_policy: RING_HASH into the cluster, and hash_policy into its routes)",
    ]);
  });

  it("of a file that is given twice is reported once", () => {
    const file = { file: "k8s.yaml", text: gateway(http) };
    const result = importGatewayApi({ files: [file, file], registry, connection });
    expect(shown(result)).toEqual([
      "k8s.yaml:1:1: Gateway shop/edge is also in k8s.yaml, document 1 (keep one of them)",
    ]);
  });

  it("of two policies of a Service is the younger one", () => {
    const policy = (name: string, created: string): string =>
      `${base}kind: BackendTLSPolicy\nmetadata: { name: ${name}, namespace: shop, creationTimestamp: "${created}" }\nspec: { targetRefs: [{ group: "", kind: Service, name: a }], validation: { hostname: ${name}.example, wellKnownCACertificates: System } }\n`;
    const result = imported(...parts, policy("young", "2022-01-01"), policy("old", "2021-01-01"));
    expect(shown(result)).toEqual([
      expect.stringContaining(
        "BackendTLSPolicy shop/young: spec.targetRefs[0] is not imported: BackendTLSPolicy shop/old is older, and has this Service",
      ),
    ]);
    expect(JSON.stringify(resources(result, "Cluster"))).toContain('"sni":"old.example"');
  });
});

it.each([
  ["a.b.c", ["a.b.c", "*.b.c", "*.c", "*"]],
  ["*.b.c", ["*.b.c", "*.c", "*"]],
  ["c", ["c", "*"]],
  ["*", ["*"]],
])("%s is covered by %j", (hostname, expected) => {
  expect(covering(hostname)).toEqual(expected);
  for (const wide of expected) expect(covers(wide, hostname)).toBe(true);
});

describe("hosts", () => {
  const at = (name: string, hostname: string): string =>
    `{ name: ${name}, port: 8080, protocol: HTTP, hostname: "${hostname}" }`;

  it("have what the hostnames of listener and route have in common", () => {
    const result = imported(
      gateway(at("http", "*.example.com")),
      route('hostnames: [a.example.com, "*.b.example.com", example.com, other.org]\nrules: []'),
    );
    expect(hosts(result).map(({ domains }) => domains[0])).toEqual([
      "a.example.com",
      "*.b.example.com",
      "*.example.com",
    ]);
  });

  it("belong to the listener with the most specific hostname only", () => {
    const result = imported(
      gateway(`${at("http", "*.example.com")}, ${at("one", "a.example.com")}`),
      `${v1}\nkind: HTTPRoute\nmetadata: { name: r, namespace: shop }\nspec:\n  parentRefs: [{ name: edge, sectionName: http }]\n${indented(toService())}`,
      service("a"),
    );
    expect(hosts(result).map(({ domains, routes: { length } }) => [domains[0], length])).toEqual([
      ["a.example.com", 0],
      ["*.example.com", 1],
    ]);
  });

  it("have the rules of routes with less specific hostnames after their own", () => {
    const result = imported(
      gateway(http),
      route(`hostnames: [a.b]\nrules: [${rule("path: { value: /x }")}]`),
      route(
        `hostnames: ["*.b"]\nrules: [${rule("path: { value: /x/y/z }", "b")}]`,
        "name: s, namespace: shop",
      ),
      service("a"),
      service("b"),
    );
    expect(
      hosts(result).map(({ domains, routes: own }) => [
        domains[0],
        own.map(({ match }) => match.path_separated_prefix),
      ]),
    ).toEqual([
      ["a.b", ["/x", "/x/y/z"]],
      ["*.b", ["/x/y/z"]],
      ["*", []],
    ]);
  });

  it("of several Gateways on a port are in one listener", () => {
    const result = imported(
      gateway(http, "name: b, namespace: shop"),
      gateway(at("web", "*.example.com"), "name: a, namespace: shop"),
    );
    expect(Object.keys(resources(result, "Listener"))).toEqual(["shop/a/web"]);
    expect(hosts(result, "shop/a/web").map(({ domains }) => domains[0])).toEqual([
      "*.example.com",
      "*",
    ]);
  });
});

describe("rules", () => {
  it("are matched by path, method, headers, query parameters, age and name", () => {
    const queries = "queryParams: [{ name: q, value: v }]";
    const headers = (...names: readonly string[]): string =>
      `headers: [${names.map((name) => `{ name: ${name}, value: v }`).join()}]`;
    const own = [
      rule("path: { value: / }"),
      rule("path: { value: /longer/prefix }"),
      rule(`path: { value: /p }, ${queries}`),
      rule(`path: { value: /p }, ${headers("a")}`),
      rule(`path: { value: /p }, ${headers("a", "b")}`),
      rule("path: { value: /p }, method: GET"),
      rule("path: { value: /p }"),
      rule("path: { type: RegularExpression, value: '/p.*' }"),
      rule("path: { type: Exact, value: /e }"),
    ];
    const other = `rules: [${rule("path: { value: /p }", "b")}]`;
    const result = imported(
      gateway(http),
      route(`rules: [${own.join(", ")}]`, "name: m, namespace: shop"),
      route(other, "name: old, namespace: shop, creationTimestamp: 2020-01-01T00:00:00Z"),
      route(other, "name: first, namespace: shop"),
      service("a"),
      service("b"),
    );
    expect(routes(result).map(({ name }) => name)).toEqual([
      "httproute/shop/m/rule/8/match/0",
      "httproute/shop/m/rule/7/match/0",
      "httproute/shop/m/rule/1/match/0",
      "httproute/shop/m/rule/5/match/0",
      "httproute/shop/m/rule/4/match/0",
      "httproute/shop/m/rule/3/match/0",
      "httproute/shop/m/rule/2/match/0",
      "httproute/shop/old/rule/0/match/0",
      "httproute/shop/first/rule/0/match/0",
      "httproute/shop/m/rule/6/match/0",
      "httproute/shop/m/rule/0/match/0",
    ]);
  });

  it.each(["", "matches: [], ", "matches: null, "])(
    "without matches have all requests (%j)",
    (matches) => {
      const to = `rules: [{ ${matches}backendRefs: [{ name: a, port: 80 }] }]`;
      const [only] = routes(imported(gateway(http), route(to), service("a")));
      expect(only?.match).toEqual({ prefix: "/" });
    },
  );

  it("count the first match of a header name", () => {
    const match =
      "headers: [{ name: A, value: one }, { name: a, value: two }, { name: b, type: RegularExpression, value: 'x+' }]";
    const [only] = routes(imported(gateway(http), route(`rules: [${rule(match)}]`), service("a")));
    expect(only?.match).toEqual({
      prefix: "/",
      headers: [
        { name: "A", string_match: { exact: "one" } },
        { name: "b", string_match: { safe_regex: { regex: "x+" } } },
      ],
    });
  });

  it.each([
    ["yes", ["yes"], ["Yes", "%79es"]],
    ["a b", ["a b", "a%20b", "a+b"], ["ab", "a%2Bb"]],
    ["a+b", ["a+b", "a%2bb", "a%2Bb"], ["a b", "aab"]],
    ["50%", ["50%25", "50%"], ["50"]],
    ["ä/.", ["%C3%A4%2F.", "%c3%a4/.", "ä/."], ["%C3%A4%2Fx"]],
  ])("match the query parameter %j as clients send it", (value, sent, others) => {
    const match = `queryParams: [{ name: q, value: ${JSON.stringify(value)} }]`;
    const [only] = routes(imported(gateway(http), route(`rules: [${rule(match)}]`), service("a")));
    const [found] = only?.match.query_parameters as readonly JsonObject[];
    const matcher = found?.string_match as {
      readonly exact?: string;
      readonly safe_regex?: { readonly regex: string };
    };
    const isMatched = (text: string): boolean =>
      matcher.exact === text || new RegExp(`^(?:${matcher.safe_regex?.regex})$`).test(text);
    expect(sent.filter((text) => !isMatched(text))).toEqual([]);
    expect(others.filter(isMatched)).toEqual([]);
  });

  it("apply the filters of a backend after those of their rule", () => {
    const change = (text: string): string =>
      `filters: [{ type: RequestHeaderModifier, requestHeaderModifier: { ${text} } }]`;
    const set = (name: string, value: string): string => `{ name: ${name}, value: ${value} }`;
    const ofRule = change(
      `set: [${set("x", "rule")}, ${set("Gone", "rule")}], remove: [from-rule]`,
    );
    const ofBackend = change(`set: [${set("x", "backend")}], remove: [gone]`);
    const to = `rules: [{ ${ofRule}, backendRefs: [{ name: a, port: 80, ${ofBackend} }, { name: b, port: 80 }] }]`;
    const [only] = routes(imported(gateway(http), route(to), service("a"), service("b")));
    const header = (key: string, value: string) => ({ header: { key, value } });
    // Envoy applies the list of a route after those of its clusters, so the route has none.
    expect(only).not.toHaveProperty("request_headers_to_add");
    expect(only?.route).toMatchObject({
      weighted_clusters: {
        clusters: [
          {
            name: "shop/a/80",
            request_headers_to_add: [header("x", "rule"), header("x", "backend")],
            request_headers_to_remove: ["from-rule", "gone"],
          },
          {
            name: "shop/b/80",
            request_headers_to_add: [header("x", "rule"), header("Gone", "rule")],
            request_headers_to_remove: ["from-rule"],
          },
        ],
      },
    });
  });

  it("set and add the first of several values for a header", () => {
    const to =
      "rules: [{ filters: [{ type: ResponseHeaderModifier, responseHeaderModifier: { set: [{ name: A, value: one }, { name: a, value: two }], add: [{ name: a, value: three }] } }], backendRefs: [{ name: a, port: 80 }] }]";
    const [only] = routes(imported(gateway(http), route(to), service("a")));
    expect(only?.response_headers_to_add).toMatchObject([
      { header: { key: "A", value: "one" }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" },
      { header: { key: "a", value: "three" }, append_action: "APPEND_IF_EXISTS_OR_ADD" },
    ]);
  });

  it("show no port in a redirect where it is the usual one of the scheme", () => {
    const portOf = (redirect: string): unknown => {
      const to = `rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { ${redirect} } }] }]`;
      const [only] = routes(imported(gateway(http), route(to)));
      return (only?.redirect as JsonObject).port_redirect;
    };
    expect(portOf("scheme: https, hostname: a.example")).toBeUndefined();
    // Envoy would keep the port 8080 of the Host header.
    expect(portOf("scheme: https")).toBe(443);
    expect(portOf("hostname: a.example")).toBe(8080);
  });

  it.each(["cart", "/a//b", "/a/../b", "/a/.", "/a%2fb", "/a?b", "/a#b", "/a b", ""])(
    "have no path that a request cannot have: %j",
    (path) => {
      for (const type of ["Exact", "PathPrefix"]) {
        const match = `path: { type: ${type}, value: ${JSON.stringify(path)} }`;
        const result = imported(gateway(http), route(`rules: [${rule(match)}]`), service("a"));
        expect(result.problems.map(formatProblem)).toEqual([
          expect.stringContaining(
            "HTTPRoute shop/r: spec.rules[0].matches[0].path.value is not a path such as",
          ),
        ]);
      }
    },
  );

  it("have no method that a request cannot have", () => {
    const result = imported(gateway(http), route(`rules: [${rule("method: get")}]`), service("a"));
    expect(result.problems.map(formatProblem)).toEqual([
      expect.stringContaining('matches[0].method is "get", not one of GET, HEAD, POST'),
    ]);
  });

  it("allow origins for 5 seconds where they do not say how long", () => {
    const cors = "{ type: CORS, cors: { allowOrigins: ['https://a.example'] } }";
    const to = `rules: [{ filters: [${cors}], backendRefs: [{ name: a, port: 80 }] }]`;
    const [only] = routes(imported(gateway(http), route(to), service("a")));
    expect(JSON.stringify(only)).toContain('"max_age":"5"');
  });

  it("of a GRPCRoute match service and method", () => {
    const methods = [
      "{ service: a.B, method: C }",
      "{ service: a.B }",
      "{ method: C }",
      "{ type: RegularExpression, service: 'a[.]x|b', method: 'C|D' }",
    ];
    const rules = methods.map((method) => rule(`method: ${method}`)).join(", ");
    const all = routes(
      imported(
        gateway(http),
        route(`rules: [${rules}]`, "name: r, namespace: shop", "GRPCRoute"),
        service("a"),
      ),
    );
    expect(all.map(({ match }) => match)).toEqual([
      { path: "/a.B/C", grpc: {} },
      { prefix: "/a.B/", grpc: {} },
      { safe_regex: { regex: "/[^/]+/C" }, grpc: {} },
      { safe_regex: { regex: "/(?:a[.]x|b)/(?:C|D)" }, grpc: {} },
    ]);
    expect(all[0]?.route).toEqual({ cluster: "shop/a/80/grpc", timeout: "0s" });
  });

  it("send the share of backends that are not there to an error", () => {
    const refs =
      "[{ name: a, port: 80, weight: 2 }, { name: b, port: 80 }, { name: none, port: 80 }, { name: b, port: 80, weight: 0 }]";
    const [lost, rest] = routes(
      imported(
        gateway(http),
        route(`rules: [{ backendRefs: ${refs} }]`),
        service("a"),
        service("b"),
      ),
    );
    expect(lost).toMatchObject({
      match: {
        runtime_fraction: { default_value: { numerator: 250_000, denominator: "MILLION" } },
      },
      direct_response: { status: 500 },
    });
    expect(rest?.route).toEqual({
      weighted_clusters: {
        clusters: [
          { name: "shop/a/80", weight: 2 },
          { name: "shop/b/80", weight: 1 },
        ],
      },
    });
  });

  it.each([
    ["backendRefs: [{ name: none, port: 80 }]"],
    ["backendRefs: [{ name: a, port: 81 }]"],
    ["backendRefs: [{ name: a }]"],
    ["backendRefs: [{ name: a, port: 80, weight: 0 }]"],
    ["backendRefs: [{ name: a, port: 80, kind: Bucket, group: s.org }]"],
    ["backendRefs: [{ name: a, namespace: other, port: 80 }]"],
    ["name: nothing"],
    [""],
  ])("answer with 500 where they have %s, and say why", (content) => {
    const result = imported(
      gateway(http),
      route(content === "" ? "hostnames: []" : `rules: [{ ${content} }]`),
      service("a"),
      service("a", "other"),
    );
    expect(routes(result)).toMatchObject([{ direct_response: { status: 500 } }]);
    expect(result.warnings.length).toBeGreaterThan(0);
  });

  it("use a Service of another namespace which a ReferenceGrant allows", () => {
    const grant = (from: string): string =>
      `apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: { name: g, namespace: other }\nspec: { from: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: ${from} }], to: [{ group: "", kind: Service }] }\n`;
    const to = route("rules: [{ backendRefs: [{ name: a, namespace: other, port: 80 }] }]");
    const used = (from: string) =>
      routes(imported(gateway(http), to, service("a", "other"), grant(from)))[0];
    expect(used("shop")?.route).toEqual({ cluster: "other/a/80" });
    expect(used("elsewhere")?.direct_response).toEqual({ status: 500 });
  });

  it("have timeouts and retries", () => {
    const timeouts = (text: string): unknown =>
      routes(
        imported(
          gateway(http),
          route(`rules: [{ ${text}, backendRefs: [{ name: a, port: 80 }] }]`),
          service("a"),
        ),
      )[0]?.route;
    expect(timeouts("timeouts: { request: 1m30s }")).toMatchObject({ timeout: "90s" });
    expect(timeouts("timeouts: { request: 10s, backendRequest: 500ms }")).toMatchObject({
      timeout: "0.5s",
    });
    expect(timeouts("timeouts: { request: 0s }")).toMatchObject({ timeout: "0s" });
    expect(
      timeouts(
        "timeouts: { request: 10s, backendRequest: 2s }, retry: { codes: [503], attempts: 2, backoff: 100ms }",
      ),
    ).toEqual({
      cluster: "shop/a/80",
      timeout: "10s",
      retry_policy: {
        retry_on: "connect-failure,reset,retriable-status-codes",
        num_retries: 2,
        retriable_status_codes: [503],
        per_try_timeout: "2s",
        retry_back_off: { base_interval: "0.1s", max_interval: "1s" },
      },
    });
  });
});

it("attempts with a limit are not cut by the usual timeout of a request", () => {
  const limits = "timeouts: { backendRequest: 20s }, retry: { attempts: 2 }";
  const to = `rules: [{ ${limits}, backendRefs: [{ name: a, port: 80 }] }]`;
  const [only] = routes(imported(gateway(http), route(to), service("a")));
  expect(only?.route).toMatchObject({ timeout: "0s", retry_policy: { per_try_timeout: "20s" } });
});

describe("attached routes", () => {
  const outcome = (allowed: string, ...more: readonly string[]): string =>
    shown(
      imported(
        gateway(`{ name: http, port: 8080, protocol: HTTP, allowedRoutes: ${allowed} }`),
        route(toService(), "name: r, namespace: blue"),
        service("a", "blue"),
        ...more,
      ),
    ).join("\n");
  const namespace = (label: string): string =>
    `apiVersion: v1\nkind: Namespace\nmetadata: { name: blue, labels: { team: ${label} } }\n`;
  const notAllowed = "no listener of Gateway shop/edge allows routes from namespace blue";

  it("are in the namespaces that the listener allows", () => {
    expect(outcome("{}")).toContain(notAllowed);
    expect(outcome("{ namespaces: { from: All } }")).toBe("");
    const selected = "{ namespaces: { from: Selector, selector: { matchLabels: { team: a } } } }";
    expect(outcome(selected)).toContain(notAllowed);
    expect(outcome(selected, namespace("a"))).toBe("");
    expect(outcome(selected, namespace("b"))).toContain(notAllowed);
    const chosen =
      "{ namespaces: { from: Selector, selector: { matchExpressions: [{ key: team, operator: NotIn, values: [a] }] } } }";
    expect(outcome(chosen, namespace("a"))).toContain(notAllowed);
    expect(outcome(chosen, namespace("b"))).toBe("");
    expect(outcome("{ namespaces: { from: Selector } }")).toContain(
      "Gateway shop/edge: spec.listeners[0].allowedRoutes.namespaces.selector is not set, and `from: Selector` needs it",
    );
  });

  it("are of the kinds that the listener allows", () => {
    expect(outcome("{ namespaces: { from: All }, kinds: [{ kind: GRPCRoute }] }")).toContain(
      "no listener of Gateway shop/edge has routes of this kind",
    );
  });

  it("of HTTP and gRPC do not share a hostname: the older one has it", () => {
    const lines = shown(
      imported(
        gateway(http),
        route(toService(), "name: a, namespace: shop"),
        route(toService(), "name: b, namespace: shop", "GRPCRoute"),
        service("a"),
      ),
    );
    expect(lines).toEqual([
      "k8s.yaml:19:16: GRPCRoute shop/b: spec.parentRefs[0] is not imported: HTTPRoute shop/a is older, and has hostnames of it at the listener shop/edge/http (give an HTTPRoute and a GRPCRoute different hostnames)",
    ]);
  });

  it.each([
    ["{ name: none }", "refers to Gateway shop/none, which is in none of the files"],
    ["{ name: edge, sectionName: x }", "no listener of Gateway shop/edge is served with this name"],
    [
      "{ name: edge, port: 1 }",
      "no listener of Gateway shop/edge is served with this name or port",
    ],
    ["{ name: a, kind: Service, group: '' }", "it is not a Gateway"],
  ])("say why they are not at %s", (parent, expected) => {
    const text = `${v1}\nkind: HTTPRoute\nmetadata: { name: r, namespace: shop }\nspec: { parentRefs: [${parent}] }\n`;
    expect(shown(imported(gateway(http), text)).join("\n")).toContain(expected);
  });
});

describe("TLS", () => {
  const authority = createTestAuthority();
  const { cert, key } = authority.issue({ dnsNames: ["a.example"] });
  const secret = (text: Readonly<Record<string, string>>, namespace = "shop"): string => {
    const data = Object.entries(text).map(
      ([name, value]) => `  ${name}: ${Buffer.from(value).toString("base64")}\n`,
    );
    return `apiVersion: v1\nkind: Secret\nmetadata: { name: pair, namespace: ${namespace} }\ntype: kubernetes.io/tls\ndata:\n${data.join("")}`;
  };
  const https = (name: string, hostname: string, more = ""): string =>
    `{ name: ${name}, port: 8443, protocol: HTTPS, hostname: "${hostname}", tls: { certificateRefs: [{ name: pair }]${more} } }`;

  it("is terminated with the certificate of a Secret, which gets a file that others may not read", () => {
    const result = imported(
      gateway(https("https", "a.example")),
      secret({ "tls.crt": cert, "tls.key": key }),
    );
    expect(shown(result)).toEqual([]);
    expect(result.files.find(({ name }) => name === "shop/pair")).toMatchObject({
      path: "_opaque/secrets/shop%2Fpair.yaml",
      isSecret: true,
    });
    expect(resources(result, "Listener")["shop/edge/https"]).toMatchObject({
      filter_chains: [
        {
          filter_chain_match: { server_names: ["a.example"] },
          transport_socket: {
            typed_config: {
              common_tls_context: {
                tls_certificate_sds_secret_configs: [
                  { name: "shop/pair", sds_config: { ads: {}, resource_api_version: "V3" } },
                ],
              },
            },
          },
        },
      ],
    });
  });

  it.each([
    [{ "tls.crt": "x", "tls.key": key }, "whose tls.crt is not a certificate in PEM"],
    [{ "tls.crt": cert, "tls.key": "S3CRET" }, "whose tls.key is not a private key in PEM"],
    [{ "tls.crt": cert }, "which has no tls.crt and tls.key"],
    [
      { "tls.crt": cert, "tls.key": authority.issue({ dnsNames: ["b.example"] }).key },
      "whose tls.key is not the key of its tls.crt",
    ],
  ])("is not served with a certificate that is wrong (%#)", (text, expected) => {
    const result = imported(gateway(https("https", "a.example")), secret(text));
    expect(result.files).toEqual([]);
    const lines = shown(result).join("\n");
    expect(lines).toContain(`refers to Secret shop/pair, ${expected}`);
    expect(lines).toContain("spec.listeners[0] is not imported: a certificate that it refers to");
    expect(lines).not.toContain("S3CRET");
  });

  it("asks for certificates of clients, and is not served without their authorities", () => {
    const more = ", frontendValidation: { caCertificateRefs: [{ kind: ConfigMap, name: ca }] }";
    const pair = secret({ "tls.crt": cert, "tls.key": key });
    const ca = (text: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ca, namespace: shop }\ndata: { ca.crt: ${JSON.stringify(text)} }\n`;
    const result = imported(gateway(https("https", "a.example", more)), pair, ca(authority.cert));
    expect(resources(result, "Listener")["shop/edge/https"]).toMatchObject({
      filter_chains: [
        {
          transport_socket: {
            typed_config: {
              require_client_certificate: true,
              common_tls_context: {
                validation_context: { trusted_ca: { inline_string: authority.cert } },
              },
            },
          },
        },
      ],
    });
    expect(imported(gateway(https("https", "a.example", more)), pair, ca("x")).files).toEqual([]);
  });

  it("is passed on by the host that it names", () => {
    const tls = "{ name: tls, port: 8443, protocol: TLS, tls: { mode: Passthrough } }";
    const passed = (name: string, hostname: string): string =>
      route(
        `hostnames: ["${hostname}"]\n${toService()}`,
        `name: ${name}, namespace: shop`,
        "TLSRoute",
      );
    const result = imported(
      gateway(tls),
      passed("wide", "*.example"),
      passed("narrow", "a.example"),
      passed("second", "a.example"),
      service("a"),
    );
    const { filter_chains: chains } = resources(result, "Listener")["shop/edge/tls"] as unknown as {
      readonly filter_chains: readonly { readonly filter_chain_match: unknown }[];
    };
    expect(chains.map(({ filter_chain_match: match }) => match)).toEqual([
      { server_names: ["a.example"] },
      { server_names: ["*.example"] },
    ]);
    expect(shown(result)).toEqual([
      expect.stringContaining(
        "TLSRoute shop/second is not imported: TLSRoute shop/narrow has a.example on port 8443",
      ),
    ]);
  });

  it("to backends is as a BackendTLSPolicy says", () => {
    const policy = (reference: string): string =>
      `${v1}\nkind: BackendTLSPolicy\nmetadata: { name: p, namespace: shop }\nspec: { targetRefs: [{ group: "", kind: Service, name: a }], validation: { hostname: a.example, ${reference} } }\n`;
    const parts = [gateway(http), route(toService()), service("a")];
    const system = imported(...parts, policy("wellKnownCACertificates: System"));
    expect(resources(system, "Cluster")["shop/a/80"]).toMatchObject({
      transport_socket: {
        typed_config: {
          sni: "a.example",
          common_tls_context: {
            validation_context: {
              match_typed_subject_alt_names: [{ san_type: "DNS", matcher: { exact: "a.example" } }],
            },
          },
        },
      },
    });
    const old = policy("wellKnownCACertificates: System")
      .replace(
        'targetRefs: [{ group: "", kind: Service, name: a }]',
        "targetRef: { kind: Service, name: a }",
      )
      .replace("validation:", "tls:");
    expect(imported(...parts, old).problems.map(formatProblem)).toEqual([
      expect.stringContaining("BackendTLSPolicy shop/p: spec.validation.hostname is missing"),
    ]);
    const broken = imported(...parts, policy("caCertificateRefs: [{ kind: ConfigMap, name: no }]"));
    expect(routes(broken)).toMatchObject([{ direct_response: { status: 500 } }]);
  });

  it("to backends of connections is as a BackendTLSPolicy says, unless they are in TLS of the client", () => {
    const policy = (authorities: string): string =>
      `${v1}\nkind: BackendTLSPolicy\nmetadata: { name: p, namespace: shop }\nspec: { targetRefs: [{ group: "", kind: Service, name: a }], validation: { hostname: a.example, ${authorities} } }\n`;
    const parts = [
      gateway(
        `{ name: tcp, port: 90, protocol: TCP }, { name: pass, port: 91, protocol: TLS, tls: { mode: Passthrough } }, { name: end, port: 92, protocol: TLS, tls: { certificateRefs: [{ name: pair }] } }`,
      ),
      route(toService(), "name: t, namespace: shop", "TCPRoute"),
      route(toService(), "name: s, namespace: shop", "TLSRoute").replace(
        "namespace: shop }]",
        "namespace: shop, sectionName: pass }]",
      ),
      service("a"),
      secret({ "tls.crt": cert, "tls.key": key }),
    ];
    const result = imported(...parts, policy("wellKnownCACertificates: System"));
    const all = resources(result, "Cluster");
    expect(Object.keys(all)).toEqual(["shop/a/80/tls", "shop/a/80/tcp"]);
    expect(all["shop/a/80/tls"]?.transport_socket).toMatchObject({
      typed_config: { sni: "a.example" },
    });
    expect(all["shop/a/80/tcp"]).not.toHaveProperty("transport_socket");
    const listeners = resources(result, "Listener");
    const clusterAt = (name: string): unknown =>
      /"cluster":"([^"]*)"/.exec(JSON.stringify(listeners[`shop/edge/${name}`]))?.[1];
    expect(["tcp", "pass", "end"].map(clusterAt)).toEqual([
      "shop/a/80/tls",
      "shop/a/80/tcp",
      "shop/a/80/tls",
    ]);
    const broken = imported(...parts, policy("caCertificateRefs: [{ kind: ConfigMap, name: no }]"));
    expect(JSON.stringify(resources(broken, "Listener")["shop/edge/tcp"])).toContain(
      "xdstp/no-backend",
    );
    expect(shown(broken).join("\n")).toContain(
      "is not imported: no connection to the Service shop/a can be verified",
    );
  });
});

describe("listeners that conflict", () => {
  it("are not served in one Gateway", () => {
    const result = imported(
      gateway(
        `${http}, { name: b, port: 8080, protocol: HTTP }, { name: c, port: 8081, protocol: HTTP }`,
      ),
    );
    expect(Object.keys(resources(result, "Listener"))).toEqual(["shop/edge/c"]);
    expect(shown(result)).toEqual([
      "k8s.yaml:6:15: Gateway shop/edge: spec.listeners[0] is not imported: it conflicts with the listener shop/edge/b on port 8080 (give it another port or hostname)",
      "k8s.yaml:6:59: Gateway shop/edge: spec.listeners[1] is not imported: it conflicts with the listener shop/edge/http on port 8080 (give it another port or hostname)",
    ]);
  });

  it("of TLS have their hosts alone, where another one has a wildcard", () => {
    const authority = createTestAuthority();
    const { cert, key } = authority.issue({ name: "c" });
    const tls = "tls: { certificateRefs: [{ name: c }] }";
    const wild = `{ name: wild, port: 443, protocol: TLS, hostname: "*.shop.test", ${tls} }`;
    const exact = `{ name: exact, port: 443, protocol: TLS, hostname: a.shop.test, ${tls} }`;
    const at = (section: string, target: string, hostnames: string): string =>
      route(toService(target), `name: ${section}, namespace: shop`, "TLSRoute").replace(
        "[{ name: edge, namespace: shop }]",
        `[{ name: edge, sectionName: ${section} }]\n  hostnames: [${hostnames}]`,
      );
    const result = imported(
      gateway(`${wild}, ${exact}`),
      at("wild", "a", "a.shop.test, x.shop.test"),
      at("exact", "b", "a.shop.test"),
      service("a"),
      service("b"),
      `apiVersion: v1\nkind: Secret\nmetadata: { name: c, namespace: shop }\nstringData: ${JSON.stringify({ "tls.crt": cert, "tls.key": key })}\n`,
    );
    const chains = resources(result, "Listener")["shop/edge/wild"]?.filter_chains;
    expect(chains).toMatchObject([
      {
        filter_chain_match: { server_names: ["x.shop.test"] },
        filters: [{ typed_config: { cluster: "shop/a/80/tcp" } }],
      },
      {
        filter_chain_match: { server_names: ["a.shop.test"] },
        filters: [{ typed_config: { cluster: "shop/b/80/tcp" } }],
      },
    ]);
    expect(shown(result)).toEqual([
      "k8s.yaml:8:1: TLSRoute shop/wild is not imported: shop/edge/exact has a.shop.test on port 443 (keep one of them, or give it another hostname)",
    ]);
  });

  it("of two Gateways are served by the older one", () => {
    const result = imported(
      gateway(http, "name: a, namespace: shop"),
      gateway(
        "{ name: tcp, port: 8080, protocol: TCP }",
        "name: b, namespace: shop, creationTimestamp: 2020-01-01T00:00:00Z",
      ),
      route(toService(), "name: r, namespace: shop", "TCPRoute").replace("name: edge", "name: b"),
      service("a"),
    );
    expect(Object.keys(resources(result, "Listener"))).toEqual(["shop/b/tcp"]);
  });
});

describe("backends", () => {
  const cluster = (text: string): JsonObject | undefined =>
    resources(imported(gateway(http), route(toService()), text), "Cluster")["shop/a/80"];

  it("have the endpoints of their port that are ready", () => {
    const slices = `apiVersion: v1
kind: Service
metadata: { name: a, namespace: shop }
spec: { ports: [{ name: web, port: 80 }, { name: other, port: 81 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: a-1, namespace: shop, labels: { kubernetes.io/service-name: a } }
addressType: IPv4
ports: [{ name: web, port: 8080 }, { name: other, port: 8081 }]
endpoints:
- { addresses: [10.0.0.1], zone: east }
- { addresses: [10.0.0.2], zone: east, conditions: { ready: false } }
- { addresses: [10.0.0.3], conditions: { ready: true } }
`;
    const result = imported(gateway(http), route(toService()), slices);
    const endpoint = (address: string) => ({
      endpoint: { address: { socket_address: { address, port_value: 8080 } } },
    });
    expect(resources(result, "ClusterLoadAssignment")["shop/a/80"]).toEqual({
      cluster_name: "shop/a/80",
      endpoints: [
        { locality: { zone: "east" }, lb_endpoints: [endpoint("10.0.0.1")] },
        { lb_endpoints: [endpoint("10.0.0.3")] },
      ],
    });
  });

  it.each([
    ["[IPv6, IPv4]", true, ["fd00::1 10.0.0.1", "fd00::2 10.0.0.2"]],
    ["[IPv4, IPv6]", true, ["10.0.0.1 fd00::1", "10.0.0.2 fd00::2"]],
    ["[IPv6, IPv4]", false, ["fd00::1", "fd00::2"]],
    // A Service without the list: the slices may name different endpoints.
    ["[]", false, ["10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"]],
  ])(
    "of two families of addresses are one endpoint per pod (%s, pods named: %s)",
    (families, hasPods, expected) => {
      const slice = (family: string, addresses: readonly string[]): string => {
        const endpoints = addresses.map((address, at) => {
          const pod = `, targetRef: { kind: Pod, namespace: shop, name: pod-${at} }`;
          return `{ addresses: ["${address}"]${hasPods ? pod : ""} }`;
        });
        return `apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: { name: a-${family}, namespace: shop, labels: { kubernetes.io/service-name: a } }\naddressType: ${family}\nports: [{ port: 8080 }]\nendpoints: [${endpoints.join(", ")}]\n`;
      };
      const result = imported(
        gateway(http),
        route(toService()),
        `apiVersion: v1\nkind: Service\nmetadata: { name: a, namespace: shop }\nspec: { ipFamilies: ${families}, ports: [{ port: 80 }] }\n`,
        slice("IPv4", ["10.0.0.1", "10.0.0.2"]),
        slice("IPv6", ["fd00::1", "fd00::2"]),
      );
      const found = JSON.stringify(resources(result, "ClusterLoadAssignment")["shop/a/80"]);
      const endpoints = found.split('"endpoint":').slice(1);
      expect(
        endpoints.map((one) =>
          Array.from(one.matchAll(/"address":"([^"]*)"/g), ([, address]) => address).join(" "),
        ),
      ).toEqual(expected);
    },
  );

  it("reports endpoints of a second family that name no pod", () => {
    const slice = (family: string, address: string): string =>
      `apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: { name: a-${family}, namespace: shop, labels: { kubernetes.io/service-name: a } }\naddressType: ${family}\nports: [{ port: 8080 }]\nendpoints: [{ addresses: ["${address}"] }]\n`;
    const result = imported(
      gateway(http),
      route(toService()),
      `apiVersion: v1\nkind: Service\nmetadata: { name: a, namespace: shop }\nspec: { ipFamilies: [IPv6, IPv4], ports: [{ port: 80 }] }\n`,
      slice("IPv4", "10.0.0.1") + "---\n" + slice("IPv6", "fd00::1"),
    );
    expect(shown(result)).toEqual([
      expect.stringContaining(
        "Service shop/a: spec.ipFamilies is not imported: endpoints with IPv4 name no pod, and may be those with IPv6, so they get no requests",
      ),
    ]);
  });

  it.each([
    ["", "a.shop.svc.cluster.local", 80],
    ["type: ExternalName, externalName: a.example, ", "a.example", 80],
    ["clusterIP: None, ", "a.shop.svc.cluster.local", 9000],
  ])("without slices are resolved by name (%s)", (spec, address, port) => {
    const text = `apiVersion: v1\nkind: Service\nmetadata: { name: a, namespace: shop }\nspec: { ${spec}ports: [{ port: 80, targetPort: 9000 }] }\n`;
    expect(cluster(text)).toMatchObject({
      type: "STRICT_DNS",
      load_assignment: {
        endpoints: [
          {
            lb_endpoints: [
              { endpoint: { address: { socket_address: { address, port_value: port } } } },
            ],
          },
        ],
      },
    });
  });

  it("of a port for connections and for datagrams have endpoints of their own", () => {
    const dns = `apiVersion: v1
kind: Service
metadata: { name: dns, namespace: shop }
spec: { ports: [{ name: tcp, port: 53 }, { name: udp, port: 53, protocol: UDP }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: dns-1, namespace: shop, labels: { kubernetes.io/service-name: dns } }
addressType: IPv4
ports: [{ name: tcp, port: 5301 }, { name: udp, port: 5302, protocol: UDP }]
endpoints: [{ addresses: [10.0.0.1] }]
`;
    const at = (section: string, kind: string): string =>
      route(
        "rules: [{ backendRefs: [{ name: dns, port: 53 }] }]",
        `name: ${section}, namespace: shop`,
        kind,
      ).replace("namespace: shop }]", `namespace: shop, sectionName: ${section} }]`);
    const result = imported(
      gateway("{ name: t, port: 53, protocol: TCP }, { name: u, port: 53, protocol: UDP }"),
      at("t", "TCPRoute"),
      at("u", "UDPRoute"),
      dns,
    );
    expect(JSON.stringify(resources(result, "Listener")["shop/edge/u"])).toContain(
      '"cluster":"shop/dns/53/udp"',
    );
    const endpoints = resources(result, "ClusterLoadAssignment");
    expect(JSON.stringify(endpoints["shop/dns/53"])).toContain('"port_value":5301');
    expect(JSON.stringify(endpoints["shop/dns/53/udp"])).toContain('"port_value":5302');
  });

  it("speak HTTP/2 where the Service says so", () => {
    const result = imported(
      gateway(http),
      route(toService()),
      service("a", "shop", "{ port: 80, appProtocol: kubernetes.io/h2c }"),
    );
    expect(JSON.stringify(resources(result, "Cluster")["shop/a/80/grpc"])).toContain(
      "http2_protocol_options",
    );
  });
});
