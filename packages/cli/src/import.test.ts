import { once } from "node:events";
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runToEnd } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const original = `# The edge.
admin: { address: { socket_address: { address: 127.0.0.1, port_value: 9901 } } }
node: { id: a, cluster: b }
cluster_manager: { local_cluster_name: own }
static_resources:
  listeners:
  - name: in
    address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
    default_filter_chain:
      filters:
      - name: tcp
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: tcp
          cluster: web
  clusters:
  - name: web
  - name: own
  secrets:
  - name: token
    generic_secret: { secret: { inline_string: S3CRET } }
`;

async function imported(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { dir } = useFolder(files);
  const { code, out, err } = await runToEnd(["import", ...args], { cwd: dir });
  return { dir, code, out: out.replaceAll(`${dir}/`, ""), err: err.replaceAll(`${dir}/`, "") };
}

const envoy = (...args: readonly string[]) =>
  imported({ "envoy.yaml": original }, "envoy", "envoy.yaml", "config", ...args);

async function useAdminPage(
  answer: string,
  status = 200,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    response.writeHead(status).end(answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

const dump = JSON.stringify({
  configs: [
    {
      "@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump",
      bootstrap: {
        node: { id: "a", cluster: "b" },
        static_resources: { clusters: [{ name: "web" }] },
      },
    },
    {
      "@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump",
      dynamic_active_secrets: [
        {
          name: "pair",
          secret: {
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
            name: "pair",
            generic_secret: { secret: { inline_string: "[redacted]" } },
          },
        },
      ],
    },
  ],
});

describe("xdstp import envoy", () => {
  it("writes a folder and a bootstrap, and says what stays and what to do next", async () => {
    const { dir, code, out, err } = await envoy("--server", "xds.example:18001");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(
      `Wrote config: 1 listener, 1 cluster, 1 secret
Wrote config.bootstrap.yaml: the bootstrap of Envoy
Stays in the bootstrap: cluster "own": cluster_manager.local_cluster_name refers to it

Next:
  xdstp serve ${dir}/config --listen xds.example:18001
  envoy -c ${dir}/config.bootstrap.yaml
`.replaceAll(`${dir}/`, ""),
    );
    expect(readdirSync(join(dir, "config/_opaque")).sort()).toEqual([
      "clusters",
      "listeners",
      "secrets",
    ]);
    expect(statSync(join(dir, "config/_opaque/secrets/token.yaml")).mode & 0o777).toBe(0o600);
    const bootstrap = readFileSync(join(dir, "config.bootstrap.yaml"), "utf8");
    expect(bootstrap).toMatch(/^# The edge\.\n/);
    expect(bootstrap).toContain("port_value: 9901");
    expect(bootstrap).toContain("address: xds.example");
    expect(bootstrap).toContain("api_type: DELTA_GRPC");
    for (const path of ["config", "config.bootstrap.yaml"])
      expect((await runToEnd(["validate", join(dir, path)])).code).toBe(0);
  });

  it("takes what the connection needs from its options", async () => {
    const { dir, code } = await envoy(
      ...[
        "--bootstrap",
        "new/b.yaml",
        "--admin",
        "9902",
        "--variant",
        "sotw",
        "--tls-ca",
        "ca.pem",
      ],
    );
    expect(code).toBe(0);
    const bootstrap = readFileSync(join(dir, "new/b.yaml"), "utf8");
    expect(bootstrap).toContain("port_value: 9902");
    expect(bootstrap).not.toContain("port_value: 9901");
    expect(bootstrap).toContain("api_type: GRPC");
    expect(bootstrap).toContain("filename: ca.pem");
  });

  it("shows with --dry-run what it would write, without secrets, and writes nothing", async () => {
    const { dir, code, out } = await envoy("--dry-run");
    expect(code).toBe(0);
    expect(out).toContain("# config/_opaque/clusters/web.yaml\nname: web\n");
    expect(out).toMatch(/# config\/_opaque\/secrets\/token\.yaml: \d+ characters, not shown/);
    expect(out).not.toContain("S3CRET");
    expect(out).toContain("Would write config: 1 listener");
    expect(readdirSync(dir)).toEqual(["envoy.yaml"]);
  });

  it("gives one JSON object with --json, without secrets", async () => {
    const { code, out } = await envoy("--json", "--dry-run");
    expect(code).toBe(0);
    expect(out).not.toContain("S3CRET");
    expect(JSON.parse(out)).toMatchObject({
      schema: 1,
      bootstrap: "config.bootstrap.yaml",
      written: false,
      files: [
        { path: "_opaque/listeners/in.yaml", name: "in", isSecret: false },
        { path: "_opaque/clusters/web.yaml", text: "name: web\n" },
        { path: "_opaque/secrets/token.yaml", isSecret: true },
      ],
      kept: [{ name: "own", reason: "cluster_manager.local_cluster_name refers to it" }],
      problems: [],
    });
  });

  it("writes nothing over what is there, unless --force is given", async () => {
    const files = { "envoy.yaml": original, "config/mine.txt": "" };
    const full = await imported(files, "envoy", "envoy.yaml", "config");
    expect(full.code).toBe(1);
    expect(full.err).toContain(
      "config is not empty, so nothing is written; give another folder, or --force",
    );
    expect(readdirSync(join(full.dir, "config"))).toEqual(["mine.txt"]);
    expect((await imported(files, "envoy", "envoy.yaml", "config", "--force")).code).toBe(0);
    const taken = await envoy("--bootstrap", "envoy.yaml");
    expect(taken.err).toContain(
      "envoy.yaml exists, so nothing is written; give another file with --bootstrap, or --force",
    );
    expect(existsSync(join(taken.dir, "config"))).toBe(false);
  });

  it("checks with --dry-run what is in the way", async () => {
    const files = { "envoy.yaml": original, "config/mine.txt": "" };
    const { code, err } = await imported(files, "envoy", "envoy.yaml", "config", "--dry-run");
    expect(code).toBe(1);
    expect(err).toContain("config is not empty, so nothing is written");
  });

  it("writes nothing where files that stay do not go with the new ones", async () => {
    const files = { "envoy.yaml": original, "config/_opaque/clusters/w%65b.yaml": "{}" };
    const { dir, code, err } = await imported(files, "envoy", "envoy.yaml", "config", "--force");
    expect(code).toBe(1);
    expect(err).toContain("nothing is written, since it could not be served:");
    expect(readdirSync(join(dir, "config/_opaque"))).toEqual(["clusters"]);
  });

  it("writes into the working directory, and the bootstrap next to it", async () => {
    const { dir } = useFolder({ "envoy.yaml": original, "here/.keep": "" });
    rmSync(join(dir, "here/.keep"));
    const { code, err } = await runToEnd(["import", "envoy", "../envoy.yaml", "."], {
      cwd: join(dir, "here"),
    });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(readdirSync(dir).sort()).toEqual(["envoy.yaml", "here", "here.bootstrap.yaml"]);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("writes nothing after %s", async (signal, expected) => {
    const { dir } = useFolder({ "envoy.yaml": original });
    const { code, err } = await runToEnd(["import", "envoy", "envoy.yaml", "config"], {
      cwd: dir,
      onSignal: (listener) => {
        listener(signal);
        return () => undefined;
      },
    });
    expect({ code, err }).toEqual({
      code: expected,
      err: `stopped by ${signal}: nothing is written\n`,
    });
    expect(readdirSync(dir)).toEqual(["envoy.yaml"]);
  });

  it.each([
    ["a file as DIR", "envoy.yaml", /envoy\.yaml is a file, and a folder has to be there/],
    ["a file above DIR", "envoy.yaml/x", /envoy\.yaml\/x has a file where a folder has to be/],
    ["a long name", "x".repeat(300), /is too long a path; give a DIR with a shorter one/],
  ])("says in plain words what is wrong with %s", async (_, dir, expected) => {
    const { code, err } = await imported({ "envoy.yaml": original }, "envoy", "envoy.yaml", dir);
    expect(code).toBe(1);
    expect(err).toMatch(expected);
  });

  it("says where a symbolic link leads that is DIR", async () => {
    const { dir } = useFolder({ "envoy.yaml": original });
    symlinkSync("nowhere", join(dir, "config"));
    const { code, err } = await runToEnd(["import", "envoy", "envoy.yaml", "config"], { cwd: dir });
    expect(code).toBe(1);
    expect(err).toContain(
      "config is a symbolic link to nowhere, which does not exist, so nothing is written; make that folder, or give another DIR",
    );
  });

  it("shows what is wrong with its input as validate does", async () => {
    const text = original.replace("name: web", "name: web\n    lb_polcy: RANDOM");
    const { code, err, out } = await imported({ "e.yaml": text }, "envoy", "e.yaml", "config");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      'e.yaml:18:5: error: envoy.config.cluster.v3.Cluster: key "lb_polcy" is unknown (did you mean lb_policy?)\nnothing is written: 1 error\n',
    );
  });

  it.each([
    [[], "import what, envoy, config-dump or gateway-api?"],
    [["istio"], '"istio" cannot be imported, only envoy, config-dump and gateway-api'],
    [["gateway-api"], "which files with objects of Kubernetes?"],
    [["gateway-api", "a.yaml"], "into which folder?"],
    [["gateway-api", "a.yaml", "", "config"], "which files with objects of Kubernetes?"],
    [["gateway-api", "http://a/b", "config"], "gateway-api reads files, not URLs"],
    [["envoy"], "which configuration?"],
    [["envoy", "e.yaml"], "into which folder?"],
    [["envoy", "e.yaml", ""], "into which folder?"],
    [["envoy", "", "a"], "which configuration?"],
    [["envoy", "http://127.0.0.1:9901", "a"], "envoy reads a file, not a URL"],
    [["config-dump", "127.0.0.1:9901", "a"], "write http://127.0.0.1:9901 for the admin page"],
    [["config-dump", "ftp://x/d", "a"], "ftp:// cannot be read; write http://HOST:PORT"],
    [["envoy", "e.yaml", "a", "b"], '"b" is one argument too many'],
    [["envoy", "e.yaml", "a", "--bootstrap", "a/b.yaml"], "a/b.yaml: this is inside of a, where"],
  ])("is called wrong with %j", async (args, expected) => {
    const { code, err } = await imported({}, ...args);
    expect(code).toBe(2);
    expect(err).toContain(expected);
  });
});

describe("xdstp import config-dump", () => {
  it("reads a file, and says which secrets the dump does not show", async () => {
    const { code, out } = await imported(
      { "dump.json": dump },
      "config-dump",
      "dump.json",
      "config",
    );
    expect(code).toBe(0);
    expect(out).toContain("Wrote config: 1 cluster\n");
    expect(out).toContain(
      'Not imported: secret "pair": the dump does not show its private keys and passwords; add a file that has them\n',
    );
  });

  it("reads the whole dump with endpoints from an admin page", async () => {
    const { url, asked } = await useAdminPage(dump);
    expect((await imported({}, "config-dump", url, "config")).code).toBe(0);
    expect((await imported({}, "config-dump", `${url}/config_dump?x=1`, "config")).code).toBe(0);
    expect(asked).toEqual(["/config_dump?include_eds", "/config_dump?x=1"]);
  });

  it("says why a dump cannot be had", async () => {
    const { url } = await useAdminPage("no", 404);
    const failed = async (from: string, ...more: readonly string[]): Promise<string> => {
      const { code, err } = await imported({}, "config-dump", from, "config", ...more);
      expect(code).toBe(1);
      return err;
    };
    expect(await failed(url)).toContain("answers with 404; give the URL of the admin page");
    expect(await failed(await closedUrl())).toMatch(/ECONNREFUSED.*is it the admin page/);
    const { err } = await imported({}, "config-dump", "http://me:S3CRET@127.0.0.1:9901", "config");
    expect(err).toContain("give the URL of 127.0.0.1:9901 without a user and a password");
    expect(err).not.toContain("S3CRET");
    expect(err).toContain("save the answer of /config_dump?include_eds");
    const unread = await imported({}, "config-dump", "http://me:S3CRET@127.0.0.1:x", "config");
    expect(unread.err).not.toContain("S3CRET");
    expect(await failed(".")).toContain("it is a folder, not a file; give a file with");
    expect(await failed("no.json")).toContain("no.json: the file does not exist; give a file with");
    const { url: wrong } = await useAdminPage("<html>");
    expect(await failed(wrong)).toContain("error: is not valid JSON");
  });

  it("does not wait longer than it is asked to", async () => {
    const server = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, err } = await imported({}, "config-dump", url, "config", "--timeout", "0.1");
    expect(code).toBe(1);
    expect(err).toContain("no answer within 0.1 s");
  });
});

describe("xdstp import gateway-api", () => {
  const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: any
  listeners: [{ name: http, port: 8080, protocol: HTTP }]
`;
  const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: cart, namespace: shop }
spec:
  parentRefs: [{ name: edge }]
  rules:
  - backendRefs: [{ name: cart, port: 80 }]
    sessionPersistence: { sessionName: a }
`;
  const service = `apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop }
spec: { type: ExternalName, externalName: cart.example, ports: [{ port: 80 }] }
`;
  const files = { "gateway.yaml": gateway, "routes.yaml": `${route}---\n${service}` };

  it("reads several files, and reports what is not supported", async () => {
    const { dir, code, out, err } = await imported(
      files,
      ...["gateway-api", "gateway.yaml", "routes.yaml", "config"],
    );
    expect(code).toBe(0);
    expect(out).toContain("Wrote config: 1 listener, 1 route, 1 cluster\n");
    expect(err).toBe(
      "routes.yaml:8:5: warning: HTTPRoute shop/cart: spec.rules[0].sessionPersistence is not imported: requests of a session may reach several endpoints (add the filter envoy.filters.http.stateful_session to the listener)\n",
    );
    for (const path of ["config", "config.bootstrap.yaml"])
      expect((await runToEnd(["validate", join(dir, path)])).code).toBe(0);
  });

  it("writes nothing where an object is malformed, or a file is not there", async () => {
    const broken = { ...files, "gateway.yaml": gateway.replace("8080", "80800") };
    const call = ["gateway-api", "gateway.yaml", "routes.yaml", "config"] as const;
    const { dir, code, err } = await imported(broken, ...call);
    expect(code).toBe(1);
    expect(err).toContain(
      "gateway.yaml:6:29: error: Gateway shop/edge: spec.listeners[0].port is not an integer from 1 to 65535 (correct it)\n",
    );
    expect(existsSync(join(dir, "config"))).toBe(false);
    const absent = await imported({}, ...call);
    expect(absent.err).toContain("gateway.yaml: the file does not exist; give files with objects");
  });

  it("reports the first of several files that cannot be read", async () => {
    // Of a folder this is known only after more steps than of a path without a file.
    const { err } = await imported(
      { "folder/note.txt": "" },
      ...["gateway-api", "folder", "absent.yaml", "config"],
    );
    expect(err).toContain("folder: ");
    expect(err).not.toContain("absent.yaml");
  });

  it("escapes the names of objects in what it reports", async () => {
    const hostile = service.replace("name: cart,", String.raw`name: "\e[31mred",`);
    const { code, out } = await imported(
      { ...files, "more.yaml": hostile },
      ...["gateway-api", "gateway.yaml", "routes.yaml", "more.yaml", "config"],
    );
    expect(code).toBe(0);
    expect(out).toContain(String.raw`Nothing served refers to Service shop/\u{1b}[31mred:`);
  });
});

describe("xdstp bootstrap envoy --merge", () => {
  it("keeps the configuration, and adds the connection and the admin page", async () => {
    const { dir } = useFolder({ "envoy.yaml": original });
    const file = join(dir, "envoy.yaml");
    const { code, out, err } = await runToEnd([
      ...["bootstrap", "envoy", "--merge", file, "--admin", "9902"],
    ]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^# The edge\.\n/);
    expect(out).toContain("port_value: 9902");
    for (const name of ["in", "web", "own", "xdstp_server"]) expect(out).toContain(`name: ${name}`);
    writeFileSync(file, out);
    expect((await runToEnd(["bootstrap", "envoy", "--merge", file])).out).toBe(out);
    expect((await runToEnd(["validate", file])).code).toBe(0);
  });

  it("says what is wrong with the configuration, and what it does not go with", async () => {
    const { dir } = useFolder({ "e.yaml": "nod: {}" });
    const file = join(dir, "e.yaml");
    const broken = await runToEnd(["bootstrap", "envoy", "--merge", file]);
    expect(broken.code).toBe(1);
    expect(broken.err).toContain(`${file}:1:1: `);
    expect((await runToEnd(["bootstrap", "grpc", "--merge", file])).code).toBe(2);
    expect((await runToEnd(["bootstrap", "envoy", "--merge", file, "--json"])).code).toBe(2);
  });
});
