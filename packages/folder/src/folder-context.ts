import { createRegistry, type Registry } from "@bufbuild/protobuf";
import type { Put, ResourceType } from "@xdstp/core";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { ListCollectionSchema, ResourceLocatorSchema } from "@xdstp/protos/xds";
import type { ProblemCode } from "./problem-codes.ts";
import { envoyTypes } from "@xdstp/resource-types";
import type { PathStep } from "@xdstp/validate";
import type { FolderProblem } from "./folder-problem.ts";

/** What {@link readFolder} and {@link createFolderFeed} have in common. */
export interface FolderOptions {
  /** The folder. Problems name files below it as it is given here. */
  readonly dir: string;
  /** The messages that files may hold, for instance `envoyRegistry()` of `@xdstp/protos/envoy`. */
  readonly registry: Registry;
  /** Says which field of a payload holds its name. Absent: Envoy's types. A type that is not among them has no such field. */
  readonly types?: readonly ResourceType[];
  /** The authorities that are served, in this folder and next to it: a reference to an xdstp name of another one is reported (S-AUTH-10). Absent: those that the folder has. */
  readonly authorities?: readonly string[];
  /** Problems with these codes are warnings, and what has them is served, for clients that do not mind: `["constraint"]` for gRPC, which does not check constraints. Of what cannot be read they change nothing. Absent: none. */
  readonly allow?: readonly ProblemCode[];
  /** Whose rules resources have to follow, in addition to what their types declare. Absent: those of Envoy. */
  readonly clients?: readonly ResourceClient[];
}

/** Clients that reject more than the types of resources say. */
export type ResourceClient = "envoy" | "grpc";

/** The options of the folder, for every part of this package. */
export interface FolderContext {
  /** As it was given; problems name files below it. */
  readonly dir: string;
  /** The messages that files may hold, the wrappers included. */
  readonly registry: Registry;
  /** What the caller gave, for a thread to make a context of it. */
  readonly given: Pick<FolderOptions, "registry" | "types">;
  /** By type URL. */
  readonly types: ReadonlyMap<string, ResourceType>;
  /** Absent: those that the folder has. */
  readonly authorities?: readonly string[];
  /** Codes whose problems are warnings. */
  readonly allow: ReadonlySet<ProblemCode>;
  /** Whose rules resources have to follow. */
  readonly clients: readonly ResourceClient[];
  /** The text of a file that an editor has and has not saved, by the path that problems name. It is read instead of the file. */
  readonly unsaved?: (file: string) => string | undefined;
  /** Checks the content of each resource that is read. Absent: whatever can be encoded is good. */
  readonly check?: ResourceCheck;
}

/** Returns what is wrong with the content of a resource that can be encoded. */
export type ResourceCheck = (put: Put) => readonly ResourceFault[];

/** What is wrong with a value of a payload. */
export interface ResourceFault extends Pick<FolderProblem, "code" | "message" | "rule" | "hint"> {
  /** The way from the payload to the value. */
  readonly path: readonly PathStep[];
}

/** The context of what a caller asks for. */
export function folderContext({
  dir,
  registry,
  types = envoyTypes,
  authorities,
  allow = [],
  clients = ["envoy"],
}: FolderOptions): FolderContext {
  return {
    dir,
    given: { registry, ...(types !== envoyTypes && { types }) },
    registry: withWrappers(registry),
    types: new Map(types.map((type) => [type.typeUrl, type])),
    allow: new Set(allow),
    clients,
    ...(authorities && { authorities }),
  };
}

const wrappers = createRegistry(
  ResourceSchema,
  DiscoveryResponseSchema,
  ListCollectionSchema,
  ResourceLocatorSchema,
);

/** Returns a registry with the wrappers, which replace types of the same names. Its types are not copied: that would decode all files of `envoyRegistry()`. */
function withWrappers(registry: Registry): Registry {
  const added: Pick<Registry, "get" | "getMessage" | typeof Symbol.iterator> = {
    get: (typeName) => wrappers.get(typeName) ?? registry.get(typeName),
    getMessage: (typeName) => wrappers.getMessage(typeName) ?? registry.getMessage(typeName),
    *[Symbol.iterator]() {
      for (const type of registry) if (wrappers.get(type.typeName) === undefined) yield type;
      yield* wrappers;
    },
  };
  return Object.create(registry, Object.getOwnPropertyDescriptors(added)) as Registry;
}
