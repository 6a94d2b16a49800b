import { createRegistry, type Registry } from "@bufbuild/protobuf";
import type { Put, ResourceType } from "@xdstp/core";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { ListCollectionSchema, ResourceLocatorSchema } from "@xdstp/protos/xds";
import type { ProblemCode } from "./problem-codes.ts";
import { envoyTypes } from "@xdstp/resource-types";
import type { PathStep } from "@xdstp/validate";
import type { FolderProblem } from "./folder-problem.ts";

/** The common options of {@link readFolder} and {@link createFolderFeed}. */
export interface FolderOptions {
  /** The path of the folder. Problems name files below it with this path. */
  readonly dir: string;
  /** The messages that files may contain, for instance `envoyRegistry()` of `@xdstp/protos/envoy`. */
  readonly registry: Registry;
  /** The types with their name fields. Absent: the types of Envoy. A type that is not among them does not have a name field. */
  readonly types?: readonly ResourceType[];
  /** The authorities that are served by this folder or otherwise. A reference to an xdstp name of another authority is reported (S-AUTH-10). Absent: the authorities of the folder. */
  readonly authorities?: readonly string[];
  /** Codes of problems that count as warnings, so that the resource is served: `["constraint"]` for gRPC clients, which do not check constraints. A resource that cannot be read stays a problem. Absent: none. */
  readonly allow?: readonly ProblemCode[];
  /** The clients whose checks the resources have to pass, in addition to the constraints of their types. Absent: Envoy. */
  readonly clients?: readonly ResourceClient[];
}

/** Clients that reject resources for more reasons than the constraints of their types. */
export type ResourceClient = "envoy" | "grpc";

/** The options of the folder, as the modules of this package use them. */
export interface FolderContext {
  /** The path of the folder, as it was given. Problems name files below it with this path. */
  readonly dir: string;
  /** The messages that files may contain, including the wrappers. */
  readonly registry: Registry;
  /** The options of the caller, from which another process creates its context. */
  readonly given: Pick<FolderOptions, "registry" | "types">;
  /** The types by type URL. */
  readonly types: ReadonlyMap<string, ResourceType>;
  /** The authorities that are served. Absent: the authorities of the folder. */
  readonly authorities?: readonly string[];
  /** Codes of problems that count as warnings. */
  readonly allow: ReadonlySet<ProblemCode>;
  /** The clients whose checks the resources have to pass. */
  readonly clients: readonly ResourceClient[];
  /** Returns the unsaved text of a file in an editor, which replaces the content of the file. The path is the one that problems have. Returns `undefined` if there is none. */
  readonly unsaved?: (file: string) => string | undefined;
  /** Checks the content of each resource. Absent: every resource that can be encoded is valid. */
  readonly check?: ResourceCheck;
}

/** Returns the problems of the content of a resource that can be encoded. */
export type ResourceCheck = (put: Put) => readonly ResourceFault[];

/** A problem of a value in a payload. */
export interface ResourceFault extends Pick<FolderProblem, "code" | "message" | "rule" | "hint"> {
  /** The path from the payload to the value. */
  readonly path: readonly PathStep[];
}

/** Creates the context from the options of a caller. */
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

/** Returns a registry with the wrappers, which replace types of the same names. The types of `registry` are not copied, since that would decode all files of `envoyRegistry()`. */
export function withWrappers(registry: Registry): Registry {
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
