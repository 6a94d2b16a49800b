/**
 * Parts to read and to watch single files, which other packages share with the folder.
 * @packageDocumentation
 */
export { readBytes } from "./file-parser.ts";
export { type FileStats, type FileSystem, machineFiles, type OpenFile } from "./file-system.ts";
export {
  createFolderWatch,
  type FolderWatch,
  type FolderWatchOptions,
  type WatchDirectory,
} from "./folder-watch.ts";
export { type FolderProblem, formatProblem } from "./folder-problem.ts";
export { followLinks, type LinkEntries } from "./follow-links.ts";
export {
  createDebounce,
  createPatience,
  type Debounce,
  type DebounceOptions,
  type Patience,
  repeatEvery,
} from "./pacing.ts";
export type { ProblemCode } from "./problem-codes.ts";
export { type NativeFile, readNativeFile } from "./native-file.ts";
export { readResponseFile, type ResponseFile } from "./response-file.ts";
export { isGone } from "./walk-folder.ts";
