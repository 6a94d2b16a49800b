import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readEnvoyBootstrap } from "@xdstp/bootstrap/envoy";
import { createChannels, createClient } from "@xdstp/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { createFileTransport } from "@xdstp/transport-file/client";

/** Reads the file of a bootstrap of Envoy, a DiscoveryResponse, and follows an edit. */
export async function followResponse(say: (line: string) => void): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-example-response-"));
  const path = join(dir, "cds.yaml");
  const save = async (timeout: string): Promise<void> => {
    await writeFile(
      `${path}.tmp`,
      `resources: [{ "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: web, connect_timeout: ${timeout} }]\n`,
    );
    await rename(`${path}.tmp`, path);
  };
  await save("1s");
  const client = createClient({
    bootstrap: readEnvoyBootstrap(
      `default_config_source: { path_config_source: { path: ${path} } }`,
    ),
    channels: createChannels({
      transports: { file: createFileTransport({ registry: envoyRegistry() }) },
    }),
  });
  for await (const { value } of client.watch(ClusterSchema, "web")) {
    const seconds = Number(value?.connectTimeout?.seconds ?? 0n);
    say(`web in cds.yaml: ${String(seconds)} s`);
    if (seconds === 2) break;
    say("-- cds.yaml: 2s");
    await save("2s");
  }
  await client.close();
  await rm(dir, { recursive: true, force: true });
}
