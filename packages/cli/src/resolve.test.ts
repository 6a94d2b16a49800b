import { describe, expect, it } from "vitest";
import { runToEnd } from "../test/use-cli.ts";
import { alt, listOf, of, typeName } from "../test/use-federation.ts";
import { useFolder } from "../test/use-folder.ts";

const insecure = (uri: string, more: object = {}): object => ({
  server_uri: uri,
  channel_creds: [{ type: "insecure" }],
  ...more,
});
const grpc = {
  xds_servers: [
    {
      server_uri: "main:1",
      channel_creds: [
        { type: "tls", config: { certificate_file: "c.pem", private_key_file: "k.pem" } },
      ],
    },
    insecure("spare:1"),
  ],
  node: { id: "n1" },
  authorities: {
    a: {},
    b: {
      xds_servers: [
        insecure("b0:1", { server_features: ["fail_on_data_errors"] }),
        insecure("b1:1"),
      ],
      fallback_on_reachability_only: true,
    },
  },
};
const envoy = `
node: {id: n2, cluster: web}
node_context_params: [cluster]
dynamic_resources:
  cds_config: {resource_api_version: V3, authorities: [{name: beside}], api_config_source: {api_type: DELTA_GRPC, transport_api_version: V3, grpc_services: [{google_grpc: {target_uri: "beside:1", stat_prefix: x}}]}}
  ads_config: {api_type: GRPC, transport_api_version: V3, grpc_services: [{google_grpc: {target_uri: "ads:1", stat_prefix: x, channel_credentials: {ssl_credentials: {}}}}]}
config_sources:
- {resource_api_version: V3, authorities: [{name: a}], api_config_source: {api_type: AGGREGATED_DELTA_GRPC, transport_api_version: V3, grpc_services: [{google_grpc: {target_uri: "one:1", stat_prefix: x}}]}}
- {resource_api_version: V3, authorities: [{name: a}, {name: b}], api_config_source: {api_type: AGGREGATED_GRPC, transport_api_version: V3, grpc_services: [{google_grpc: {target_uri: "two:1", stat_prefix: x}}]}}
default_config_source: {ads: {}, resource_api_version: V3}
`;

async function resolved(
  file: "grpc.json" | "envoy.yaml" | undefined,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly lines: readonly string[]; readonly err: string }> {
  const { dir } = useFolder({ "grpc.json": JSON.stringify(grpc), "envoy.yaml": envoy });
  const { code, out, err } = await runToEnd(
    ["resolve", ...args, ...(file === undefined ? [] : ["--bootstrap", file])],
    { cwd: dir, terminal: () => ({ columns, rows: 24 }) },
  );
  return { code, lines: out.trimEnd().replaceAll(`${dir}/`, "").split("\n"), err };
}

interface Place {
  readonly name: string;
  readonly by: string;
  readonly servers: readonly { readonly server: string }[];
  readonly sources: readonly { readonly place: string }[];
}

/** The width is large, since the paths of tests may be long. */
const columns = 200;

/** Returns each place as `by place, place: server server`. */
async function places(
  file: "grpc.json" | "envoy.yaml",
  ...args: readonly string[]
): Promise<readonly string[]> {
  const { lines } = await resolved(file, ...args, "--json");
  return (JSON.parse(lines.join("\n")) as { readonly places: readonly Place[] }).places.map(
    ({ by, servers, sources }) =>
      `${by} ${sources.map(({ place }) => place).join(", ")}: ${servers.map(({ server }) => server).join(" ")}`,
  );
}

describe("xdstp resolve", () => {
  it("shows the way of a name and of its alternatives, and sends nothing of the directives [C-ALT-1, C-ALT-5]", async () => {
    const name = `${of("a", "x")}${alt(`${of("b", "x")}${alt(of("c", "x"))}`)}`;
    expect(await resolved("grpc.json", name)).toEqual({
      code: 0,
      err: "",
      lines: [
        `name       ${name}`,
        `sent as    ${of("a", "x")}`,
        "authority  a",
        'source     authorities["a"] (with xds_servers) of grpc.json, which lists the authority',
        "servers    1. main:1  delta, tls with a certificate of the client",
        "           2. spare:1  delta, insecure",
        "           each when those above cannot be reached and something is missing",
        "",
        "alternative 1: asked while no server of the one above is reachable, and it is not cached",
        `name       ${of("b", "x")}${alt(of("c", "x"))}`,
        `sent as    ${of("b", "x")}`,
        "authority  b",
        'source     authorities["b"] of grpc.json, which lists the authority',
        "servers    1. b0:1  delta, insecure",
        "           2. b1:1  delta, insecure",
        "           each when those above cannot be reached",
        "",
        "alternative 2: asked while no server of the one above is reachable, and it is not cached",
        `name       ${of("c", "x")}`,
        "sent as    the same",
        "authority  c",
        'source     no server is configured for the authority "c"; known: "a", "b"; add a source for it [C-AUTH-5]',
      ],
    });
  });

  it("chooses as the bootstrap of Envoy says, in its order [C-AUTH-1, C-AUTH-3, C-AUTH-6]", async () => {
    expect(await places("envoy.yaml", of("beside", "x"))).toEqual([
      "reference dynamic_resources.cds_config: beside:1",
    ]);
    expect(await places("envoy.yaml", of("a", "x"))).toEqual([
      "authority config_sources[0], config_sources[1]: one:1 two:1",
    ]);
    expect(await places("envoy.yaml", of("b", "x"))).toEqual([
      "authority config_sources[1]: two:1",
    ]);
    expect(await places("envoy.yaml", of("c", "x"))).toEqual([
      "default default_config_source: ads:1",
    ]);
    expect(await places("envoy.yaml", "x", "--type", "clusters")).toEqual([
      "reference dynamic_resources.cds_config: beside:1",
    ]);
    expect(await places("envoy.yaml", "x")).toEqual([
      "default dynamic_resources.ads_config: ads:1",
    ]);
    expect((await resolved("envoy.yaml", of("a", "x"))).lines).toContain(
      "source     config_sources[0] of envoy.yaml, then config_sources[1] of envoy.yaml, which list the authority",
    );
    expect((await resolved("envoy.yaml", of("beside", "x"))).lines).toContain(
      "servers    1. beside:1  delta, insecure, a stream for each type",
    );
    expect((await resolved("envoy.yaml", of("c", "x"))).lines).toContain(
      "servers    1. ads:1  sotw, tls",
    );
  });

  it("exits with 1 where nobody would be asked, and says which authorities are known [C-AUTH-5]", async () => {
    expect(await resolved("grpc.json", of("c", "x"))).toMatchObject({
      code: 1,
      err: "",
      lines: expect.arrayContaining([
        'source     no server is configured for the authority "c"; known: "a", "b"; add a source for it [C-AUTH-5]',
      ]) as string[],
    });
    const { code, lines } = await resolved("grpc.json", of("c", "x"), "--json");
    expect({ code, json: JSON.parse(lines.join("\n")) as unknown }).toMatchObject({
      code: 1,
      json: {
        places: [
          {
            by: "none",
            servers: [],
            error: expect.stringContaining('known: "a", "b"') as string,
          },
        ],
      },
    });
    expect(await places("grpc.json", "x")).toEqual(["default xds_servers: main:1 spare:1"]);
  });

  it("shows the parameters that are added to a glob, of the node of Envoy and of what is typed [C-CTX-1, C-CTX-3]", async () => {
    const { lines } = await resolved(
      "envoy.yaml",
      `${of("a", "*")}?k=v`,
      "--node",
      "me",
      "--node-context-params",
      "id",
    );
    expect(lines.slice(1, 4)).toEqual([
      `sent as    ${of("a", "*")}?k=v&xds.node.cluster=web&xds.node.id=me`,
      "added      xds.node.cluster=web",
      "added      xds.node.id=me",
    ]);
    expect((await resolved("envoy.yaml", of("a", "x"))).lines[1]).toBe("sent as    the same");
  });

  it("asks one server for everything, and takes the entry out of the list [C-LIST-7]", async () => {
    expect(
      await resolved(
        undefined,
        `${listOf("a", "all")}#entry=x`,
        "--server",
        "127.0.0.1:1",
        "--sotw",
      ),
    ).toEqual({
      code: 0,
      err: "",
      lines: [
        `name       ${listOf("a", "all")}#entry=x`,
        `sent as    ${listOf("a", "all")}`,
        'entry      "x" is taken out of the list that comes',
        "authority  a",
        "source     --server, the default: nothing lists the authority",
        "servers    1. 127.0.0.1:1  sotw, insecure",
      ],
    });
  });

  it("says of a list that its members may be elsewhere [C-LIST-5]", async () => {
    const lines = (await resolved("grpc.json", listOf("a", "all"))).lines.filter((line) =>
      line.startsWith("members"),
    );
    expect(lines).toEqual(["members    the list says where, each by its own authority"]);
    expect((await resolved("grpc.json", of("a", "x"))).lines.join("\n")).not.toContain("members");
  });

  it("warns of what configuration should not say [B-CTX-2]", async () => {
    const { out } = await runToEnd([
      "resolve",
      `${of("a", "x")}?k=%24v`,
      "--server",
      "127.0.0.1:1",
    ]);
    expect(out.trimEnd().split("\n").slice(-2)).toEqual([
      'warning    the value of "k" is reserved: begin it with a letter or digit, and not with',
      "           constraint: [N-64]",
    ]);
  });

  it("knows what the environment says", async () => {
    const { dir } = useFolder({ "grpc.json": JSON.stringify(grpc) });
    expect(
      (
        await runToEnd(["resolve", of("b", "x")], {
          env: { GRPC_XDS_BOOTSTRAP: `${dir}/grpc.json` },
        })
      ).out,
    ).toContain(`authorities["b"] of ${dir}/grpc.json`);
    expect(
      (
        await runToEnd(["resolve", of("b", "x")], {
          env: { GRPC_XDS_BOOTSTRAP_CONFIG: JSON.stringify(grpc) },
        })
      ).out,
    ).toContain('authorities["b"] of GRPC_XDS_BOOTSTRAP_CONFIG');
    expect((await runToEnd(["resolve", of("b", "x")])).err).toContain(
      "xdstp resolve: which server? Give --server HOST:PORT or --bootstrap FILE",
    );
  });

  it("looks in DNS for authorities that nothing configures, where --dns says so [C-AUTH-5]", async () => {
    const none = (): Promise<never> =>
      Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" }));
    const dns = {
      resolve4: none,
      resolve6: none,
      resolveSrv: (name: string) =>
        name === "_xds._tcp.c.example"
          ? Promise.resolve([{ name: "xds.example", port: 7, priority: 0, weight: 0 }])
          : none(),
    };
    const { dir } = useFolder({ "grpc.json": JSON.stringify(grpc) });
    const ask = async (
      name: string,
      ...args: readonly string[]
    ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> =>
      runToEnd(["resolve", name, "--bootstrap", "grpc.json", ...args], {
        cwd: dir,
        dns,
        terminal: () => ({ columns, rows: 24 }),
      });
    const name = `${of("c.example", "x")}${alt(of("d.example", "x"))}`;
    expect((await ask(name)).out).toContain(
      'no server is configured for the authority "c.example"; known: "a", "b"; add a source for it',
    );
    const { code, out } = await ask(name, "--dns");
    expect([code, out.split("\n").filter((line) => /^(source|servers)/.test(line))]).toEqual([
      0,
      [
        "source     DNS (SRV _xds._tcp.c.example), which lists the authority",
        "servers    1. xds.example:7  delta, tls",
        expect.stringContaining(
          'authority "d.example"; known: "a", "b", "c.example"; the search for a server failed: DNS has no SRV _xds._tcp.d.example and no address of d.example',
        ) as string,
      ],
    ]);
    expect((await ask(of("b", "x"), "--dns")).out).toContain('authorities["b"] of');
    expect(await ask(of("c", "x"), "--dns")).toMatchObject({
      code: 1,
      out: expect.stringContaining("DNS is not queried") as string,
    });
    expect((await runToEnd(["resolve", name, "--server", "127.0.0.1:1", "--dns"])).err).toContain(
      "--dns finds what a bootstrap does not have; --server gets all requests",
    );
  });

  it("says when an alternative of what does not exist would be asked", async () => {
    expect(
      (await resolved("grpc.json", `${of("a", "x")}${alt(of("b", "x"))}`, "--alt-on", "missing"))
        .lines,
    ).toContain(
      "alternative 1: asked while the one above does not exist, or cannot be reached and is not held",
    );
  });

  it.each([
    [
      ["xdstp:/x"],
      1,
      '"xdstp:/x" is not an xdstp name: [authority-marker] at 6 of "xdstp:/x": write // after the scheme [N-02]\n',
    ],
    [
      [`${of("a", "x")}#alt=xdstp://b/t.T/x`],
      1,
      "its alternative xdstp://b/t.T/x has the type t.T; it has to be envoy.config.cluster.v3.Cluster",
    ],
    [[`xdstp://a/${typeName}/x?xds.node.id=x`], 1, "set by code only [N-60]\n"],
    [[], 2, "which name?"],
    [["a", "b"], 2, '"b" is one argument too many; one name is resolved (put # and * into quotes)'],
    [["a", "--max-hops", "2"], 2, "Unknown option '--max-hops'"],
    [["a", "--channel-limit", "pingMs=1000"], 2, "Unknown option '--channel-limit'"],
  ])("says what is wrong with the call: %j", async (args, code, text) => {
    const result = await resolved("grpc.json", ...args);
    expect([result.code, result.err]).toEqual([code, expect.stringContaining(text)]);
  });

  it("names the place of what is wrong in a bootstrap", async () => {
    const { dir } = useFolder({
      "envoy.yaml": "config_sources: [{authorities: [{name: a}]}]",
      "grpc.json": "{",
    });
    const asked = async (file: string): Promise<string> =>
      (await runToEnd(["resolve", "x", "--bootstrap", file], { cwd: dir })).err.replaceAll(
        `${dir}/`,
        "",
      );
    expect(await asked("envoy.yaml")).toMatch(
      /^xdstp resolve: envoy\.yaml: config_sources\[0\] .*\n$/,
    );
    expect(await asked("grpc.json")).toMatch(/^xdstp resolve: grpc\.json: .*\n$/);
    expect(await asked("none.json")).toBe(
      "xdstp resolve: none.json: the file does not exist; give the path of a bootstrap in JSON\n",
    );
  });
});
