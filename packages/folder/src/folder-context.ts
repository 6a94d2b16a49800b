import { createRegistry, type Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { envoyTypes } from "@xdstp/resource-types";
import type { FolderOptions } from "./read-folder.ts";

/** What every part of this package is told about the folder. */
export interface FolderContext {
  /** As it was given; problems name files below it. */
  readonly dir: string;
  /** The messages that files may hold, the wrappers included. */
  readonly registry: Registry;
  /** By type URL. */
  readonly types: ReadonlyMap<string, ResourceType>;
  /** Absent: those that the folder has. */
  readonly authorities?: readonly string[];
}

/** The context of what a caller asks for. */
export function folderContext({ dir, registry, types = envoyTypes, authorities }: FolderOptions): FolderContext {
  return {
    dir,
    registry: createRegistry(registry, ResourceSchema, DiscoveryResponseSchema),
    types: new Map(types.map((type) => [type.typeUrl, type])),
    ...(authorities && { authorities }),
  };
}
