/**
 * A folder of YAML, JSON and protobuf files as a feed of resources.
 *
 * ```ts
 * import { createFolderFeed } from "@xdstp/folder";
 * import { envoyRegistry } from "@xdstp/protos/envoy";
 *
 * const feed = createFolderFeed({ dir: "config", registry: envoyRegistry(), onEvent: console.log });
 * ```
 * @packageDocumentation
 */
export { createFolderFeed, type FolderFeed, type FolderFeedOptions } from "./folder-feed.ts";
export type { FolderOrigin } from "./folder-origin.ts";
export { readFolder, type FolderContent } from "./read-folder.ts";
export { createLineFinder, type PlacedResource, type ResourcePlace } from "./resource-lines.ts";
export {
  type BootstrapNames,
  type BootstrapReader,
  createBootstrapReader,
} from "./bootstrap-names.ts";
export { checkBootstrap, type BootstrapProblems } from "./check-bootstrap.ts";
export { checkFile, type FileProblems } from "./check-file.ts";
export {
  checkFolder,
  createFolderChecker,
  type CheckedFolder,
  type FolderChecker,
  type NamedResource,
} from "./check-folder.ts";
export {
  askEnvoy,
  type AskEnvoyOptions,
  type EnvoyAnswer,
  type UnusableEnvoy,
} from "./ask-envoy/ask-envoy.ts";
export {
  type BootstrapImportOptions,
  importBootstrap,
  mergeBootstrap,
} from "./import/import-bootstrap.ts";
export {
  type ConfigDumpOptions,
  importConfigDump,
} from "./import/config-dump/import-config-dump.ts";
export {
  type GatewayApiOptions,
  importGatewayApi,
} from "./import/gateway-api/import-gateway-api.ts";
export type { ObjectFile } from "./import/gateway-api/kubernetes-objects.ts";
export type {
  ImportConnection,
  Imported,
  ImportedFile,
  UnmovedResource,
} from "./import/imported.ts";
export { type ImportConflict, type ImportTarget, writeImport } from "./import/write-import.ts";
export type { FolderOptions, ResourceClient } from "./folder-context.ts";
export { looksLikeAccident } from "./folder-committer.ts";
export type { FolderEvent } from "./folder-event.ts";
export type { NodeSinks } from "./folder-entry.ts";
export { formatProblem, type FolderProblem } from "./folder-problem.ts";
export { type ProblemCode, problemCodes } from "./problem-codes.ts";

// For tests, and for file systems that `fs.watch` does not support.
export type { WatchDirectory } from "./folder-watch.ts";
