import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createCache } from "@xdstp/cache";
import { createClient } from "@xdstp/client";
import { createFolderFeed } from "@xdstp/folder";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer } from "@xdstp/server";
import { expect, it, onTestFinished } from "vitest";

import { followMesh } from "./follow-mesh.ts";

async function copyOfMesh(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-example-client-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  await cp(join(import.meta.dirname, "../mesh/config"), dir, { recursive: true });
  return dir;
}

async function serve(
  dir: string,
): Promise<{ readonly uri: string; readonly rejections: () => readonly string[] }> {
  const rejections: string[] = [];
  const cache = createCache({ types: envoyTypes });
  cache.addFeed(createFolderFeed({ dir, registry: envoyRegistry() }));
  const server = createServer({
    source: cache,
    onEvent: (event) => {
      if (event.kind === "nack") rejections.push(event.error.message);
    },
  });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await cache.close();
  });
  const { port } = await server.listen({ port: 0 });
  return { uri: `127.0.0.1:${String(port)}`, rejections: () => rejections };
}

async function edit(file: string, from: string, to: string): Promise<void> {
  await writeFile(file, (await readFile(file, "utf8")).replaceAll(from, to));
}

it("shows what the control plane serves as it changes, and rejects what it cannot use", async () => {
  const dir = await copyOfMesh();
  const { uri, rejections } = await serve(dir);
  const client = createClient({
    bootstrap: {
      json: {
        xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
        node: { id: "test" },
      },
    },
  });
  onTestFinished(() => client.close());
  const lines: string[] = [];
  const stop = new AbortController();
  const ended = followMesh(
    client,
    (line) => {
      lines.push(line);
    },
    stop.signal,
  );
  const said = (text: string): Promise<void> =>
    expect
      .poll(() => lines.filter((line) => line.includes(text)), { timeout: 20_000 })
      .not.toEqual([]);

  ended.catch(() => undefined);
  await said("cluster blue       EDS, waits 1 s for a connection (version");
  await said("endpoints          + blue, + green");
  await said("greeter            90 % blue at 127.0.0.1:50051, 10 % green at 127.0.0.1:50052");

  const at = (type: string, name: string): string => join(dir, "mesh.example", type, name);
  await edit(at("routes", "greeter.yaml"), "weight: 90", "weight: 10");
  await said("greeter            50 % blue at 127.0.0.1:50051, 50 % green at 127.0.0.1:50052");

  await edit(at("clusters", "blue.yaml"), "connect_timeout: 1s", "connect_timeout: 20s");
  await said("still EDS, waits 1 s for a connection: a connection may take 10 s at most");
  expect(rejections()).toEqual([expect.stringContaining("a connection may take 10 s at most")]);

  stop.abort();
  await expect(ended).rejects.toThrow("aborted");
});
