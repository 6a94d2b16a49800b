import type { FileRegistry, Registry } from "@bufbuild/protobuf";
import { create, createFileRegistry, createRegistry } from "@bufbuild/protobuf";
import type { FileDescriptorProto, FileDescriptorSet } from "@bufbuild/protobuf/wkt";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { envoyRegistry } from "./envoy-registry.ts";
import { readDescriptorSet } from "./read-descriptor-set.ts";

type Files = ReadonlyMap<string, FileDescriptorProto>;

/**
 * The Envoy API with a user's own types: each set is what `buf build -o FILE` wrote (.binpb, .bin, .json or .txtpb, also with .gz or .zst).
 *
 * A type of a set replaces the type of the same name in Envoy's API and in the sets before it. Other types of Envoy's API go on with Envoy's own parts, so an older copy of them in a set does no harm. Files that a set imports but does not hold are taken from the other sets, then from Envoy's API.
 *
 * Throws an Error that counts the set from 1 and says what is wrong with it.
 */
export function registryWith(...descriptorSets: Uint8Array[]): Registry {
  if (descriptorSets.length === 0) return envoyRegistry();
  const sets = descriptorSets.map((bytes, index) => located(index, () => readDescriptorSet(bytes)));
  const files: Files = new Map(sets.flatMap((set) => set.file.map((file) => [file.name, file])));
  const registries = sets.map((set, index) => located(index, () => linked(set, files)));
  return createRegistry(envoyRegistry(), ...registries);
}

function located<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`descriptor set ${index + 1}: ${reason}`, { cause });
  }
}

/** A registry of the set and what it imports, dependencies first. */
function linked(set: FileDescriptorSet, others: Files): FileRegistry {
  const own: Files = new Map(set.file.map((file) => [file.name, file]));
  const ordered = new Map<string, FileDescriptorProto>();
  const visited = new Set<string>();
  const add = (name: string, importer: string): void => {
    if (visited.has(name)) return;
    visited.add(name);
    const file = own.get(name) ?? others.get(name) ?? envoyRegistry().getFile(name)?.proto;
    if (file === undefined) throw new Error(missing(name, importer));
    for (const dependency of file.dependency) add(dependency, name);
    ordered.set(name, file);
  };
  for (const file of set.file) add(file.name, file.name);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...ordered.values()] }));
}

function missing(name: string, importer: string): string {
  return `${importer} imports ${name}, which is neither in a set nor in Envoy's API; build the set with its imports, as buf does by default`;
}
