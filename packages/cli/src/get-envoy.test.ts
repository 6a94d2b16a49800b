import { StatusCode } from "@xdstp/core";
import { dump } from "js-yaml";
import { describe, expect, it } from "vitest";
import { createRawServer } from "../test/raw-server.ts";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { envoyBootstrapOf, lead, of } from "../test/use-federation.ts";
import { useFolder } from "../test/use-folder.ts";
import { encode, useOrigin } from "../test/use-origin.ts";

const use = (file: string, text: string): string => useFolder({ [file]: text }).dir;

describe.each([
  ["envoy.yaml", dump],
  ["envoy.json", JSON.stringify],
] as const)("xdstp get and watch, with the bootstrap of Envoy in %s", (file, written) => {
  it("ask each name of the servers of its authority, in the variant that is said there [C-AUTH-1, C-AGG-1]", async () => {
    const [a, b] = [lead(await useOrigin()), lead(await useOrigin())];
    a.redirect(of("a", "x"), of("b", "y"));
    b.cluster(of("b", "y"), 3);
    const dir = use(
      file,
      written(
        envoyBootstrapOf({
          listed: { a: ["AGGREGATED_DELTA_GRPC", a.address], b: ["AGGREGATED_GRPC", b.address] },
        }),
      ),
    );
    const { code, out, err } = await runToEnd(["get", of("a", "x"), "--bootstrap", file], {
      cwd: dir,
    });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(
      `# server: ${a.address} (xdstp), delta\n# redirected to ${of("b", "y")}\n#   authority b, server ${b.address}\n`,
    );
    expect(
      (await runToEnd(["get", of("b", "y"), "--bootstrap", file], { cwd: dir })).out,
    ).toContain(`# server: ${b.address} (xdstp), sotw\n`);
    const { stdout, exit } = useCli(["watch", of("b", "y"), "--bootstrap", file, "--count", "2"], {
      cwd: dir,
    });
    await stdout.line(/connect_timeout: 3s/);
    b.cluster(of("b", "y"), 4);
    expect(await exit).toBe(0);
    expect(stdout.text).toContain("-connect_timeout: 3s\n+connect_timeout: 4s\n");
  });

  it("ask for clusters where cds_config says, also where nothing else is configured [C-AUTH-6, C-AGG-2]", async () => {
    const origin = await useOrigin();
    origin.cluster("web", 3);
    const dir = use(file, written(envoyBootstrapOf({ clusters: ["DELTA_GRPC", origin.address] })));
    const got = await runToEnd(["get", "web", "--type", "clusters", "--bootstrap", file], {
      cwd: dir,
    });
    expect({ ...got, out: "" }).toEqual({ code: 0, out: "", err: "" });
    expect(got.out).toContain(`# server: ${origin.address} (xdstp), delta\n`);
    expect(
      (await runToEnd(["get", "*", "--type", "clusters", "--bootstrap", file], { cwd: dir })).out,
    ).toMatch(/\nweb +/);
    const watched = await runToEnd(
      ["watch", "web", "--type", "clusters", "--bootstrap", file, "--count", "1"],
      { cwd: dir },
    );
    expect(watched).toMatchObject({
      code: 0,
      out: expect.stringMatching(/ state web version /) as string,
    });
    expect(
      (await runToEnd(["get", "none", "--type", "clusters", "--bootstrap", file], { cwd: dir }))
        .err,
    ).toBe(`xdstp get: ${origin.address} has no "none" among its clusters\n`);
    const routes = await runToEnd(["get", "r", "--type", "routes", "--bootstrap", file], {
      cwd: dir,
    });
    expect(routes).toMatchObject({
      code: 1,
      err: expect.stringContaining("no source is configured for opaque names") as string,
    });
  });

  it("say which names were ignored, since another source is configured for their authority [C-AUTH-7]", async () => {
    const origin = await useOrigin();
    origin.cluster(of("acme", "m"));
    const dir = use(
      file,
      written(
        envoyBootstrapOf({
          clusters: ["DELTA_GRPC", origin.address],
          listed: { acme: ["AGGREGATED_GRPC", origin.address] },
        }),
      ),
    );
    const { code, out, err } = await runToEnd(
      ["get", "*", "--type", "clusters", "--bootstrap", file],
      { cwd: dir },
    );
    expect({ code, out }).toEqual({ code: 0, out: "* has no members among the clusters\n" });
    const why = `1 name from ${origin.address} is ignored: the configuration has another source for its authority or type; subscribe to it by its own name`;
    expect(err).toBe(`xdstp get: ${why}\n`);
    const { stdout, signal, exit } = useCli(
      ["watch", "*", "--type", "clusters", "--bootstrap", file],
      { cwd: dir },
    );
    expect(await stdout.line(/ ignored /)).toContain(` ignored ${why}`);
    signal("SIGTERM");
    expect(await exit).toBe(0);
  });

  it("add the parameters of the node to globs, with what is typed [C-CTX-1, C-CTX-3]", async () => {
    const origin = lead(await useOrigin());
    const dir = use(
      file,
      written(
        envoyBootstrapOf({
          listed: { a: ["AGGREGATED_DELTA_GRPC", origin.address] },
          params: ["cluster"],
        }),
      ),
    );
    const glob = of("a", "*?xds.node.cluster=web&xds.node.id=me");
    origin.cluster(of("a", "x?xds.node.cluster=web&xds.node.id=me"));
    await runToEnd(
      ["get", of("a", "*"), "--bootstrap", file, "--node", "me", "--node-context-params", "id"],
      { cwd: dir },
    );
    expect(origin.asked).toEqual([glob]);
  });
});

it("speaks of the variant in which a name is asked for, where two sources have one server and differ in the variant", async () => {
  const origin = await useOrigin();
  origin.cluster(of("acme", "x"), 3);
  const dir = use(
    "envoy.yaml",
    dump(
      envoyBootstrapOf({
        clusters: ["DELTA_GRPC", origin.address],
        listed: { acme: ["AGGREGATED_GRPC", origin.address] },
      }),
    ),
  );
  const watched = await runToEnd(
    [
      "watch",
      "none",
      "--type",
      "clusters",
      "--bootstrap",
      "envoy.yaml",
      "--count",
      "2",
      "--timeout",
      "0.3",
    ],
    { cwd: dir },
  );
  expect(watched).toMatchObject({ code: 1, err: expect.not.stringContaining("by SotW") as string });
  const got = await runToEnd(["get", "none", "--type", "clusters", "--bootstrap", "envoy.yaml"], {
    cwd: dir,
  });
  expect(got).toMatchObject({
    code: 1,
    err: `xdstp get: ${origin.address} has no "none" among its clusters\n`,
  });
});

describe.each([
  ["delta", "DELTA_GRPC", "sotw", "AGGREGATED_GRPC"],
  ["sotw", "GRPC", "delta", "AGGREGATED_DELTA_GRPC"],
] as const)(
  "with lds_config in %s and an authority in the other variant at one server",
  (ofOwn, own, ofOther, other) => {
    const listener = "envoy.config.listener.v3.Listener";
    const acme = (id: string): string => `xdstp://acme/${listener}/${id}`;
    const bootstrapOf = (address: string): string =>
      use(
        "envoy.yaml",
        dump(envoyBootstrapOf({ listeners: [own, address], listed: { acme: [other, address] } })),
      );
    const watch = (name: string): readonly string[] => [
      ...["watch", name, "--type", "listeners", "--bootstrap", "envoy.yaml"],
    ];

    it.each([
      ["*", ofOwn],
      [acme("none"), ofOther],
    ])(
      `xdstp watch %s mentions the %s variant when no response comes (${ofOwn})`,
      async (name, variant) => {
        const origin = await useOrigin();
        origin.cache.put({
          typeUrl: `type.googleapis.com/${listener}`,
          name: acme("m"),
          value: encode(listener, { name: acme("m") }),
        });
        const { err } = await runToEnd([...watch(name), "--count", "9", "--timeout", "0.3"], {
          cwd: bootstrapOf(origin.address),
        });
        expect(err).toMatch(variant === "sotw" ? /by SotW a server is silent/ : /^(?!.*by SotW)/);
      },
    );

    it.each([
      ["*", ofOwn],
      [acme("m"), ofOther],
    ])(
      `xdstp watch %s reports that the %s variant is not served (${ofOwn})`,
      async (name, variant) => {
        const server = await createRawServer((out) => {
          out.close({ code: StatusCode.UNIMPLEMENTED, message: "not here" });
        });
        const { stdout, signal, exit } = useCli(watch(name), { cwd: bootstrapOf(server.address) });
        expect(await stdout.line(/ disconnected /)).toContain(
          `does not serve the ${variant} variant (not here)`,
        );
        signal("SIGTERM");
        await exit;
      },
    );
  },
);

it("says that an api_type is none that a server serves, and where it stands", async () => {
  const server = await createRawServer((out) => {
    out.close({ code: StatusCode.UNIMPLEMENTED, message: "no delta here" });
  });
  const dir = use(
    "envoy.yaml",
    dump(envoyBootstrapOf({ listed: { a: ["AGGREGATED_DELTA_GRPC", server.address] } })),
  );
  const { err } = await runToEnd(["get", of("a", "x"), "--bootstrap", "envoy.yaml"], { cwd: dir });
  expect(err).toBe(
    `xdstp get: ${server.address} does not serve the delta variant (no delta here); its api_type in ${dir}/envoy.yaml says so\n`,
  );
});

it.each(["get", "watch", "resolve"])(
  "xdstp %s says of a file that is not a bootstrap what was tried",
  async (command) => {
    const { dir } = useFolder({
      "none.yaml": "listeners: []",
      "bad.yaml": "a: [",
      "empty.json": "{}",
      "bad-source.yaml": "config_sources: [{authorities: [{name: a}]}]",
    });
    const tried = async (file: string): Promise<string> =>
      (await runToEnd([command, of("a", "x"), "--bootstrap", file], { cwd: dir })).err.replaceAll(
        `${dir}/`,
        "",
      );
    const lacks =
      "as one of Envoy it lacks dynamic_resources, static_resources, config_sources, default_config_source";
    expect(await tried("none.yaml")).toMatch(
      new RegExp(
        `^xdstp ${command}: none\\.yaml: .* is not JSON.* \\(read as a bootstrap of gRPC; ${lacks}\\)\n$`,
      ),
    );
    expect(await tried("empty.json")).toMatch(
      new RegExp(
        `^xdstp ${command}: empty\\.json: the bootstrap has no xds_servers.* \\(read as a bootstrap of gRPC; ${lacks}\\)\n$`,
      ),
    );
    expect(await tried("bad.yaml")).toMatch(
      / \(read as a bootstrap of gRPC; as one of Envoy it is not valid YAML at line 1 column 5\)\n$/,
    );
    expect(await tried("bad-source.yaml")).toMatch(
      new RegExp(`^xdstp ${command}: bad-source\\.yaml: config_sources\\[0\\] .*\n$`),
    );
    expect(await tried("gone.yaml")).toBe(
      `xdstp ${command}: gone.yaml: the file does not exist; give the path of a bootstrap in JSON\n`,
    );
  },
);

it("is not for recordings, which are of one variant", async () => {
  const dir = use(
    "envoy.yaml",
    dump(envoyBootstrapOf({ listed: { a: ["AGGREGATED_DELTA_GRPC", "127.0.0.1:1"] } })),
  );
  expect(
    (
      await runToEnd(["record", "file.jsonl", of("a", "x"), "--bootstrap", "envoy.yaml"], {
        cwd: dir,
      })
    ).err,
  ).toBe(
    `xdstp record: ${dir}/envoy.yaml is a bootstrap of Envoy, whose servers may be spoken to in both variants, and a recording is of one; give a bootstrap of gRPC, or --server HOST:PORT\n`,
  );
});
