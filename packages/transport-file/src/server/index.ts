/**
 * The server's end of filesystem subscriptions: writes the resources of a source as files that
 * Envoy follows with `path_config_source`.
 *
 * @packageDocumentation
 */
export { createFileExport, type FileExport, type FileExportOptions } from "./file-export.ts";
export type { ExportedFile, ExportNote, ExportState } from "./planned-files.ts";
export { fileNameOf } from "./file-name.ts";
export { pathSource } from "./path-source.ts";
export { type FileMode, replaceFile } from "./replace-file.ts";
export type { WritableFiles } from "./writable-files.ts";
