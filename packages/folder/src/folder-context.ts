import { createRegistry, type Registry } from "@bufbuild/protobuf";
import type { Put, ResourceType } from "@xdstp/core";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { ListCollectionSchema, ResourceLocatorSchema } from "@xdstp/protos/xds";
import { envoyTypes } from "@xdstp/resource-types";
import type { PathStep } from "@xdstp/validate";
import type { Position } from "./find-position.ts";

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
}

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
  /** Is given each resource as it is read, for checks of its content. Large files are then read in this process too. */
  readonly onResource?: OnResource;
}

/** `locate` gives the position of a value of the payload, as far as the format has one. */
export type OnResource = (
  put: Put,
  file: string,
  locate: (steps: readonly PathStep[]) => Partial<Position>,
) => void;

/** The context of what a caller asks for. */
export function folderContext({
  dir,
  registry,
  types = envoyTypes,
  authorities,
}: FolderOptions): FolderContext {
  return {
    dir,
    given: { registry, ...(types !== envoyTypes && { types }) },
    registry: createRegistry(
      registry,
      ResourceSchema,
      DiscoveryResponseSchema,
      ListCollectionSchema,
      ResourceLocatorSchema,
    ),
    types: new Map(types.map((type) => [type.typeUrl, type])),
    ...(authorities && { authorities }),
  };
}
