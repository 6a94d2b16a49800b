import { XdsError } from "@xdstp/core";

/** Throws an XdsError where the options of a server have nothing to serve. Types forbid it; a program without types finds out here. */
export function checkSource(options: { readonly source?: unknown } | undefined): void {
  const source = options?.source as { readonly topic?: unknown } | null | undefined;
  if (typeof source?.topic === "function") return;
  const what = source === undefined ? "missing" : "not a ResourceSource";
  throw new XdsError(
    "INVALID_ARGUMENT",
    `source is ${what}; give createServer a cache: createServer({ source: createCache() })`,
  );
}
