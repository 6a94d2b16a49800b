import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import {
  clustersInYaml,
  clusterType,
  endpointType,
  useDirectory,
  useFileClient,
  waitFor,
} from "../../test/use-file.ts";

const cluster = (name: string, seconds: bigint) =>
  anyPack(ClusterSchema, create(ClusterSchema, { name, connectTimeout: { seconds } }));

const inJson = JSON.stringify({
  version_info: "7",
  resources: [{ "@type": clusterType, name: "web", connect_timeout: "3s" }],
});

/** One cluster in each format, by the name of the file. */
const formats: Readonly<Record<string, string | Uint8Array>> = {
  "cds.yaml": clustersInYaml("web=3"),
  "cds.YML": clustersInYaml("web=3"),
  "cds.json": inJson,
  "cds.conf": inJson,
  "cds.pb": toBinary(
    DiscoveryResponseSchema,
    create(DiscoveryResponseSchema, { resources: [cluster("web", 3n)] }),
  ),
  "cds.pb_text": `resources { [${clusterType}] { name: "web" connect_timeout { seconds: 3 } } }`,
};

describe("a client of a file", () => {
  it.each(Object.entries(formats))(
    "reads a DiscoveryResponse in the format of the extension: %s [C-FILE-1]",
    async (name, content) => {
      const { dir, write } = useDirectory();
      write(name, content);
      const client = useFileClient({ path: join(dir, name) });
      await client.until("web=3");
      expect(await client.next("accepted")).toMatchObject({ typeUrl: clusterType, resources: 1 });
    },
  );

  it("reads resources in a wrapper, and takes the version of the file, else one of the content [C-FILE-1] [C-FILE-4]", async () => {
    const { dir, replace } = useDirectory();
    const wrapped = (version: string) =>
      `${version}resources:\n- "@type": type.googleapis.com/envoy.service.discovery.v3.Resource\n  name: web\n  resource: { "@type": ${clusterType}, name: web, connect_timeout: 3s }\n`;
    replace("cds.yaml", wrapped("version_info: a7\n"));
    const client = useFileClient({ path: join(dir, "cds.yaml") });
    expect(await client.next("accepted")).toMatchObject({ version: "a7" });
    expect(client.held()).toEqual(["web=3"]);
    replace("cds.yaml", wrapped(""));
    const first = await client.next("accepted");
    replace("cds.yaml", clustersInYaml("web=4"));
    const second = await client.next("accepted");
    expect(first.version).toMatch(/^[0-9a-f]{32}$/);
    expect(second.version).not.toBe(first.version);
  });

  it("sees a file that is replaced by a rename, also with the same version_info [C-FILE-2]", async () => {
    const { dir, replace } = useDirectory();
    replace("cds.yaml", `version_info: a\n${clustersInYaml("web=1")}`);
    const client = useFileClient({ path: join(dir, "cds.yaml") });
    await client.until("web=1");
    replace("cds.yaml", `version_info: a\n${clustersInYaml("web=2", "more=1")}`);
    await client.until("more=1", "web=2");
  });

  it("reads a file that is replaced more often than it is parsed [C-FILE-2]", async () => {
    const { dir, replace } = useDirectory();
    replace("cds.yaml", clustersInYaml("web=1"));
    const registry = envoyRegistry();
    const replacing = Object.assign(Object.create(registry) as typeof registry, {
      getMessage(name: string) {
        replace("cds.yaml", clustersInYaml("web=1"));
        return registry.getMessage(name);
      },
    });
    const client = useFileClient({ path: join(dir, "cds.yaml"), registry: replacing });
    await client.until("web=1");
  });

  it("sees the swap of a directory behind links, as Kubernetes replaces a volume [C-FILE-2]", async () => {
    const { dir, write, link, rename } = useDirectory();
    write("..1/cds.yaml", clustersInYaml("web=1"));
    write("..2/cds.yaml", clustersInYaml("web=2"));
    link("..data", "..1");
    link("cds.yaml", "..data/cds.yaml");
    const client = useFileClient({ path: join(dir, "cds.yaml") });
    await client.until("web=1");
    link("..tmp", "..2");
    rename("..tmp", "..data");
    await client.until("web=2");
  });

  it("reads the file again after a change in the watched directory, and merges a burst of changes [C-FILE-2]", async () => {
    const { dir, write } = useDirectory();
    const clock = createFakeClock();
    const listeners = new Map<string, () => void>();
    write("cds.yaml", clustersInYaml("web=1"));
    const watched = join(dir, "watched");
    write("watched/note", "");
    const client = useFileClient({
      path: join(dir, "cds.yaml"),
      watchedDirectory: watched,
      clock,
      watch: (directory, listener) => {
        listeners.set(directory, () => {
          listener("rename", "anything");
        });
        return { on: () => undefined, close: () => undefined };
      },
    });
    await client.until("web=1");
    // The directory of the file reports nothing for this name, so only the watched directory counts.
    for (const seconds of [2, 3]) {
      write("cds.yaml", clustersInYaml(`web=${String(seconds)}`));
      listeners.get(watched)?.();
    }
    clock.advance(100);
    await client.until("web=3");
    expect(client.events.filter(({ kind }) => kind === "accepted")).toHaveLength(2);
  });

  it("keeps its state while the file is invalid, says file, line and reason, and goes on as soon as it is repaired [C-FILE-3]", async () => {
    const { dir, replace } = useDirectory();
    const path = join(dir, "cds.yaml");
    replace("cds.yaml", clustersInYaml("web=1"));
    const client = useFileClient({ path });
    await client.until("web=1");
    replace("cds.yaml", `${clustersInYaml("web=2")}  conect_timeout: 2s\n`);
    const { problem, message } = await client.next("invalid");
    expect(problem).toMatchObject({ file: path, line: 5, code: "unknown-field" });
    expect(message).toContain('key "conect_timeout" is unknown');
    await waitFor(() => client.topic.stale !== undefined);
    expect(client.topic.stale?.message).toContain(message);
    expect(client.held()).toEqual(["web=1"]);
    replace("cds.yaml", clustersInYaml("web=3"));
    await client.until("web=3");
    await waitFor(() => client.topic.stale === undefined);
  });

  it("keeps the state of a resource that it rejects, and takes the others [C-FILE-3]", async () => {
    const { dir, replace } = useDirectory();
    const path = join(dir, "cds.yaml");
    replace("cds.yaml", clustersInYaml("web=1"));
    const client = useFileClient({ path });
    await client.until("web=1");
    replace(
      "cds.yaml",
      `${clustersInYaml("api=1")}- "@type": ${endpointType}\n  cluster_name: web\n`,
    );
    const { message } = await client.next("rejected");
    expect(message).toContain(`${path}:5: "web": `);
    await client.until("api=1", "web=1");
  });

  it("reports the rejection of a wrapper that cannot be read, in a binary file [C-FILE-3]", async () => {
    const { dir, replace } = useDirectory();
    const path = join(dir, "cds.pb");
    const typeUrl = `type.googleapis.com/${ResourceSchema.typeName}`;
    const resources = [{ typeUrl, value: Uint8Array.of(10, 255) }];
    const response = create(DiscoveryResponseSchema, { resources });
    replace("cds.pb", toBinary(DiscoveryResponseSchema, response));
    const client = useFileClient({ path });
    const { message } = await client.next("rejected");
    expect(message).toBe(`${path}: "": it is not a Resource message`);
  });

  it("deletes a cluster that is no longer in the file, and no endpoints [C-FILE-4]", async () => {
    const { dir, replace } = useDirectory();
    replace("cds.yaml", clustersInYaml("api=1", "web=1"));
    const client = useFileClient({ path: join(dir, "cds.yaml") });
    await client.until("api=1", "web=1");
    replace("cds.yaml", clustersInYaml("web=1"));
    await client.until("web=1");
    replace("cds.yaml", clustersInYaml());
    await client.until();

    replace("eds.yaml", `resources: [{ "@type": ${endpointType}, cluster_name: web }]\n`);
    const endpoints = useFileClient({
      path: join(dir, "eds.yaml"),
      typeUrl: endpointType,
      name: "web",
    });
    await endpoints.next("accepted");
    replace("eds.yaml", clustersInYaml());
    expect(await endpoints.next("accepted")).toMatchObject({ resources: 0 });
    expect(endpoints.topic.get("web")?.resource).toBeDefined();
  });

  it("waits for a file that does not exist, and concludes that its names do not after 15 s [C-FILE-5]", async () => {
    const { dir, replace } = useDirectory();
    const clock = createFakeClock();
    const client = useFileClient({ path: join(dir, "cds.yaml"), name: "web", clock });
    expect((await client.next("missing")).message).toContain("does not exist");
    clock.advance(14_000);
    expect(client.topic.settled).toBe(false);
    clock.advance(1_000);
    await waitFor(() => client.topic.settled);
    replace("cds.yaml", clustersInYaml("web=1"));
    await waitFor(() => {
      clock.advance(100);
      return client.held().length > 0;
    });
    expect(client.held()).toEqual(["web=1"]);
  });

  it("keeps the last valid state of a file that is deleted [C-FILE-5]", async () => {
    const { dir, replace, remove } = useDirectory();
    replace("cds.yaml", clustersInYaml("web=1"));
    const client = useFileClient({ path: join(dir, "cds.yaml") });
    await client.until("web=1");
    remove("cds.yaml");
    await client.next("missing");
    expect(client.held()).toEqual(["web=1"]);
    replace("cds.yaml", clustersInYaml("web=2"));
    await client.until("web=2");
  });

  it("finds a file in a directory that is created later [C-FILE-5]", async () => {
    const { dir, write } = useDirectory();
    const clock = createFakeClock();
    const client = useFileClient({ path: join(dir, "a/b/cds.yaml"), clock });
    await client.next("missing");
    write("a/b/cds.yaml", clustersInYaml("web=1"));
    await waitFor(() => {
      clock.advance(100);
      return client.held().length > 0;
    });
  });

  it("says so if the file holds another type, is empty, or is a directory", async () => {
    const { dir, replace, write } = useDirectory();
    replace("cds.yaml", `type_url: ${endpointType}\n`);
    const other = useFileClient({ path: join(dir, "cds.yaml") });
    await waitFor(() => other.topic.stale !== undefined);
    expect(other.topic.stale?.message).toContain(`"${endpointType}", but ${clusterType}`);
    replace("empty.yaml", "# nothing\n");
    const empty = useFileClient({ path: join(dir, "empty.yaml") });
    expect((await empty.next("invalid")).problem).toMatchObject({ code: "empty-file" });
    write("directory/file", "");
    const directory = useFileClient({ path: join(dir, "directory") });
    expect((await directory.next("invalid")).message).toContain("is not a file");
  });

  it("opens no stream for a path of all types, or after its end", () => {
    const { dir } = useDirectory();
    const { channel } = useFileClient({ path: join(dir, "cds.yaml") });
    const nothing = () => undefined;
    const open = (path: string) => () =>
      channel.open({ path }, { onMessage: nothing, onDrained: nothing, onClosed: nothing });
    expect(
      open("/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"),
    ).toThrow(/use a service with one type/);
    channel.close();
    expect(open("/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters")).toThrow(
      /is closed/,
    );
  });
});
