/**
 * Feature flags from xDS resources, by the standards of OpenFeature.
 *
 * ```ts
 * const collection = "xdstp://acme.example/google.protobuf.Struct/flags/*";
 * const flags = createFlags({ source: cache, collection });
 * const server = createServer({ source: cache, routes: flags.routes, http: [flags.http] });
 * ```
 *
 * @packageDocumentation
 */
export { createFlags, type Flags } from "./create-flags.ts";
export type { FlagsOptions, FlagView } from "./flags-options.ts";
export type { FlagsStatus } from "./flags-status.ts";
export { defaultFlagLimits, type FlagLimits } from "./flag-limits.ts";
export {
  type FlagDefinition,
  type FlagJson,
  type FlagReader,
  structFlags,
  typedFlags,
} from "./flag-reader.ts";
export type { RejectedFlags } from "./flag-document.ts";
