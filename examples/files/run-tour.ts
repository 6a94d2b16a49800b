import { mkdtemp, rename, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { type CollectionChange, createClient, type Member } from "@xdstp/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { type Cluster, ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { createNativeFileSource } from "@xdstp/transport-file/client";

/** Reads clusters by names of files, follows edits of them, and keeps what an edit breaks. */
export async function runTour(say: (line: string) => void): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-example-files-"));
  const save = async (file: string, timeout: string): Promise<void> => {
    const path = join(dir, file);
    // Written elsewhere and renamed: no reader sees half a file.
    await writeFile(
      `${path}.tmp`,
      `resource: { "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, connect_timeout: ${timeout} }\n`,
    );
    await rename(`${path}.tmp`, path);
  };
  await save("web.yaml", "1s");
  await save("api.yaml", "1s");

  const client = createClient({
    bootstrap: { node: { id: "example", cluster: "" }, sources: [] },
    sources: [createNativeFileSource({ directory: dir, registry: envoyRegistry() })],
  });
  const edits = [
    { at: "api.yaml 1 s, web.yaml 1 s", edit: "web.yaml: 2s", run: () => save("web.yaml", "2s") },
    {
      at: "api.yaml 1 s, web.yaml 2 s",
      edit: "web.yaml: twos",
      run: () => save("web.yaml", "twos"),
    },
    {
      at: "api.yaml 1 s, web.yaml 2 s; ",
      edit: "web.yaml: 3s, and api.yaml is removed",
      run: async () => {
        await save("web.yaml", "3s");
        await unlink(join(dir, "api.yaml"));
      },
    },
  ];
  const all = client.watchAll(ClusterSchema, `file://${dir}/*`);
  for await (const change of all) {
    const state = textOf(change, all.members).replaceAll(dir, "DIR");
    say(state);
    if (state === "web.yaml 3 s") break;
    const [next] = edits;
    if (
      next === undefined ||
      !(next.at.endsWith("; ") ? state.startsWith(next.at) : state === next.at)
    )
      continue;
    edits.shift();
    say(`-- ${next.edit}`);
    await next.run();
  }
  try {
    await client.read(ClusterSchema, "file:///etc/passwd");
  } catch (error) {
    say((error as Error).message.replaceAll(dir, "DIR"));
  }
  await client.close();
  await rm(dir, { recursive: true, force: true });
}

function textOf(
  { error }: CollectionChange<Cluster>,
  members: ReadonlyMap<string, Member<Cluster>>,
): string {
  const clusters = Array.from(
    members,
    ([name, { value }]) => `${basename(name)} ${String(value.connectTimeout?.seconds)} s`,
  );
  return `${clusters.sort().join(", ")}${error === undefined ? "" : `; ${error.text}`}`;
}
