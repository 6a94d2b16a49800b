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

/** What the process that parses large files has to know of the folder. */
export interface ParserSetup {
  readonly dir: string;
  readonly registry: readonly RegistryPart[];
  /** Whether the content of resources is checked. */
  readonly isChecked: boolean;
  readonly allow: readonly ProblemCode[];
  readonly clients: readonly ResourceClient[];
  /** Absent: Envoy's types. Functions cannot be sent, so the references of other types are read from the payloads afterwards. */
  readonly types?: readonly Pick<ResourceType, "typeUrl" | "nameField">[];
}

/** Sent to the process. It answers each but the first with one message. */
export type ParseRequest =
  | { readonly kind: "setup"; readonly setup: ParserSetup }
  /** Reads and parses a file. Answered with a {@link ParseSummary}. */
  | { readonly kind: "parse"; readonly segments: readonly string[] }
  /** Answered with the next resources, a {@link ParsedPuts}: as many as the event loop of the receiver can process without a long pause. */
  | { readonly kind: "puts" };

/** What a file holds, without its resources. */
export interface ParseSummary {
  /** The SHA-256 of the bytes that were read, in base64. */
  readonly hash: string;
  /** The number of resources that follow. */
  readonly count: number;
  readonly problems: readonly FolderProblem[];
  readonly warnings: readonly FolderProblem[];
  readonly references: readonly FileReference[];
}

/** Some resources. */
export interface ParsedPuts {
  readonly puts: readonly FilePut[];
}

/** After this many files the event loop gets its turn. */
const filesAtOnce = 10;

/** A part of a registry that can be sent to another process. */
interface RegistryPart {
  /** Encoded descriptors of files, dependencies first. Absent: those of Envoy's API, which every process has. */
  readonly files?: readonly Uint8Array[];
  /** The types that the registry has of these files. */
  readonly types: readonly string[];
}

/** Takes a registry apart. Two files of one name, which the versions of a user and of Envoy's API may have, go into different parts. */
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

/** Puts the parts together again. */
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
  /** By name, dependencies first. */
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
