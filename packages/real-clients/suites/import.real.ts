import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { createTestAuthority } from "@xdstp/testing";
import { expect, it } from "vitest";
import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import { localConfiguration } from "../src/local-configuration.ts";
import { freePort, runCommand, serveFolder } from "../src/run-command.ts";
import { until } from "../src/until.ts";
import { useFolder } from "../src/use-folder.ts";

/** Configurations that Envoy does not finish to apply here, static or not: they wait for a Redis, for secrets in empty files, and for a filter of a server that is not there. */
const endless: ReadonlySet<string> = new Set([
  "redis.yaml",
  "sds-by-file.yaml",
  "ecds.yaml",
  "odd-but-valid.yaml", // It has a cluster of Redis too.
]);
/** Configurations whose dump is not complete: the server that has the rest is not there. */
const incomplete: ReadonlySet<string> = new Set(["dynamic-per-type.yaml"]);

const corpus = process.env.XDSTP_CORPUS ?? resolve(import.meta.dirname, "../corpus");
const names = readdirSync(corpus)
  .filter((name) => name.endsWith(".yaml"))
  .filter((name) => !endless.has(name))
  .filter((name) => new RegExp(process.env.XDSTP_ONLY ?? "").test(name));

/** Envoys that run at a time. */
const parallel = 3;

const otherServer = /ads_config: Envoy takes its configuration from another server/;
/** Configurations that are not imported, and what the command says. */
const refused: Readonly<Record<string, RegExp>> = {
  "dynamic-ads.yaml": otherServer,
  "eds-by-ads.yaml": otherServer,
  "on-demand-vhds.yaml": otherServer,
};
describeProgram("envoy", "imported configurations", (command) => {
  it(`are to Envoy what they were before (${names.length} configurations)`, async () => {
    const dir = useFolder({ ...certificates(), ...filesOfCorpus() });
    const waiting = [...names];
    const outcomes = new Map<string, string>();
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
          outcomes.set(name, await outcomeOf(command, name, dir));
      }),
    );
    const differing = [...outcomes].filter(([, outcome]) => outcome !== "same");
    expect(Object.fromEntries(differing)).toEqual({});
    expect(outcomes.size).toBeGreaterThanOrEqual(30);
  }, 600_000);

  it("are what a server gave before, with routes, endpoints and secrets", async () => {
    const dir = useFolder(servedBefore());
    const [first, second] = [await freePort(), await freePort()];
    await serveFolder(join(dir, "before"), first);
    const connection = join(dir, "envoy.yaml");
    writeFileSync(connection, "node: { id: a, cluster: b, metadata: { tier: gold } }\n");
    const merged = await runCommand(
      "bootstrap",
      "envoy",
      "--merge",
      connection,
      "--admin",
      "0",
      "--server",
      `127.0.0.1:${first}`,
    );
    const before = await startEnvoy(command, merged.text);
    await before.url("in");
    const dump = await warmDump(before);
    for (const type of ["RouteConfiguration", "ClusterLoadAssignment", "Secret"])
      expect(Object.keys(contentOf(dump)).join()).toContain(type);
    const dumpFile = join(dir, "dump.json");
    writeFileSync(dumpFile, dump);
    const after = join(dir, "after");
    const report = await runCommand(
      "import",
      "config-dump",
      dumpFile,
      after,
      "--server",
      `127.0.0.1:${second}`,
      "--json",
    );
    expect(report.code, report.text).toBe(0);
    expect((JSON.parse(report.text) as Outcome).missing).toMatchObject([{ name: "pair" }]);
    addMissing(report.text, join(dir, "before"), after);
    await serveFolder(after, second);
    const envoy = await startEnvoy(command, readFileSync(`${after}.bootstrap.yaml`, "utf8"));
    expect(await differenceBetween(before, envoy)).toBeUndefined();
  });
});

/** `same`, or what is not. */
async function outcomeOf(command: string, name: string, shared: string): Promise<string> {
  const dir = useFolder();
  const original = join(dir, "original.yaml");
  writeFileSync(original, localConfiguration(readFileSync(join(corpus, name), "utf8"), shared));
  const started: Envoy[] = [];
  const start = async (file: string): Promise<Envoy> => {
    const envoy = await startEnvoy(command, readFileSync(file, "utf8"));
    started.push(envoy);
    return envoy;
  };
  const stops: (() => Promise<unknown>)[] = [];
  const serve = async (folder: string, port: number): Promise<void> => {
    stops.push(await serveFolder(folder, port));
  };
  try {
    const port = await freePort();
    const server = ["--server", `127.0.0.1:${port}`, "--json"];
    const folder = join(dir, "folder");
    const moved = await runCommand("import", "envoy", original, folder, ...server);
    const reason = refused[name];
    if (reason !== undefined)
      return reason.test(moved.text) ? "same" : `not refused: ${moved.text}`;
    if (moved.code !== 0) return `not imported: ${moved.text}`;
    const before = await start(original);
    await warmDump(before);
    await serve(folder, port);
    const after = await start(`${folder}.bootstrap.yaml`);
    const difference = await differenceBetween(before, after);
    if (difference !== undefined) return `import envoy: ${difference}`;
    if (incomplete.has(name)) return "same";
    return (await again(before, "static")) ?? (await again(after, "dynamic")) ?? "same";
  } catch (error) {
    return String(error);
  } finally {
    await Promise.all(started.map((envoy) => envoy.stop()));
    for (const stop of stops) await stop();
  }

  /** Imports a dump of an Envoy that has the same configuration. */
  async function again(source: Envoy, kind: string): Promise<string | undefined> {
    const dumpFile = join(dir, `${kind}.json`);
    writeFileSync(dumpFile, await source.dump());
    const other = await freePort();
    const fromDump = join(dir, kind);
    const taken = await runCommand(
      "import",
      "config-dump",
      dumpFile,
      fromDump,
      "--server",
      `127.0.0.1:${other}`,
      "--json",
    );
    if (taken.code !== 0) return `dump not imported: ${taken.text}`;
    addMissing(taken.text, join(dir, "folder"), fromDump);
    await serve(fromDump, other);
    const difference = await differenceBetween(source, await start(`${fromDump}.bootstrap.yaml`));
    return difference === undefined ? undefined : `import config-dump, ${kind}: ${difference}`;
  }
}

/** Resolves with the configuration of an Envoy once it does not wait for anything. Its statistics may be turned off. */
function warmDump(envoy: Envoy): Promise<string> {
  return until("nothing warms", async () => {
    const dump = await envoy.dump();
    return /"(?:dynamic_warming_\w+|warming_state)"/.test(dump) ? undefined : dump;
  });
}

interface Outcome {
  readonly missing: readonly { readonly typeUrl: string; readonly name: string }[];
}

/** A dump has no private keys; people add files that have them. Here these are the ones that the other import wrote. */
function addMissing(report: string, from: string, to: string): void {
  const { missing } = JSON.parse(report) as Outcome;
  for (const { typeUrl, name } of missing) {
    const type = `${typeUrl.slice(typeUrl.lastIndexOf(".") + 1).toLowerCase()}s`;
    const file = `_opaque/${type}/${name}.yaml`;
    if (existsSync(join(from, file))) cpSync(join(from, file), join(to, file));
  }
}

/** Resolves with the remaining difference between two Envoys; undefined: they are equal. */
async function differenceBetween(before: Envoy, envoy: Envoy): Promise<string | undefined> {
  let expected: Content = {};
  let found: Content = {};
  try {
    await until(
      "the same configuration",
      async () => {
        // Both are read again: endpoints by DNS come later.
        expected = contentOf(await before.dump());
        found = contentOf(await envoy.dump());
        return isDeepStrictEqual(found, expected);
      },
      undefined,
      15_000,
    );
    return undefined;
  } catch {
    const keys = new Set([...Object.keys(expected), ...Object.keys(found)]);
    const differing = [...keys].filter((key) => !isDeepStrictEqual(expected[key], found[key]));
    const shown = differing.map(
      (key) => `${key}: ${JSON.stringify(expected[key])} became ${JSON.stringify(found[key])}`,
    );
    return [...shown, ...envoy.lines.slice(-5)].join("\n").slice(0, 4000);
  }
}

/** The resources of a dump, by type and name. */
type Content = Readonly<Record<string, JsonValue>>;

/** The places of resources in a dump. */
const places: readonly (readonly [list: string, ...path: string[]])[] = [
  ["static_listeners", "listener"],
  ["dynamic_listeners", "active_state", "listener"],
  ["static_clusters", "cluster"],
  ["dynamic_active_clusters", "cluster"],
  ["static_route_configs", "route_config"],
  ["dynamic_route_configs", "route_config"],
  ["static_endpoint_configs", "endpoint_config"],
  ["dynamic_endpoint_configs", "endpoint_config"],
  ["static_secrets", "secret"],
  ["dynamic_active_secrets", "secret"],
  ["inline_scoped_route_configs", "scoped_route_configs"],
  ["dynamic_scoped_route_configs", "scoped_route_configs"],
  ["ecds_filters", "ecds_filter"],
];

function contentOf(dump: string): Content {
  const { configs } = JSON.parse(dump) as { readonly configs: readonly JsonObject[] };
  const resources = configs.flatMap((part) => {
    if (textOf(part, "@type").endsWith("BootstrapConfigDump")) return [restOf(part.bootstrap)];
    return places.flatMap(([list, ...path]) =>
      [part[list] ?? []].flat().flatMap((entry) => {
        let at: JsonValue | undefined = entry;
        for (const step of path) at = (at as JsonObject | undefined)?.[step];
        return at === undefined ? [] : [at].flat().map((one) => compared(one) as JsonObject);
      }),
    );
  });
  const named = resources.map(
    (one) =>
      [
        `${textOf(one, "@type").replace(/^.*\./, "")} ${textOf(one, "name") || textOf(one, "cluster_name")}`,
        one,
      ] as const,
  );
  return Object.fromEntries(
    Array.from(
      Map.groupBy(named, ([key]) => key),
      ([key, all]) => [key, all.map(([, one]) => one).sort(byText)] as const,
    ).filter(([key]) => !key.endsWith(" xdstp_server")),
  );
}

function textOf(json: JsonObject, field: string): string {
  const value = json[field];
  return typeof value === "string" ? value : "";
}

function byText(a: JsonObject, b: JsonObject): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** The bootstrap without what comes from the server now, and without what Envoy adds to its node. */
function restOf(bootstrap: JsonValue | undefined): JsonObject {
  const json = bootstrap as JsonObject;
  const { metadata = {}, locality = {} } = json.node as JsonObject;
  const rest = Object.entries(json).filter(([key]) => !/^(?:static|dynamic)_resources$/.test(key));
  return { ...Object.fromEntries(rest), node: { metadata, locality } };
}

/** Without the state of health, and without the sources of what is served now. The files that a secret names are what they hold, as Envoy shows those of secrets from a server. */
function compared(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(compared);
  if (typeof value !== "object" || value === null) return value;
  if (typeof value["@type"] === "string" && value["@type"].endsWith(".Secret"))
    return withFiles(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, inner]) =>
          !["health_status", "eds_config", "config_source"].includes(key) &&
          !(key === "sds_config" && isAds(inner)),
      )
      .map(([key, inner]) => [key, compared(inner)]),
  );
}

function withFiles(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withFiles);
  if (typeof value !== "object" || value === null) return value;
  const { filename } = value;
  if (typeof filename === "string") {
    const bytes = filename === "[redacted]" ? Buffer.from(filename) : readFileSync(filename);
    return { inline_bytes: bytes.toString("base64") };
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withFiles(one)]));
}

function isAds(source: JsonValue): boolean {
  return isDeepStrictEqual(source, { ads: {}, resource_api_version: "V3" });
}

/** A folder whose resources refer to each other over ADS. */
function servedBefore(): Readonly<Record<string, string>> {
  const { cert, key } = createTestAuthority().issue({ name: "a" });
  const ads = { ads: {}, resource_api_version: "V3" };
  const manager = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "in",
    rds: { config_source: ads, route_config_name: "shop routes" },
    http_filters: [
      {
        name: "router",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
        },
      },
    ],
  };
  const tls = {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
    common_tls_context: {
      tls_certificate_sds_secret_configs: [{ name: "pair", sds_config: ads }],
      validation_context_sds_secret_config: { name: "roots", sds_config: ads },
    },
  };
  const resources: Readonly<Record<string, object>> = {
    "clusters/shop": {
      type: "EDS",
      eds_cluster_config: { eds_config: ads, service_name: "outbound|80||shop" },
    },
    "endpoints/outbound|80||shop": {
      endpoints: [
        {
          lb_endpoints: [
            {
              endpoint: {
                address: { socket_address: { address: "127.0.0.1", port_value: 18080 } },
              },
            },
          ],
        },
      ],
    },
    "routes/shop routes": {
      virtual_hosts: [
        {
          name: "all",
          domains: ["*"],
          routes: [{ match: { prefix: "/" }, route: { cluster: "shop" } }],
        },
      ],
    },
    "listeners/in": {
      address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
      filter_chains: [
        {
          transport_socket: { name: "tls", typed_config: tls },
          filters: [{ name: "http", typed_config: manager }],
        },
      ],
    },
    "secrets/pair": {
      tls_certificate: {
        certificate_chain: { inline_string: cert },
        private_key: { inline_string: key },
      },
    },
    "secrets/roots": { validation_context: { trusted_ca: { inline_string: cert } } },
  };
  return Object.fromEntries(
    Object.entries(resources).map(([path, json]) => [
      `before/_opaque/${path}.yaml`,
      JSON.stringify(json),
    ]),
  );
}

/** Returns the files below `certs` that the configurations name. */
function certificates(): Readonly<Record<string, string>> {
  const authority = createTestAuthority();
  const [server, client] = ["server", "client"].map((name) => authority.issue({ name }));
  return {
    "certs/ca.crt": authority.cert,
    "certs/server.crt": server?.cert ?? "",
    "certs/server.key": server?.key ?? "",
    "certs/client.crt": client?.cert ?? "",
    "certs/client.key": client?.key ?? "",
  };
}

function filesOfCorpus(): Readonly<Record<string, string>> {
  const dir = join(corpus, "files");
  return Object.fromEntries(
    readdirSync(dir).map((name) => [`files/${name}`, readFileSync(join(dir, name), "utf8")]),
  );
}
