import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { runToEnd } from "../test/use-cli.ts";
import { envoyBootstrap } from "./envoy-bootstrap.ts";
import { grpcBootstrap } from "./grpc-bootstrap.ts";

const odd = 'a: b #\n"\\\u001b\u0085é';

async function printed(...argv: readonly string[]): Promise<unknown> {
  const { code, out, err } = await runToEnd(["bootstrap", ...argv]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return load(out);
}

describe("xdstp bootstrap envoy", () => {
  const tls = ["--tls-ca", "ca.pem", "--tls-cert", "c.pem", "--tls-key", "k.pem"];
  const kinds = ["delta", "sotw"].flatMap(
    (variant) =>
      [
        [`${variant}, ads`, ["--variant", variant]],
        [`${variant}, xdstp`, ["--variant", variant, "--authority", "a.example"]],
        [`${variant}, TLS`, ["--variant", variant, ...tls]],
      ] as const,
  );

  const everyKind = [...kinds, ["rest", ["--variant", "rest"]] as const];

  it.each(everyKind)(
    "prints a bootstrap that Envoy's API knows field by field (%s)",
    async (_, args) => {
      const json = await printed("envoy", ...args, "--json");
      const type = "type.googleapis.com/envoy.config.bootstrap.v3.Bootstrap";
      expect(() =>
        anyFromJson({ "@type": type, ...(json as Record<string, never>) }, envoyRegistry()),
      ).not.toThrow();
    },
  );

  it("polls for listeners and clusters over REST, without an ADS stream", async () => {
    const source = {
      resource_api_version: "V3",
      api_config_source: {
        api_type: "REST",
        transport_api_version: "V3",
        cluster_names: ["xdstp_server"],
        refresh_delay: "1s",
        request_timeout: "5s",
      },
    };
    expect(await printed("envoy", "--variant", "rest")).toMatchObject({
      dynamic_resources: { lds_config: source, cds_config: source },
      static_resources: { clusters: [{ name: "xdstp_server" }] },
    });
    expect(await printed("envoy", "--variant", "rest")).not.toHaveProperty(
      "dynamic_resources.ads_config",
    );
  });

  it.each(everyKind)("prints as YAML what it prints as JSON (%s)", async (_, args) => {
    expect(await printed("envoy", ...args)).toEqual(await printed("envoy", ...args, "--json"));
    expect((await runToEnd(["bootstrap", "envoy", ...args])).out).not.toMatch(/^\s*\{/);
  });

  it("asks for everything over one delta stream, unless told otherwise", async () => {
    expect(await printed("envoy")).toEqual(
      envoyBootstrap({
        server: { host: "127.0.0.1", port: 18_000 },
        admin: { host: "127.0.0.1", port: 0 },
        variant: "delta",
        node: "envoy",
        cluster: "default",
        authorities: [],
      }),
    );
    expect(await printed("envoy")).toMatchObject({
      dynamic_resources: {
        ads_config: { api_type: "DELTA_GRPC", set_node_on_first_message_only: true },
        lds_config: { ads: {} },
        cds_config: { ads: {} },
      },
    });
  });

  it.each([
    [[], "127.0.0.1", 0],
    [["--admin", "9901"], "127.0.0.1", 9901],
    [["--admin", "[::]:9901"], "::", 9901],
  ] as const)("has the admin page with %j at %s port %i", async (args, address, port_value) => {
    expect(await printed("envoy", ...args)).toMatchObject({
      admin: { address: { socket_address: { address, port_value } } },
    });
  });

  it("asks by globs of an authority, with everything on one stream", async () => {
    const bootstrap = await printed(
      "envoy",
      "--variant",
      "sotw",
      "--names",
      "xdstp",
      "--authority",
      "a b",
    );
    expect(bootstrap).toMatchObject({
      dynamic_resources: {
        ads_config: { api_type: "GRPC" },
        lds_resources_locator: "xdstp://a%20b/envoy.config.listener.v3.Listener/*",
        cds_resources_locator: "xdstp://a%20b/envoy.config.cluster.v3.Cluster/*",
      },
    });
    expect(bootstrap).not.toHaveProperty("config_sources");
  });

  it.each([
    ["10.0.0.1:1", "STATIC", "10.0.0.1"],
    ["[::1]:1", "STATIC", "::1"],
    ["xds.example.com:1", "STRICT_DNS", "xds.example.com"],
  ])("finds the server %s by %s", async (server, type, address) => {
    const cluster = {
      type,
      ...(type === "STRICT_DNS" && { dns_lookup_family: "ALL" }),
      load_assignment: {
        endpoints: [
          {
            lb_endpoints: [
              { endpoint: { address: { socket_address: { address, port_value: 1 } } } },
            ],
          },
        ],
      },
    };
    expect(await printed("envoy", "--server", server)).toMatchObject({
      static_resources: { clusters: [cluster] },
    });
  });

  it.each([
    ["xds.example.com:1", "DNS"],
    ["10.0.0.1:1", "IP_ADDRESS"],
  ])("checks the certificate of the server %s, and shows its own", async (server, san_type) => {
    const host = server.slice(0, -2);
    const context = {
      common_tls_context: {
        alpn_protocols: ["h2"],
        tls_certificates: [
          { certificate_chain: { filename: "c.pem" }, private_key: { filename: "k.pem" } },
        ],
        validation_context: {
          trusted_ca: { filename: "ca.pem" },
          match_typed_subject_alt_names: [{ san_type, matcher: { exact: host } }],
        },
      },
    };
    const printedWith = async (...args: readonly string[]): Promise<unknown> => {
      const {
        static_resources: {
          clusters: [cluster],
        },
      } = (await printed("envoy", "--server", server, ...args)) as {
        static_resources: { clusters: readonly { transport_socket?: { typed_config: object } }[] };
      };
      return cluster?.transport_socket?.typed_config;
    };
    expect(await printedWith(...tls)).toMatchObject(
      san_type === "DNS" ? { ...context, sni: host } : context,
    );
    expect(await printedWith("--tls")).toMatchObject({
      common_tls_context: {
        validation_context: { trusted_ca: { filename: "/etc/ssl/certs/ca-certificates.crt" } },
      },
    });
    expect(await printedWith()).toBeUndefined();
  });

  it("takes any text as node and cluster, and prints no control characters", async () => {
    const args = ["envoy", "--node", odd, "--cluster", "true"];
    expect(await printed(...args)).toMatchObject({ node: { id: odd, cluster: "true" } });
    expect(await printed(...args, "--json")).toMatchObject({ node: { id: odd, cluster: "true" } });
    for (const more of [[], ["--json"]])
      expect(
        (await runToEnd(["bootstrap", ...args, ...more])).out.replaceAll("\n", ""),
      ).not.toMatch(/\p{Cc}/u);
  });
});

describe("xdstp bootstrap grpc", () => {
  it("prints JSON for opaque names, with the locality that grpc-js-xds needs", async () => {
    const { out } = await runToEnd(["bootstrap", "grpc", "--server", "[::1]:5", "--node", odd]);
    expect(JSON.parse(out)).toEqual(
      grpcBootstrap({
        server: { host: "::1", port: 5 },
        node: odd,
        cluster: "default",
        authorities: [],
      }),
    );
    expect(JSON.parse(out)).toEqual({
      xds_servers: [
        {
          server_uri: "[::1]:5",
          channel_creds: [{ type: "insecure" }],
          server_features: ["xds_v3"],
        },
      ],
      node: { id: odd, cluster: "default", locality: {} },
    });
    expect(out.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  it("names the files of TLS", async () => {
    const creds = async (...args: readonly string[]): Promise<unknown> =>
      ((await printed("grpc", ...args)) as { xds_servers: readonly { channel_creds: unknown }[] })
        .xds_servers[0]?.channel_creds;
    expect(await creds("--tls")).toEqual([{ type: "tls", config: {} }]);
    expect(await creds("--tls-ca", "ca.pem")).toEqual([
      { type: "tls", config: { ca_certificate_file: "ca.pem" } },
    ]);
    expect(await creds("--tls-ca", "ca.pem", "--tls-cert", "c.pem", "--tls-key", "k.pem")).toEqual([
      {
        type: "tls",
        config: {
          ca_certificate_file: "ca.pem",
          certificate_file: "c.pem",
          private_key_file: "k.pem",
        },
      },
    ]);
  });

  it("prints a template for the names of an authority [N-91]", async () => {
    const template = "xdstp://a.example/envoy.config.listener.v3.Listener/%s";
    expect(await printed("grpc", "--authority", "a.example")).toMatchObject({
      authorities: { "a.example": { client_listener_resource_name_template: template } },
      client_default_listener_resource_name_template: template,
    });
  });

  it("has each of several authorities, with the first as the default [N-91]", async () => {
    const bootstrap = await printed("grpc", "--authority", "a.example", "--authority", "b.example");
    expect(bootstrap).toMatchObject({
      authorities: {
        "a.example": {
          client_listener_resource_name_template:
            "xdstp://a.example/envoy.config.listener.v3.Listener/%s",
        },
        "b.example": {
          client_listener_resource_name_template:
            "xdstp://b.example/envoy.config.listener.v3.Listener/%s",
        },
      },
      client_default_listener_resource_name_template:
        "xdstp://a.example/envoy.config.listener.v3.Listener/%s",
    });
  });
});

describe("xdstp bootstrap", () => {
  it.each([
    [[], "for what, envoy or grpc?"],
    [["nginx"], 'a bootstrap for "nginx" does not exist, only for envoy and grpc'],
    [["envoy", "more"], '"more" is one argument too many'],
    [["envoy", "--variant", "old"], '--variant "old": give sotw, delta or rest'],
    [["envoy", "--names", "old"], '--names "old": give ads or xdstp'],
    [["envoy", "--names", "xdstp"], "--names xdstp needs --authority NAME"],
    [["envoy", "--names", "ads", "--authority", "a"], "--names ads asks for names of no authority"],
    [
      ["envoy", "--authority", "a", "--authority", "b"],
      "--authority is given 2 times (a, b): Envoy follows the listeners and clusters of one authority; give it once",
    ],
    [["envoy", "--admin", "9901x"], '--admin "9901x": give HOST:PORT'],
    [["grpc", "--admin", "9901"], "--admin is for Envoy"],
    [["grpc", "--variant", "delta"], "--variant delta: gRPC programs know only sotw"],
    [["grpc", "--variant", "rest"], "--variant rest: gRPC programs know only sotw"],
    [
      ["envoy", "--variant", "rest", "--authority", "a"],
      "--variant rest: Envoy polls for opaque names only; leave --authority and --names xdstp out",
    ],
    [["grpc", "--tls-cert", "c.pem"], "a certificate needs both --tls-cert and --tls-key"],
    [
      ["envoy", "--server", "127.0.0.1:0"],
      '--server "127.0.0.1:0": give HOST:PORT with a port from 1',
    ],
    [["envoy", "--authority", "a\ud800"], "--authority"],
  ])("answers %j with exit code 2 and says what is wrong", async (argv, text) => {
    const { code, out, err } = await runToEnd(["bootstrap", ...argv]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`xdstp bootstrap: ${text}`);
    expect(err).toContain("\nUsage: xdstp bootstrap envoy|grpc ");
  });
});
