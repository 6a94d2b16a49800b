import { createRequire } from "node:module";
import type * as Yaml from "yaml";

const require = createRequire(import.meta.url);
let parser: typeof Yaml | undefined;

/**
 * The parser that keeps the place of each value, for positions of problems and for what Envoy reads.
 * It is loaded at the first call: loading takes as long as a check of a small file, and a file without problems does not need it.
 */
export function exactYaml(): typeof Yaml {
  parser ??= require("yaml") as typeof Yaml;
  return parser;
}
