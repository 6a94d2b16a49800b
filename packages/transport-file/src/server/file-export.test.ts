import { readdirSync, readFileSync, statSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { describe, expect, it, onTestFinished } from "vitest";

import { useDirectory, useFileClient, waitFor } from "../../test/use-file.ts";
import { createFileExport, type ExportState, type FileExportOptions } from "./index.ts";

const prefix = "type.googleapis.com/";
const types = {
  listener: `${prefix}envoy.config.listener.v3.Listener`,
  cluster: `${prefix}envoy.config.cluster.v3.Cluster`,
  endpoints: `${prefix}envoy.config.endpoint.v3.ClusterLoadAssignment`,
  route: `${prefix}envoy.config.route.v3.RouteConfiguration`,
  secret: `${prefix}envoy.extensions.transport_sockets.tls.v3.Secret`,
} as const;
const ads = { ads: {}, resource_api_version: "V3" };

const edsCluster = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  type: "EDS",
  eds_cluster_config: { eds_config: ads },
  ...more,
});
const http = (config: JsonObject): JsonObject => ({
  name: "l",
  filter_chains: [
    {
      filters: [
        {
          name: "http",
          typed_config: {
            "@type": `${prefix}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
            stat_prefix: "x",
            ...config,
          },
        },
      ],
    },
  ],
});

/** A cache, and an export of it into a directory of the test. */
function useExport(options: Partial<FileExportOptions> = {}) {
  const { dir, ...directory } = useDirectory();
  const cache = createCache({ types: envoyTypes });
  const states: ExportState[] = [];
  const errors: unknown[] = [];
  const exporting = createFileExport({
    source: cache,
    dir: join(dir, "out"),
    registry: envoyRegistry(),
    onWritten: (state) => states.push(state),
    onError: (error) => errors.push(error),
    ...options,
  });
  onTestFinished(async () => {
    await exporting.close();
    await cache.close();
  });
  const registry = envoyRegistry();
  return {
    ...directory,
    dir: join(dir, "out"),
    exporting,
    states,
    errors,
    /** Puts and removes resources in one transaction. */
    change(
      put: readonly (readonly [keyof typeof types, string, JsonObject])[],
      remove: readonly (readonly [keyof typeof types, string])[] = [],
    ) {
      cache.transaction((write) => {
        for (const [type, name, body] of put)
          write.put({
            typeUrl: types[type],
            name,
            value: anyFromJson({ "@type": types[type], ...body }, registry).value,
          });
        for (const [type, name] of remove) write.remove(types[type], name);
      });
    },
    /** Waits for a state after the ones that were there. */
    async next() {
      const { length } = states;
      await waitFor(() => states.length > length);
      return states.at(-1) ?? { files: [], notes: [], changed: 0 };
    },
    read: (path: string) =>
      JSON.parse(readFileSync(join(dir, "out", path), "utf8")) as {
        version_info: string;
        type_url: string;
        resources: JsonObject[];
      },
    names: (path: string) => readdirSync(join(dir, "out", path)).sort(),
  };
}

describe("an export", () => {
  it("writes listeners and clusters in a file each, and a file for each name that they refer to, by way of files", async () => {
    const out = useExport();
    out.change([
      ["cluster", "a", edsCluster("a")],
      [
        "cluster",
        "b",
        edsCluster("b", { eds_cluster_config: { eds_config: ads, service_name: "x/y" } }),
      ],
      ["endpoints", "a", { cluster_name: "a" }],
      ["endpoints", "x/y", { cluster_name: "x/y" }],
      ["endpoints", "unused", { cluster_name: "unused" }],
      ["route", "r", { name: "r" }],
      ["listener", "l", http({ rds: { route_config_name: "r", config_source: ads } })],
    ]);
    const { files, notes } = await out.next();
    expect(files.map(({ path }) => path)).toEqual([
      "eds/a.json",
      "eds/x%2Fy.json",
      "cds.json",
      "rds/r.json",
      "lds.json",
    ]);
    expect(notes).toEqual([]);
    expect(out.names("eds")).toEqual(["a.json", "x%2Fy.json"]);
    expect(out.read("cds.json")).toMatchObject({
      type_url: types.cluster,
      resources: [
        {
          "@type": types.cluster,
          name: "a",
          eds_cluster_config: {
            eds_config: { path_config_source: { path: join(out.dir, "eds/a.json") } },
          },
        },
        {
          name: "b",
          eds_cluster_config: {
            service_name: "x/y",
            eds_config: { path_config_source: { path: join(out.dir, "eds/x%2Fy.json") } },
          },
        },
      ],
    });
    expect(JSON.stringify(out.read("lds.json"))).toContain(
      `"path":"${join(out.dir, "rds/r.json")}"`,
    );
  });

  it("writes a file without resources for a name that does not exist, and says so", async () => {
    const out = useExport();
    out.change([["cluster", "a", edsCluster("a")]], [["endpoints", "a"]]);
    const { notes } = await out.next();
    expect(notes).toEqual([
      { path: "eds/a.json", message: expect.stringContaining('does not have "a"') as string },
    ]);
    expect(out.read("eds/a.json").resources).toEqual([]);
  });

  it("leaves config sources of others as they are, and reports those that cannot be files", async () => {
    const out = useExport();
    const other = {
      api_config_source: {
        api_type: "GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: "x" } }],
      },
      resource_api_version: "V3",
    };
    out.change([
      ["cluster", "a", edsCluster("a", { eds_cluster_config: { eds_config: other } })],
      ["cluster", "b", { name: "b", lrs_server: { self: {} } }],
    ]);
    const { files, notes } = await out.next();
    expect(files.map(({ path }) => path)).toEqual(["cds.json", "lds.json"]);
    expect(out.read("cds.json").resources[0]).toMatchObject({
      eds_cluster_config: { eds_config: other },
    });
    expect(notes.map(({ message }) => message)).toEqual([
      expect.stringContaining('cds.json: "b": lrs_server stays'),
    ]);
  });

  it("writes what has changed and nothing else, and removes what is not referred to any more", async () => {
    const out = useExport();
    out.change([
      ["cluster", "a", edsCluster("a")],
      ["cluster", "b", edsCluster("b")],
      ["endpoints", "a", { cluster_name: "a" }],
      ["endpoints", "b", { cluster_name: "b" }],
    ]);
    expect((await out.next()).changed).toBe(4);
    const before = out.read("eds/a.json").version_info;
    const inode = statSync(join(out.dir, "cds.json")).ino;
    out.change([
      ["endpoints", "a", { cluster_name: "a", policy: { overprovisioning_factor: 150 } }],
    ]);
    expect((await out.next()).changed).toBe(1);
    expect(out.read("eds/a.json").version_info).not.toBe(before);
    expect(statSync(join(out.dir, "cds.json")).ino).toBe(inode);
    out.change([], [["cluster", "b"]]);
    expect((await out.next()).changed).toBe(2);
    expect(out.names("eds")).toEqual(["a.json"]);
  });

  it("writes nothing before everything is known, and takes over the files of an earlier run", async () => {
    const first = useExport();
    mkdirSync(join(first.dir, "eds"), { recursive: true });
    writeFileSync(join(first.dir, "eds/old.json"), "{}");
    writeFileSync(join(first.dir, "eds/.old.json"), "{}");
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(first.states).toEqual([]);
    expect(first.names("")).toEqual(["eds"]);
    first.change([["cluster", "a", { name: "a" }]]);
    await first.exporting.first;
    expect(first.names("eds")).toEqual([".old.json"]);
  });

  it("lets only the owner read secrets", async () => {
    const out = useExport();
    out.change([
      ["secret", "s", { name: "s", generic_secret: { secret: { inline_string: "x" } } }],
      [
        "cluster",
        "a",
        {
          name: "a",
          transport_socket: {
            name: "tls",
            typed_config: {
              "@type": `${prefix}envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
              common_tls_context: {
                tls_certificate_sds_secret_configs: [{ name: "s", sds_config: ads }],
              },
            },
          },
        },
      ],
    ]);
    await out.next();
    expect(statSync(join(out.dir, "sds/s.json")).mode & 0o777).toBe(0o600);
    expect(statSync(join(out.dir, "cds.json")).mode & 0o044).toBe(0o044);
  });

  it("names the files by the path that their reader has", async () => {
    const out = useExport({ readDir: "/etc/xds" });
    out.change([["cluster", "a", edsCluster("a")]], [["endpoints", "a"]]);
    await out.next();
    expect(JSON.stringify(out.read("cds.json"))).toContain('"path":"/etc/xds/eds/a.json"');
  });

  it("reports a directory that cannot be written, and tries it again", async () => {
    const clock = createFakeClock();
    const out = useExport({ clock });
    writeFileSync(out.dir, "a file");
    out.change([["cluster", "a", { name: "a" }]]);
    await waitFor(() => out.errors.length > 0);
    out.remove("out");
    clock.advance(1_000);
    await out.exporting.first;
    expect(out.names("")).toEqual(["cds.json", "lds.json"]);
  });

  it("replaces each file as a whole, so that a reader never sees a part of it [B-FILE-6]", async () => {
    const out = useExport();
    const clusters = (seconds: number) =>
      Array.from({ length: 300 }, (_, index) => {
        const name = `c${String(index)}`;
        return ["cluster", name, { name, connect_timeout: `${String(seconds)}s` }] as const;
      });
    out.change(clusters(1));
    await out.exporting.first;
    const seen = new Set<string>();
    const texts = new Set<number>();
    for (let seconds = 2; seconds < 12; seconds++) {
      out.change(clusters(seconds));
      const { length } = out.states;
      await waitFor(() => {
        const { resources } = out.read("cds.json");
        texts.add(resources.length);
        seen.add([...new Set(resources.map((one) => one.connect_timeout as string))].join());
        return out.states.length > length;
      });
    }
    expect([...texts]).toEqual([300]);
    expect([...seen].filter((one) => one.includes(","))).toEqual([]);
    expect(out.names("")).toEqual(["cds.json", "lds.json"]);
  });

  it("is read by a client of files, with each change", async () => {
    const out = useExport();
    out.change([["cluster", "a", { name: "a", connect_timeout: "1s" }]]);
    await out.exporting.first;
    const client = useFileClient({ path: join(out.dir, "cds.json") });
    await client.until("a=1");
    out.change([["cluster", "b", { name: "b", connect_timeout: "2s" }]], [["cluster", "a"]]);
    await client.until("b=2");
  });
});
