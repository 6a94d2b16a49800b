import { readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { DeltaDiscoveryResponse } from "@xdstp/protos/discovery";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { type DeltaStream, openDeltaStream } from "../test/grpc-stream.ts";
import { type RunningCli, runToEnd, useCli } from "../test/use-cli.ts";
import { type TestFolder, useFolder } from "../test/use-folder.ts";

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const endpoints = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const routes = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
const listeners = "type.googleapis.com/envoy.config.listener.v3.Listener";
const ads = "{ads: {}, resource_api_version: V3}";

/** The files of a small mesh with this cluster. */
function mesh(dir: string, cluster: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries({
      [`clusters/${cluster}`]: `type: EDS\nconnect_timeout: 1s\neds_cluster_config: {eds_config: ${ads}}\n`,
      [`endpoints/${cluster}`]:
        "endpoints:\n- lb_endpoints:\n  - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 8001}}}\n",
      "routes/main": `virtual_hosts:\n- name: all\n  domains: ["*"]\n  routes:\n  - match: {prefix: /}\n    route: {cluster: ${cluster}}\n`,
      "listeners/web": `address: {socket_address: {address: 127.0.0.1, port_value: 18080}}
filter_chains:
- filters:
  - name: http
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: http
      rds: {route_config_name: main, config_source: ${ads}}
      http_filters:
      - name: router
        typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
`,
    }).map(([path, text]) => [`${dir}/_opaque/${path}.yaml`, text]),
  );
}

interface World {
  readonly folder: TestFolder;
  readonly server: string;
  readonly port: number;
  readonly plan: (...more: readonly string[]) => ReturnType<typeof runToEnd>;
}

/** Runs `xdstp serve config`, and returns a function that runs `xdstp plan config-new` for it. If no file is below `config`, `config` is a link to `config-old`. */
async function useWorld(
  files: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<World> {
  const folder = useFolder(files);
  if (!Object.keys(files).some((path) => path.startsWith("config/")))
    linkConfig(folder, "config-old");
  const cli: RunningCli = useCli(["serve", "config", "--listen", "127.0.0.1:0", ...flags], {
    cwd: folder.dir,
  });
  const port = await cli.port();
  await cli.stdout.line(/Z loaded /);
  const server = `127.0.0.1:${port}`;
  return {
    folder,
    server,
    port,
    async plan(...more) {
      const args = ["plan", "config-new", "--server", server, ...more];
      const ended = await runToEnd(args, { cwd: folder.dir });
      return { ...ended, out: ended.out.replaceAll(`${folder.dir}/`, "") };
    },
  };
}

/** Replaces the target of the link `config` in one step. */
function linkConfig({ dir }: TestFolder, target: string): void {
  symlinkSync(target, join(dir, "link"));
  renameSync(join(dir, "link"), join(dir, "config"));
}

/** Opens a client that subscribes as Envoy does, and accepts the first response of each of the four types. */
async function connectEnvoy(
  port: number,
  id: string,
  names: { readonly endpoints: string; readonly routes: string },
): Promise<DeltaStream> {
  const client = await openDeltaStream(port, id, undefined, "envoy");
  onTestFinished(() => {
    client.close();
  });
  for (const [typeUrl, name] of [
    [clusters, "*"],
    [listeners, "*"],
    [endpoints, names.endpoints],
    [routes, names.routes],
  ] as const)
    client.send({ typeUrl, resourceNamesSubscribe: [name] });
  for (let count = 0; count < 4; count++) await nextOf(client);
  return client;
}

async function nextOf(client: DeltaStream): Promise<DeltaDiscoveryResponse> {
  await client.arrived();
  const response = client.next();
  client.ack(response);
  return response;
}

describe("xdstp plan", () => {
  it("shows the example of the README", async () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const [, example = ""] = /```\n(config-new on 127.0.0.1:18000: .*?)```/s.exec(readme) ?? [];
    const { port, plan } = await useWorld({
      ...mesh("config", "cart"),
      ...mesh("config-new", "cart-v2"),
    });
    await connectEnvoy(port, "e1", { endpoints: "cart", routes: "main" });
    const { code, out, err } = await plan();
    expect(err).toBe("");
    expect(out.replace(String(port), "18000")).toBe(example);
    expect(code).toBe(0);
  });

  it("plans the order in which the server then sends", async () => {
    const { folder, port, plan } = await useWorld({
      ...mesh("config-old", "cart"),
      ...mesh("config-new", "cart-v2"),
    });
    const client = await connectEnvoy(port, "e1", { endpoints: "cart", routes: "main" });
    const { out } = await plan("--json");
    const { groups } = JSON.parse(out) as {
      readonly groups: readonly {
        readonly responses: readonly {
          readonly typeUrl: string;
          readonly added: readonly string[];
          readonly changed: readonly string[];
          readonly removed: readonly string[];
        }[];
      }[];
    };
    linkConfig(folder, "config-new");
    const sent: string[] = [];
    for (let count = 0; count < 5; count++) {
      await client.arrived();
      const response = client.next();
      const names = response.resources.map(({ name }) => name);
      if (response.typeUrl === clusters && names.includes("cart-v2"))
        client.send({ typeUrl: endpoints, resourceNamesSubscribe: ["cart-v2"] });
      client.ack(response);
      sent.push([response.typeUrl, ...names, "-", ...response.removedResources].join(" "));
    }
    expect(groups.map(({ responses }) => responses)).toHaveLength(1);
    expect(
      groups[0]?.responses.map(({ typeUrl, added, changed, removed }) =>
        [typeUrl, ...added, ...changed, "-", ...removed].join(" "),
      ),
    ).toEqual(sent);
  });

  it("gives the line of each resource of a file, and none in text format", async () => {
    const { plan } = await useWorld({
      "config/_opaque/clusters/a.yaml": "type: STATIC\n",
      "config-new/_opaque/clusters/a.yaml": "type: STATIC\n",
      "config-new/_opaque/clusters/many.yaml": "# two\nname: b\n---\nname: c\n",
      "config-new/_opaque/clusters/text.txtpb": "type: STATIC\n",
    });
    const { changes } = JSON.parse((await plan("--json")).out) as {
      readonly changes: readonly {
        readonly name: string;
        readonly file: string;
        readonly line?: number;
      }[];
    };
    expect(changes.map(({ name, file, line }) => [name, file.split("/").at(-1), line])).toEqual([
      ["b", "many.yaml", 2],
      ["c", "many.yaml", 4],
      ["text", "text.txtpb", undefined],
    ]);
  });

  it("gives the place that the server has a removed resource from", async () => {
    const { plan } = await useWorld({
      "config/_opaque/clusters/a.yaml": "type: STATIC\n",
      "config/_opaque/clusters/many.yaml": "# two\nname: b\n---\nname: c\n",
      "config/_nodes/edge/_opaque/clusters/own.yaml": "type: STATIC\n",
      "config-new/_opaque/clusters/a.yaml": "type: STATIC\n",
    });
    const { out } = await plan();
    // The server does not report the file of a resource of some nodes.
    expect(out).toMatch(/^- clusters {2}own .* {2}removed$/m);
    expect(out).toMatch(/^- clusters {2}b .* {2}was in .*many\.yaml:2$/m);
    expect(out).toMatch(/^- clusters {2}c .* {2}was in .*many\.yaml:4$/m);
    const { changes } = JSON.parse((await plan("--json")).out) as {
      readonly changes: readonly { readonly file?: string; readonly line?: number }[];
    };
    expect(changes.map(({ file, line }) => [file?.split("/").at(-1), line])).toEqual([
      ["many.yaml", 2],
      ["many.yaml", 4],
      [undefined, undefined],
    ]);
  });

  it("says that no client is connected, and has exit codes for changes and removals", async () => {
    const cluster = "type: STATIC\n";
    const { folder, server, plan } = await useWorld({
      "config/_opaque/clusters/a.yaml": cluster,
      "config-new/_opaque/clusters/a.yaml": cluster,
    });
    const none = await plan("--fail-on", "changes");
    expect(none.out).toBe(
      `config-new on ${server}: 0 added, 0 changed, 0 removed, 1 unchanged; no client is connected\n`,
    );
    expect(none.code).toBe(0);
    folder.write({ "config-new/_opaque/clusters/b.yaml": cluster });
    const added = await plan("--fail-on", "removals");
    expect(added.out).toContain("1 added, 0 changed, 0 removed, 1 unchanged");
    expect(added.out).toContain("  no client  ");
    expect(added.code).toBe(0);
    expect((await plan("--fail-on", "changes")).code).toBe(1);
    folder.remove("config-new/_opaque/clusters/a.yaml");
    expect((await plan()).code).toBe(0);
    expect((await plan("--fail-on", "removals")).code).toBe(1);
  });

  it("shows the errors of the folder as `validate` does, and does not ask the server", async () => {
    const folder = useFolder({
      "config-new/_opaque/clusters/a.yaml": "connect_timeout: 0s\n",
    });
    const run = async (...more: readonly string[]): ReturnType<typeof runToEnd> =>
      runToEnd(["plan", "config-new", "--server", "127.0.0.1:1", ...more], { cwd: folder.dir });
    const { code, out } = await run();
    const checked = await runToEnd(["validate", "config-new"], { cwd: folder.dir });
    expect(out.split("\n").slice(0, -2)).toEqual(checked.out.split("\n").slice(0, -2));
    expect(out).toMatch(/config-new is not planned: it has an error\n$/);
    expect(code).toBe(1);
    const json = await run("--json");
    expect(JSON.parse(json.out)).toMatchObject({ problems: [{ code: "constraint" }] });
    expect(json.code).toBe(1);
  });

  it("plans with --partial what `serve --partial` then applies of a folder with errors", async () => {
    const cluster = (name: string, seconds: number): string =>
      `name: ${name}\nconnect_timeout: ${seconds}s\n`;
    const { folder, port, plan } = await useWorld(
      {
        "config-old/_opaque/clusters/a.yaml": cluster("a", 1),
        "config-old/_opaque/clusters/gone.yaml": cluster("gone", 1),
        "config-old/_opaque/clusters/many.yaml": `${cluster("b", 1)}---\n${cluster("c", 1)}`,
        "config-old/_opaque/clusters/twice.yaml": cluster("twice", 1),
        "config-new/_opaque/clusters/a.yaml": cluster("a", 2),
        "config-new/_opaque/clusters/many.yaml": `${cluster("b", 0)}---\n${cluster("d", 2)}`,
        "config-new/_opaque/clusters/twice.yaml": cluster("twice", 2),
        "config-new/_opaque/clusters/two.yaml": `${cluster("twice", 3)}---\n${cluster("e", 1)}`,
      },
      ["--partial"],
    );
    const strict = await plan();
    expect(strict.out).toContain("config-new is not planned");
    expect(strict.code).toBe(1);
    const { code, out } = await plan("--partial", "--json");
    expect(code).toBe(0);
    const { changes, notes, problems } = JSON.parse(out) as {
      readonly changes: readonly { readonly action: string; readonly name: string }[];
      readonly notes: readonly string[];
      readonly problems: readonly { readonly code: string }[];
    };
    expect(changes.map(({ action, name }) => `${action} ${name}`)).toEqual([
      "changed a",
      "added d",
      "added e",
      "removed gone",
    ]);
    expect(problems.map((problem) => problem.code).toSorted()).toEqual([
      "constraint",
      "duplicate-name",
    ]);
    expect(notes).toEqual([
      "only `xdstp serve --partial` applies this: the folder has errors; 3 of the resources stay as they are served",
    ]);
    const text = (await plan("--partial")).out;
    expect(text).toContain("config-new/_opaque/clusters/many.yaml:2");
    expect(text).toContain("2 added, 1 changed, 1 removed, 3 unchanged");
    const client = await openDeltaStream(port, "e1");
    onTestFinished(() => {
      client.close();
    });
    client.send({ typeUrl: clusters, resourceNamesSubscribe: ["*"] });
    await nextOf(client);
    linkConfig(folder, "config-new");
    await client.arrived();
    const { resources, removedResources } = client.next();
    expect(resources.map(({ name }) => name).toSorted()).toEqual(["a", "d", "e"]);
    expect(removedResources).toEqual(["gone"]);
  });

  it("plans an empty folder as the removal of everything", async () => {
    const { folder, port, plan } = await useWorld(mesh("config", "cart"));
    folder.write({ "config-new/README.txt": "" });
    await connectEnvoy(port, "e1", { endpoints: "cart", routes: "main" });
    const { out } = await plan("--json");
    expect(JSON.parse(out)).toMatchObject({
      added: 0,
      changed: 0,
      removed: 4,
      unchanged: 0,
      notes: [expect.stringContaining("or if an empty sub-folder is left in its folder")],
    });
  });

  it("rejects a --node-key that `serve` rejects", async () => {
    const { plan } = await useWorld({ ...mesh("config", "cart"), ...mesh("config-new", "cart") });
    const { err, code } = await plan("--node-key", "colour");
    expect(err).toMatch(/^xdstp plan: --node-key: /);
    expect(code).toBe(2);
  });

  it("notes that `serve` keeps what it has where most of it would be removed at once", async () => {
    const names = Array.from({ length: 101 }, (_, at) => `config/_opaque/clusters/c${at}.yaml`);
    const { plan } = await useWorld({
      ...Object.fromEntries(names.map((name) => [name, "type: STATIC\n"])),
      "config-new/_opaque/clusters/c0.yaml": "type: STATIC\n",
    });
    const { out } = await plan();
    expect(out).toContain("1 unchanged");
    expect(out).toContain("note: `xdstp serve` applies this only with --allow-mass-delete");
  });

  it("has no line that is wider than the terminal", async () => {
    const { folder, server } = await useWorld({
      ...mesh("config", "a-cluster-with-a-name-that-is-much-longer-than-it-has-to-be"),
      ...mesh("config-new", "another-cluster-with-a-name-that-is-much-longer-than-it-has-to-be"),
    });
    const terminal = (): { readonly columns: number; readonly rows: number } => ({
      columns: 60,
      rows: 24,
    });
    const { out } = await runToEnd(["plan", "config-new", "--server", server], {
      cwd: folder.dir,
      terminal,
      env: { NO_COLOR: "1" },
    });
    expect(out).toContain("1 changed, 2 removed");
    expect(Math.max(...out.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(60);
  });

  it("says which folder does not exist, and which server does not answer, in one line", async () => {
    const folder = useFolder({ "config/_opaque/clusters/a.yaml": "type: STATIC\n" });
    const missing = await runToEnd(["plan", "missing", "--server", "127.0.0.1:1"], {
      cwd: folder.dir,
    });
    expect(missing.out + missing.err).toContain("missing");
    expect(missing.code).toBe(1);
    const { code, err } = await runToEnd(["plan", "config", "--server", "127.0.0.1:1"], {
      cwd: folder.dir,
    });
    expect(err).toBe(
      "xdstp plan: 127.0.0.1:1 does not accept connections; is a server running there?\n",
    );
    expect(code).toBe(1);
  });

  it("needs a folder and a server", async () => {
    expect((await runToEnd(["plan"])).err).toContain("xdstp plan: which folder?");
    expect((await runToEnd(["plan", "config"])).err).toContain(
      "xdstp plan: which server? Give --server HOST:PORT, or set XDSTP_SERVER",
    );
  });

  it("tells content per node apart, also of the first key that gets some", async () => {
    const cluster = (timeout: string): string => `type: STATIC\nconnect_timeout: ${timeout}\n`;
    const { port, plan } = await useWorld(
      {
        "config/_opaque/clusters/a.yaml": cluster("1s"),
        "config-new/_opaque/clusters/a.yaml": cluster("1s"),
        "config-new/_nodes/e2/_opaque/clusters/a.yaml": cluster("2s"),
      },
      ["--node-key", "id"],
    );
    for (const id of ["e1", "e2"]) {
      const client = await openDeltaStream(port, id);
      onTestFinished(() => {
        client.close();
      });
      client.send({ typeUrl: clusters, resourceNamesSubscribe: ["*"] });
      await nextOf(client);
    }
    const first = await plan("--node-key", "id");
    expect(first.out).toContain("1 of 2 clients would be sent something");
    expect(first.out).toMatch(/\+ clusters {2}a \(for nodes e2\) {2}\S+ {2}1 client: e2/);
  });

  it("plans for clients under a policy what these see, for callers that see all of them", async () => {
    const authority = createTestAuthority();
    const { cert, key } = authority.issue({ dnsNames: ["localhost"] });
    const client = authority.issue({ uris: ["spiffe://example.com/ops"] });
    const shop = authority.issue({ uris: ["spiffe://example.com/shop"] });
    const cluster = (timeout: string): string => `type: STATIC\nconnect_timeout: ${timeout}\n`;
    const { folder, port } = await useWorld(
      {
        "config/_opaque/clusters/shop.yaml": cluster("1s"),
        "config/_opaque/clusters/other.yaml": cluster("1s"),
        "config-new/_opaque/clusters/shop.yaml": cluster("2s"),
        "config-new/_opaque/clusters/other.yaml": cluster("2s"),
        "config-new/_opaque/clusters/added.yaml": cluster("2s"),
        "policy.yaml":
          'rules:\n- identity: spiffe://example.com/shop\n  allow: {clusters: [shop]}\n- identity: spiffe://example.com/ops\n  allow: {"*": ["*"]}\n  status: all\n',
        "cert.pem": cert,
        "key.pem": key,
        "ca.pem": authority.cert,
        "ops.pem": client.cert,
        "ops.key": client.key,
        "shop.pem": shop.cert,
        "shop.key": shop.key,
      },
      [
        ...["--tls-cert", "cert.pem", "--tls-key", "key.pem"],
        ...["--tls-client-ca", "ca.pem", "--policy", "policy.yaml"],
      ],
    );
    const stream = await openDeltaStream(port, "shop-1", { ca: authority.cert, ...shop });
    onTestFinished(() => {
      stream.close();
    });
    stream.send({ typeUrl: clusters, resourceNamesSubscribe: ["*"] });
    await nextOf(stream);
    const planAs = async (name: string): ReturnType<typeof runToEnd> =>
      runToEnd(
        [
          ...["plan", "config-new", "--server", `localhost:${port}`, "--tls-ca", "ca.pem"],
          ...["--tls-cert", `${name}.pem`, "--tls-key", `${name}.key`],
        ],
        { cwd: folder.dir },
      );
    const { out } = await planAs("ops");
    expect(out).toContain("1. clusters  + added  ~ shop\n");
    expect(out).not.toContain("~ other  ~");
    expect(out).toContain(
      "note: for 1 of the clients a policy decides which added resources they see; the plan supposes that they see all",
    );
    const denied = await planAs("shop");
    expect(denied.err).toContain("status: all");
    expect(denied.code).toBe(1);
  });
});
