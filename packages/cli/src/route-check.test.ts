import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const routes = `name: shop
virtual_hosts:
- name: shop
  domains: ["shop.example"]
  routes:
  - name: health
    match: { path: /health }
    direct_response: { status: 200 }
  - match: { prefix: /api/, headers: [{ name: x-canary, string_match: { exact: "1" } }] }
    route: { cluster: canary }
  - name: api
    match: { prefix: /api/ }
    route:
      prefix_rewrite: /
      weighted_clusters: { clusters: [{ name: blue, weight: 90 }, { name: green, weight: 10 }] }
  - match: { prefix: /new, runtime_fraction: { default_value: { numerator: 5 } } }
    redirect: { https_redirect: true }
- name: secure
  domains: ["*.secure.example"]
  require_tls: ALL
`;
const listener = `name: inline
address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
filter_chains:
- filters:
  - name: http
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: http
      route_config:
        name: own
        virtual_hosts: [{ name: any, domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: web } }] }]
`;

async function checked(...args: readonly string[]) {
  const { dir } = useFolder({ "config/_opaque/routes/shop.yaml": routes });
  return runToEnd(["route-check", ...args, "--folder", "config"], { cwd: dir });
}

describe("xdstp route-check", () => {
  it("shows the route that takes a request, and why those before it do not", async () => {
    const { dir } = useFolder({ "config/_opaque/routes/shop.yaml": routes });
    const { code, out } = await runToEnd(
      ["route-check", "http://shop.example/api/items?page=2", "--folder", "config"],
      { cwd: dir },
    );
    expect(out.replaceAll(dir, "")).toBe(
      `shop (/config/_opaque/routes/shop.yaml)
  virtual host    shop, by "shop.example"
  route 0 health  no: the path "/api/items" is not "/health"
  route 1         no: the header "x-canary" is missing
  route 2 api     clusters blue (90 %), green (10 %), path /items?page=2, host shop.example
`,
    );
    expect(code).toBe(0);
  });

  it("takes a method and headers of the request", async () => {
    const { out } = await checked("http://shop.example/api/x", "--header", "X-Canary: 1");
    expect(out).toContain("route 1         cluster canary, path /api/x, host shop.example\n");
  });

  it("takes a header of any name, and several values of one", async () => {
    const { out, code } = await checked(
      "http://shop.example/api/x",
      ...["--header", "constructor: x", "--header", "x-canary: 2", "--header", "x-canary: 1"],
    );
    expect(out).toContain("cluster canary");
    expect(code).toBe(0);
  });

  it("says of a share of the requests that it may match, and exits with 1", async () => {
    const { code, out } = await checked("http://shop.example/new");
    expect(out).toContain(
      "perhaps redirect 301 to https://shop.example/new: its share of the requests is 5 %\n",
    );
    expect(out).toContain("404             no route surely takes the request\n");
    expect(code).toBe(1);
  });

  it("shows the redirect of a virtual host that requires TLS", async () => {
    const { code, out } = await checked("http://a.secure.example/x?y");
    expect(out).toContain("require_tls   redirect 301 to https://a.secure.example/x?y\n");
    expect(code).toBe(0);
  });

  it("exits with 1 where no virtual host has the host", async () => {
    const { code, out } = await checked("http://other.example/");
    expect(out).toContain("  404  no virtual host has this host\n");
    expect(code).toBe(1);
  });

  it("gives one JSON object with --json", async () => {
    const { out } = await checked("http://shop.example/health", "--json");
    expect(JSON.parse(out)).toMatchObject({
      request: { method: "GET", authority: "shop.example", path: "/health" },
      configurations: [
        { name: "shop", route: { index: 0, name: "health", outcome: { status: 200 } } },
      ],
    });
  });

  it("finds the routes inside of listeners, of a folder and of a server that sends both", async () => {
    const { dir } = useFolder({
      "config/_opaque/listeners/inline.yaml": listener,
      "config/_opaque/listeners/referring.yaml": listener
        .replace("name: inline", "name: referring")
        .replace(
          / {6}route_config:[^]*/,
          "      rds: { route_config_name: shop, config_source: { ads: {}, resource_api_version: V3 } }\n",
        ),
      "config/_opaque/routes/shop.yaml": routes,
    });
    const folder = await runToEnd(
      ["route-check", "http://shop.example/health", "--folder", "config", "--config", "own"],
      { cwd: dir },
    );
    expect(folder.err).toBe("");
    expect(folder.out).toContain("own of listener inline (");
    expect(folder.out).toContain("route 0       cluster web, path /health, host shop.example\n");

    const serve = useCli(["serve", "config", "--listen", "127.0.0.1:0"], { cwd: dir });
    const server = `127.0.0.1:${await serve.port()}`;
    await serve.stdout.line(/Z loaded /);
    const asked = await runToEnd(["route-check", "http://shop.example/health", "--server", server]);
    expect(asked.err).toBe("");
    expect(asked.out).toContain(`own of listener inline (${server})`);
    expect(asked.out).toContain(`shop (${server})`);
    expect(asked.out).toContain("route 0 health  response 200\n");
    const one = await runToEnd([
      ...["route-check", "http://shop.example/health", "--server", server],
      ...["--config", "shop"],
    ]);
    expect(one.out).not.toContain("own of listener");
    expect(one.code).toBe(0);
  });

  it.each([
    [["no-url"], "is not the URL of a request"],
    [["http://a/", "--header", "x"], "give a name and a value"],
    [["http://a/", "--config", "nix"], 'has no route configuration "nix"; it has shop'],
    [["http://a/", "--server", "127.0.0.1:1"], "give one of them"],
  ])("says what is wrong with %j", async (args, text) => {
    const { code, err } = await checked(...args);
    expect(err).toContain(text);
    expect(code).toBeGreaterThan(0);
  });
});
