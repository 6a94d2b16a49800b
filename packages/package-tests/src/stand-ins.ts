import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { createCache } from "@xdstp/cache";
import { createServer } from "@xdstp/server";

/** Examples that are type-checked and not run, with why. All others run. */
export const notRun: ReadonlyMap<string, string> = new Map([
  ["@xdstp/client 5", "it follows its configuration for as long as the process lives"],
]);

/** Files of a reader's own that examples name, by path. */
const files: Readonly<Record<string, string | Uint8Array>> = {
  "gen/acme/v1/flag_pb.js": `import { fileDesc, messageDesc } from "@bufbuild/protobuf/codegenv2";
export const FlagSchema = messageDesc(fileDesc("${Buffer.from(flagFile()).toString("base64")}"), 0);
`,
  "gen/acme/v1/flag_pb.d.ts": `import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
export type Flag = Message<"acme.v1.Flag"> & { name: string; enabled: boolean };
export declare const FlagSchema: GenMessage<Flag>;
`,
  "own.binpb": toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [{ name: "own.proto", syntax: "proto3" }] }),
  ),
};

/** Returns the descriptor of a file with the message `acme.v1.Flag`. */
function flagFile(): Uint8Array {
  const label = FieldDescriptorProto_Label.OPTIONAL;
  return toBinary(
    FileDescriptorProtoSchema,
    create(FileDescriptorProtoSchema, {
      name: "acme/v1/flag.proto",
      package: "acme.v1",
      syntax: "proto3",
      messageType: [
        {
          name: "Flag",
          field: [
            { name: "name", number: 1, label, type: FieldDescriptorProto_Type.STRING },
            { name: "enabled", number: 2, label, type: FieldDescriptorProto_Type.BOOL },
          ],
        },
      ],
    }),
  );
}

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
