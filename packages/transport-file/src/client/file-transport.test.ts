import { readEnvoyBootstrap } from "@xdstp/bootstrap/envoy";
import { createChannels, createClient, type ClientOptions } from "@xdstp/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";
import { describe, expect, it, onTestFinished } from "vitest";

import { clustersInYaml, clusterType, useDirectory } from "../../test/use-file.ts";
import { createFileTransport, createNativeFileSource, type FileEvent } from "./index.ts";

const registry = envoyRegistry();

function useClient(options: ClientOptions): ReturnType<typeof createClient> {
  const client = createClient({ backoff: { initialMs: 20, maxMs: 100 }, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** The bootstrap of an Envoy whose clusters of one authority, and of all others, are in files. */
const bootstrapOf = (dir: string): string => `
node: { id: me }
config_sources:
- authorities: [{ name: acme }]
  path_config_source: { path: ${dir}/acme.yaml }
default_config_source: { path_config_source: { path: ${dir}/cds.yaml, watched_directory: { path: ${dir} } } }
`;

describe("createFileTransport()", () => {
  it("gives a client the files of path_config_source, by authority, and their edits [C-AUTH-1] [C-FILE-2]", async () => {
    const { dir, replace } = useDirectory();
    const acme = "xdstp://acme/envoy.config.cluster.v3.Cluster/web";
    replace("cds.yaml", clustersInYaml("web=1"));
    replace(
      "acme.yaml",
      `resources:\n- "@type": type.googleapis.com/envoy.service.discovery.v3.Resource\n  name: ${acme}\n  resource: { "@type": ${clusterType}, name: web, connect_timeout: 9s }\n`,
    );
    const events: FileEvent[] = [];
    const client = useClient({
      bootstrap: readEnvoyBootstrap(bootstrapOf(dir)),
      channels: createChannels({
        transports: {
          file: createFileTransport({ registry, onEvent: (event) => events.push(event) }),
        },
      }),
    });
    const seconds: (bigint | undefined)[] = [];
    for await (const { value } of client.watch(ClusterSchema, "web")) {
      seconds.push(value?.connectTimeout?.seconds);
      if (seconds.length === 2) break;
      replace("cds.yaml", clustersInYaml("web=2"));
    }
    expect(seconds).toEqual([1n, 2n]);
    expect((await client.read(ClusterSchema, acme)).value.connectTimeout?.seconds).toBe(9n);
    expect(client.status().map(({ name }) => name)).toEqual([
      `file://${dir}/acme.yaml`,
      `file://${dir}/cds.yaml`,
    ]);
    expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(["accepted"]));
  });

  it("reads a file with one type only for that type [C-FILE-4]", async () => {
    const { dir, replace } = useDirectory();
    replace("cds.yaml", clustersInYaml("web=1"));
    const client = useClient({
      bootstrap: readEnvoyBootstrap(bootstrapOf(dir)),
      channels: createChannels({ transports: { file: createFileTransport({ registry }) } }),
    });
    await client.read(ClusterSchema, "web");
    const watch = client.watch(ClusterLoadAssignmentSchema, "web");
    const { error } = (await watch[Symbol.asyncIterator]().next()).value ?? {};
    expect(error?.text).toContain(`its payload has the type "${clusterType}"`);
    watch.close();
  });

  it("reads a file in SotW, whatever variant its configuration says [C-FILE-4]", async () => {
    const { dir, replace } = useDirectory();
    replace("cds.yaml", clustersInYaml("web=1"));
    const path = `${dir}/cds.yaml`;
    const server = {
      uri: `file://${path}`,
      credentials: { type: "insecure" },
      features: new Set<string>(),
      variant: "delta",
      aggregated: true,
      file: { path },
    } as const;
    const client = useClient({
      bootstrap: { node: { id: "me", cluster: "" }, sources: [{ servers: [server] }] },
      channels: createChannels({ transports: { file: createFileTransport({ registry }) } }),
    });
    expect(await client.read(ClusterSchema, "web")).toMatchObject({ name: "web" });
  });

  it("is needed: without it a path is unreachable, and the reason says what to give [C-FILE-1]", async () => {
    const client = useClient({
      bootstrap: readEnvoyBootstrap(bootstrapOf("/etc/envoy")),
      channels: createChannels(),
    });
    const { error } =
      (await client.watch(ClusterSchema, "web")[Symbol.asyncIterator]().next()).value ?? {};
    expect(error?.text).toContain(
      '"file:///etc/envoy/cds.yaml" needs the transport "file"; give it to createChannels({ transports }): createFileTransport() of @xdstp/transport-file/client',
    );
  });
});

describe("createNativeFileSource()", () => {
  it("gives a client names of files, directories and entries of lists, next to its servers [C-NFILE-5] [C-NFILE-6]", async () => {
    const { dir, replace, remove } = useDirectory();
    const one = (seconds: number): string =>
      `resource: { "@type": ${clusterType}, connect_timeout: ${String(seconds)}s }\n`;
    replace("one/web.yaml", one(1));
    replace("one/api.yaml", one(2));
    const client = useClient({
      bootstrap: { node: { id: "me", cluster: "" }, sources: [] },
      sources: [createNativeFileSource({ directory: dir, registry })],
      dynamicParameters: { opaque: { env: "test" } },
    });
    const web = await client.read(ClusterSchema, `file://${dir}/one/web.yaml`);
    expect(web.value.connectTimeout?.seconds).toBe(1n);
    const names: string[][] = [];
    const all = client.watchAll(ClusterSchema, `file://${dir}/one/*`);
    for await (const { complete } of all) {
      if (!complete) continue;
      names.push([...all.members.keys()].sort());
      if (names.length === 2) break;
      remove("one/api.yaml");
    }
    expect(names).toEqual([
      [`file://${dir}/one/api.yaml`, `file://${dir}/one/web.yaml`],
      [`file://${dir}/one/web.yaml`],
    ]);
    await expect(
      client.read(ClusterLoadAssignmentSchema, `file://${dir}/one/web.yaml`, { timeoutMs: 5_000 }),
    ).rejects.toThrow(/web\.yaml/);
    expect(() => client.watch(ClusterSchema, `file://${dir}/one/*`)).toThrow(
      "is a collection; use watchAll()",
    );
  });
});
