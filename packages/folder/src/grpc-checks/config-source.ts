import type { Oneof } from "../envoy-checks/envoy-check.ts";

/** A generated `ConfigSource`. */
export interface ConfigSource {
  readonly configSourceSpecifier: Oneof;
}

/** Whether a source is the stream that the client has: the only one that gRPC knows. */
export function isOwnStream(source: ConfigSource | undefined): boolean {
  return ["ads", "self"].includes(source?.configSourceSpecifier.case ?? "");
}
