import type { ResourceType } from "@xdstp/core";
import {
  create,
  createFileRegistry,
  createRegistry,
  type DescFile,
  fromBinary,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { envoyRegistry } from "@xdstp/protos/envoy";
import type { ResourceClient } from "./folder-context.ts";
import type { FolderProblem } from "./folder-problem.ts";
import type { ProblemCode } from "./problem-codes.ts";
import type { FilePut } from "./read-file.ts";
import type { FileReference } from "./foreign-references.ts";

/** The options of the folder for the process that parses large files. */
export interface ParserSetup {
  readonly dir: string;
  readonly registry: readonly RegistryPart[];
  /** true: the content of resources is checked. */
  readonly isChecked: boolean;
  readonly allow: readonly ProblemCode[];
  readonly clients: readonly ResourceClient[];
  /** The types with their name fields. Absent: the types of Envoy. Functions cannot be sent, so references of other types are read from the payloads afterwards. */
  readonly types?: readonly Pick<ResourceType, "typeUrl" | "nameField">[];
}

/** A request to the process. It answers each request except `setup` with one message. */
export type ParseRequest =
  | { readonly kind: "setup"; readonly setup: ParserSetup }
  /** Reads and parses a file. The answer is a {@link ParseSummary}. */
  | { readonly kind: "parse"; readonly segments: readonly string[] }
  /** The answer is a {@link ParsedPuts} with the next resources: as many as the receiver can process without a long pause of its event loop. */
  | { readonly kind: "puts" };

/** The content of a file without its resources. */
export interface ParseSummary {
  /** The SHA-256 of the bytes that were read, in base64. */
  readonly hash: string;
  /** The number of resources that follow. */
  readonly count: number;
  readonly problems: readonly FolderProblem[];
  readonly warnings: readonly FolderProblem[];
  readonly references: readonly FileReference[];
}

/** Some of the resources of a file. */
export interface ParsedPuts {
  readonly puts: readonly FilePut[];
}

/** The number of files that are encoded before other work of the event loop runs. */
const filesAtOnce = 10;

/** A part of a registry that can be sent to another process. */
interface RegistryPart {
  /** Encoded descriptors of files, dependencies first. Absent: those of the Envoy API, which every process has. */
  readonly files?: readonly Uint8Array[];
  /** The names of the registry's types in these files. */
  readonly types: readonly string[];
}

/** Splits a registry into parts. Two files of the same name, such as the version of a user and that of the Envoy API, go into different parts. */
export async function partsOfRegistry(registry: Registry): Promise<readonly RegistryPart[]> {
  const envoy: string[] = [];
  const parts: Part[] = [];
  const partOfFile = new Map<DescFile, Part>();
  for (const type of registry) {
    const { file, typeName } = type;
    if (envoyRegistry().getFile(file.proto.name)?.proto === file.proto) {
      envoy.push(typeName);
      continue;
    }
    const part = partOfFile.get(file) ?? partFor(file, parts);
    partOfFile.set(file, part);
    part.types.push(typeName);
  }
  const encoded: RegistryPart[] = [{ types: envoy }];
  for (const { files, types } of parts)
    encoded.push({ files: await encodeFiles([...files.values()]), types });
  return encoded;
}

/** Creates a registry from its parts. */
export function registryOfParts(parts: readonly RegistryPart[]): Registry {
  return createRegistry(
    ...parts.flatMap(({ files, types }) => {
      const registry =
        files === undefined
          ? envoyRegistry()
          : createFileRegistry(
              create(FileDescriptorSetSchema, {
                file: files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes)),
              }),
            );
      return types.flatMap((name) => registry.get(name) ?? []);
    }),
  );
}

interface Part {
  /** The files by name, dependencies first. */
  readonly files: Map<string, DescFile>;
  readonly types: string[];
}

function partFor(file: DescFile, parts: Part[]): Part {
  const needed = withDependencies(file, new Set());
  const fitting = parts.find(({ files }) =>
    [...needed].every((one) => (files.get(one.name) ?? one) === one),
  );
  const part = fitting ?? { files: new Map(), types: [] };
  if (fitting === undefined) parts.push(part);
  for (const one of needed) part.files.set(one.name, one);
  return part;
}

function withDependencies(file: DescFile, found: Set<DescFile>): ReadonlySet<DescFile> {
  if (found.has(file)) return found;
  for (const dependency of file.dependencies) withDependencies(dependency, found);
  return found.add(file);
}

async function encodeFiles(files: readonly DescFile[]): Promise<readonly Uint8Array[]> {
  const encoded: Uint8Array[] = [];
  for (const [at, { proto }] of files.entries()) {
    if (at % filesAtOnce === filesAtOnce - 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    encoded.push(toBinary(FileDescriptorProtoSchema, proto));
  }
  return encoded;
}
