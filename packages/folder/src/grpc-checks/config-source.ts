import type { Oneof } from "../envoy-checks/envoy-check.ts";

/** A generated `ConfigSource`. */
export interface ConfigSource {
  readonly configSourceSpecifier: Oneof;
}

/** Returns true if a source is the stream that the client has, the only source that gRPC supports. */
export function isOwnStream(source: ConfigSource | undefined): boolean {
  return ["ads", "self"].includes(source?.configSourceSpecifier.case ?? "");
}
