import type { JsonObject } from "@bufbuild/protobuf";
import type { FolderProblem } from "../folder-problem.ts";

/** A configuration of Envoy as the files of a folder for a server, and a bootstrap. Nothing is written yet: see `writeImport`. */
export interface Imported {
  /** One for each resource. */
  readonly files: readonly ImportedFile[];
  /** The bootstrap in YAML. */
  readonly bootstrap: Pick<ImportedFile, "text" | "isSecret">;
  /** Static resources that stay in the bootstrap, and why. */
  readonly kept: readonly UnmovedResource[];
  /** Resources that are neither in the files nor in the bootstrap, and why. */
  readonly missing: readonly UnmovedResource[];
  /** Other differences from the configuration before, one sentence each. */
  readonly notes: readonly string[];
  /** The reasons why nothing can be imported. If it is empty, the other members can be used. */
  readonly problems: readonly FolderProblem[];
  /** Possible mistakes that do not prevent the import. */
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
  /** true: the text contains a private key, a password or the like. */
  readonly isSecret: boolean;
}

/** A resource that has no file. */
export interface UnmovedResource {
  /** Its type. */
  readonly typeUrl: string;
  /** Its name. */
  readonly name: string;
  /** The reason, as a part of a sentence after the name. */
  readonly reason: string;
}

/** The connection of Envoy to the server of the folder: parts of a bootstrap, in JSON form. */
export interface ImportConnection {
  /** `id` and `cluster`, each used if the bootstrap does not have it. */
  readonly node: JsonObject;
  /** Replaces `admin` of the bootstrap. Absent: no change. */
  readonly admin?: JsonObject;
  /** `ads_config`, and where listeners and clusters come from. */
  readonly dynamicResources: JsonObject;
  /** The static cluster that leads to the server. One of the same name in the bootstrap is replaced, with its `dynamic_resources`. */
  readonly cluster: JsonObject;
}

/** The result of an import that failed. */
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
