import type { JsonObject } from "@bufbuild/protobuf";
import type { FolderProblem } from "../folder-problem.ts";

/** A configuration of Envoy, as a folder that is served and the rest, with which Envoy starts. Nothing is written yet: see `writeImport`. */
export interface Imported {
  /** One for each resource. */
  readonly files: readonly ImportedFile[];
  /** What Envoy starts with, in YAML. */
  readonly bootstrap: Pick<ImportedFile, "text" | "isSecret">;
  /** Static resources that stay in the bootstrap, and why. */
  readonly kept: readonly UnmovedResource[];
  /** Resources that are in neither, and why. */
  readonly missing: readonly UnmovedResource[];
  /** What else is not as it was; each one sentence. */
  readonly notes: readonly string[];
  /** Why nothing can be imported. Empty: all of the above can be used. */
  readonly problems: readonly FolderProblem[];
  /** What does no harm but may be a mistake. */
  readonly warnings: readonly FolderProblem[];
}

/** A file of an imported folder. */
export interface ImportedFile {
  /** Below the folder, with slashes. */
  readonly path: string;
  /** The type of the resource. */
  readonly typeUrl: string;
  /** The name of the resource. */
  readonly name: string;
  /** YAML. */
  readonly text: string;
  /** It holds a private key, a password or the like. */
  readonly isSecret: boolean;
}

/** A resource that has no file. */
export interface UnmovedResource {
  /** Its type. */
  readonly typeUrl: string;
  /** Its name. */
  readonly name: string;
  /** Why, as a part of a sentence after the name. */
  readonly reason: string;
}

/** How Envoy gets what is in the folder: parts of a bootstrap, in JSON form. */
export interface ImportConnection {
  /** Used as far as the bootstrap has no `id` and `cluster` of its own. */
  readonly node: JsonObject;
  /** Replaces that of the bootstrap. Absent: it stays. */
  readonly admin?: JsonObject;
  /** `ads_config`, and where listeners and clusters come from. */
  readonly dynamicResources: JsonObject;
  /** The static cluster that leads to the server. One of the same name in the bootstrap is replaced, with its `dynamic_resources`. */
  readonly cluster: JsonObject;
}

/** Nothing but problems. */
export function failedImport(
  problems: readonly FolderProblem[],
  warnings: readonly FolderProblem[] = [],
): Imported {
  return {
    files: [],
    bootstrap: { text: "", isSecret: false },
    kept: [],
    missing: [],
    notes: [],
    problems,
    warnings,
  };
}
