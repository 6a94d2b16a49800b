import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { SeededRandom } from "@xdstp/testing";

/** A request of {@link randomRequest}. */
export interface RandomRequest {
  readonly method: string;
  readonly authority: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

const domains = [
  "shop.example",
  "Api.Shop.example",
  "shop.example:8080",
  "*.example",
  "*op.example",
  "shop.*",
  "sh*",
  "*",
];
const hosts = [
  "shop.example",
  "SHOP.example",
  "api.shop.example",
  "shop.example:8080",
  "shop.test",
  "op.example",
  "other.org",
  "shop.example:80",
  ".example",
];
const paths = [
  "/",
  "/api",
  "/api/",
  "/api/items",
  "/apiary",
  "/API/Items",
  "/a;v=1/x",
  "/api;v=2",
  "/x/12/y",
  "/x/1*2/y",
  "/a*",
  "/aa",
  "/x/a%20b=c/d.e",
  "",
];
const queries = ["", "?", "?x=1", "?x=1&y=2&x=3", "?x", "?x=%31", "?y=2&&x=", "?x=abc"];
const texts = ["", "1", "10", "-3", "abc", "ABC", "a,b", "abcabc"];
const names = ["x-a", "X-B", "x-c"];
const expressions = ["[a-z]+", "\\d+", ".*", "a.*", "(?i)abc"];
/** Templates of paths, each with rewrites that use its variables. */
const templates = [
  ["/api/*", "/all"],
  ["/{part}", "/new/{part}", "/{part}/{part}x"],
  ["/api/{id}", "/{id}", "/v1/{id}/"],
  ["/x/{n=*}/{rest=**}", "/{rest}/{n}", "/{n}"],
  ["/**", "/all"],
  ["/{all=**}", "/new/{all}", "/{all}.old"],
  ["/{all=api/**}", "/{all}"],
  ["/x/*/y", "/y"],
  ["/a*", "/a"],
  ["/*ary", "/ary"],
  ["/x/12/{y}", "/{y}"],
  ["/api/", "/slash"],
  ["/api;v=2", "/v2"],
] as const;
const pathExpressions = ["/api(/.*)?", "/x/(\\d+)/(.*)", ".*", "/(?i)API.*", "/a[^p].*", "/api"];

/** A random route configuration as JSON. Each route answers with its place in `x-route`. `port`: of a backend that says what it got; the clusters are `a`, `b` and `c`. */
export function randomRoutes(random: SeededRandom): JsonObject {
  const free = random.next() < 0.1 ? ["*"] : domains.filter(() => random.next() < 0.6);
  const hostCount = random.between(1, 3);
  return {
    name: "r",
    ignorePortInHostMatching: random.next() < 0.3,
    ignorePathParametersInPathMatching: random.next() < 0.3,
    ...(random.next() < 0.15 && { vhostHeader: "x-host" }),
    virtualHosts: Array.from({ length: hostCount }, (_, place) => ({
      name: `v${place}`,
      domains: free.filter((_domain, index) => index % hostCount === place),
      ...(random.next() < 0.1 && { requireTls: "ALL" }),
      routes: Array.from({ length: random.between(0, 6) }, (_route, index) => ({
        name: `route-${index}`,
        responseHeadersToAdd: [{ header: { key: "x-route", value: `${place}.${index}` } }],
        ...randomRoute(random),
      })),
    })).filter((host) => host.domains.length > 0),
  };
}

function randomRoute(random: SeededRandom): JsonObject {
  const path = randomPathMatch(random);
  return {
    match: { ...path, ...randomConditions(random) },
    ...randomAction(random, path),
  };
}

function randomPathMatch(random: SeededRandom): JsonObject {
  return random.pick<() => JsonObject>([
    () => ({
      prefix: random.pick(["/", "/api", "/api/", "/API", "/x/", ""]),
      ...randomCase(random),
    }),
    () => ({ path: random.pick(["/", "/api", "/API/items", "/api;v=2"]), ...randomCase(random) }),
    () => ({
      pathSeparatedPrefix: random.pick(["/api", "/API", "/x", "/a"]),
      ...randomCase(random),
    }),
    () => ({ safeRegex: { regex: random.pick(pathExpressions) } }),
    () => ({ pathMatchPolicy: templatePolicy("match", random.pick(templates)[0]) }),
  ])();
}

/** The extension that matches, or rewrites, by a template. */
function templatePolicy(kind: "match" | "rewrite", template: string): JsonObject {
  const [type, field] =
    kind === "match"
      ? ["UriTemplateMatchConfig", "pathTemplate"]
      : ["UriTemplateRewriteConfig", "pathTemplateRewrite"];
  return {
    name: `envoy.path.${kind}.uri_template.uri_template_${kind === "match" ? "matcher" : "rewriter"}`,
    typedConfig: {
      "@type": `type.googleapis.com/envoy.extensions.path.${kind}.uri_template.v3.${type}`,
      [field]: template,
    },
  };
}

function randomCase(random: SeededRandom): JsonObject {
  return random.next() < 0.4 ? { caseSensitive: random.next() < 0.5 } : {};
}

function randomConditions(random: SeededRandom): JsonObject {
  const some = <T extends JsonValue>(one: () => T): T[] =>
    random.next() < 0.3 ? Array.from({ length: random.between(1, 2) }, one) : [];
  return {
    headers: some(() => randomHeaderMatch(random)),
    queryParameters: some(() => ({
      name: random.pick(["x", "y", "z"]),
      ...random.pick<JsonObject>([
        {},
        { presentMatch: random.next() < 0.5 },
        { stringMatch: randomTextMatch(random) },
      ]),
    })),
    cookies: some(() => ({
      name: random.pick(["s", "t"]),
      stringMatch: randomTextMatch(random),
      invertMatch: random.next() < 0.3,
    })),
    ...(random.next() < 0.1 && { grpc: {} }),
    ...(random.next() < 0.1 && {
      runtimeFraction: {
        defaultValue: { numerator: random.pick([0, 100]), denominator: "HUNDRED" },
      },
    }),
    ...(random.next() < 0.1 && {
      tlsContext: { [random.pick(["presented", "validated"])]: random.next() < 0.5 },
    }),
  };
}

function randomTextMatch(random: SeededRandom): JsonObject {
  const text = random.pick(texts);
  const given = text === "" ? "b" : text;
  return random.pick<JsonObject>([
    { exact: text, ignoreCase: random.next() < 0.3 },
    { prefix: given, ignoreCase: random.next() < 0.3 },
    { suffix: given, ignoreCase: random.next() < 0.3 },
    { contains: given, ignoreCase: random.next() < 0.3 },
    { safeRegex: { regex: random.pick(expressions) } },
  ]);
}

function randomHeaderMatch(random: SeededRandom): JsonObject {
  return {
    name: random.pick([...names, ":method", ":path", ":authority", "host", "content-type"]),
    invertMatch: random.next() < 0.3,
    treatMissingHeaderAsEmpty: random.next() < 0.3,
    ...random.pick<JsonObject>([
      {},
      { presentMatch: random.next() < 0.5 },
      { rangeMatch: { start: "-5", end: "10" } },
      { stringMatch: randomTextMatch(random) },
      { exactMatch: random.pick(texts) },
      { prefixMatch: random.pick(["a", "/api", "G", "shop"]) },
      { suffixMatch: random.pick(["c", "T", "example"]) },
      { containsMatch: random.pick(["b", "O", "hop"]) },
      { safeRegexMatch: { regex: random.pick(expressions) } },
    ]),
  };
}

function randomAction(random: SeededRandom, path: JsonObject): JsonObject {
  const isExpression = "safeRegex" in path;
  // Envoy rejects `redirect.prefix_rewrite` for the path of a template.
  const isTemplate = "pathMatchPolicy" in path;
  const rewrite = (): JsonObject =>
    random.pick<JsonObject>([
      {},
      isTemplate ? {} : { prefixRewrite: random.pick(["/", "/new", "/new/"]) },
      {
        regexRewrite: {
          pattern: {
            regex: random.pick(["/(\\w+)", "[aeiou]", "^/api", "(i)(t)", ".*", "a*", "[^/]*$"]),
          },
          substitution: random.pick(["/\\1/v", "/-", "/<\\0>", "/new"]),
        },
      },
    ]);
  return random.pick<() => JsonObject>([
    () => ({ directResponse: { status: random.pick([200, 204, 403, 503]) } }),
    () => ({
      redirect: {
        ...rewriteOfRedirect(random, rewrite),
        ...random.pick<JsonObject>([
          {},
          { httpsRedirect: random.next() < 0.5 },
          { schemeRedirect: "ftp" },
        ]),
        ...(random.next() < 0.3 && { hostRedirect: "elsewhere.example" }),
        ...(random.next() < 0.3 && { portRedirect: 8443 }),
        stripQuery: random.next() < 0.3,
        responseCode: random.pick([
          "MOVED_PERMANENTLY",
          "FOUND",
          "SEE_OTHER",
          "TEMPORARY_REDIRECT",
          "PERMANENT_REDIRECT",
        ]),
      },
    }),
    () => ({
      route: {
        ...random.pick<JsonObject>([
          { cluster: random.pick(["a", "b", "c"]) },
          { clusterHeader: "x-cluster" },
          {
            weightedClusters: {
              clusters: [
                { name: "a", weight: 1 },
                { name: "b", weight: random.pick([0, 3]) },
              ],
            },
          },
        ]),
        ...(isTemplate
          ? randomTemplateRewrite(random, path)
          : isExpression && random.next() < 0.5
            ? {}
            : rewrite()),
        ...random.pick<JsonObject>([
          {},
          { hostRewriteLiteral: "inside.example" },
          { hostRewriteHeader: "x-a" },
          {
            hostRewritePathRegex: {
              pattern: { regex: "^/(\\w+).*$" },
              substitution: "\\1.example",
            },
          },
        ]),
      },
    }),
  ])();
}

/** A rewrite by the variables of the template that matches, or none. */
function randomTemplateRewrite(random: SeededRandom, path: JsonObject): JsonObject {
  const matched = JSON.stringify(path);
  const [, ...rewrites] =
    templates.find(([template]) => matched.includes(JSON.stringify(template))) ?? [];
  if (random.next() < 0.3) return {};
  return { pathRewritePolicy: templatePolicy("rewrite", random.pick(rewrites)) };
}

function rewriteOfRedirect(random: SeededRandom, rewrite: () => JsonObject): JsonObject {
  return random.next() < 0.3 ? { pathRedirect: random.pick(["/there", "/there?q=1"]) } : rewrite();
}

/** A random request, with a cluster for a route that takes it of a header. */
export function randomRequest(random: SeededRandom): RandomRequest {
  const path = random.pick(paths);
  const headers: Record<string, string | readonly string[]> = {
    "x-cluster": random.pick(["a", "b", "c"]),
  };
  for (const name of names)
    if (random.next() < 0.5)
      headers[name] =
        random.next() < 0.2 ? [random.pick(texts), random.pick(texts)] : random.pick(texts);
  if (random.next() < 0.5) headers["x-host"] = random.pick(hosts);
  if (random.next() < 0.5)
    headers.cookie = random.pick([
      "s=1",
      "s=abc; t=10",
      "t=ABC;s=",
      "s=1; s=abc",
      "u=1",
      "s",
      's="abc"',
      's=""; t="1',
    ]);
  if (random.next() < 0.5)
    headers["content-type"] = random.pick([
      "application/grpc",
      "application/grpc+proto",
      "application/grpcx",
      "text/plain",
    ]);
  return {
    method: random.pick(["GET", "POST", "PUT"]),
    authority: random.pick(hosts),
    path: (path === "" ? "/q" : path) + random.pick(queries),
    headers,
  };
}
