import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createCache } from "@xdstp/cache";
import { createServer } from "@xdstp/server";

/** Examples that are type-checked and not run, with why. All others run. */
export const notRun: ReadonlyMap<string, string> = new Map([
  ["@xdstp/client 5", "it follows its configuration for as long as the process lives"],
]);

/** Files of a reader's own that examples name, by path. */
const files: Readonly<Record<string, string | Uint8Array>> = {
  "gen/envoy/config/cluster/v3/cluster_pb.js": 'export * from "@xdstp/protos/envoy/cluster";\n',
  "gen/envoy/config/cluster/v3/cluster_pb.d.ts": 'export * from "@xdstp/protos/envoy/cluster";\n',
  "own.binpb": toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [{ name: "own.proto", syntax: "proto3" }] }),
  ),
};

/** Writes the files that a reader has and an example does not show. */
export function writeStandIns(folder: string): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The control plane that a reader runs on `localhost:18000`, on a port of its own; `at` puts that into an example. */
export async function useStandInServer(): Promise<{
  readonly at: (code: string) => string;
  close(): Promise<void>;
}> {
  const cache = createCache();
  cache.put({
    typeUrl: "type.googleapis.com/acme.v1.Flag",
    name: "xdstp://acme/acme.v1.Flag/shop/dark-mode",
    value: Buffer.from("on"),
  });
  const server = createServer({ source: cache });
  const { port } = await server.listen({ port: 0, host: "localhost" });
  return {
    at: (code) => code.replaceAll("localhost:18000", `localhost:${port}`),
    close: () => server.close({ graceMs: 0 }),
  };
}
