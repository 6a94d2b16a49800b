import { XdsError } from "@xdstp/core";

/**
 * Returns the reason why no server can run on a runtime. undefined: it can.
 * @param versions - `process.versions` of the runtime
 */
export function runtimeFault(
  versions: Readonly<Record<string, string | undefined>>,
): XdsError | undefined {
  const { deno } = versions;
  if (deno === undefined) return undefined;
  return new XdsError(
    "UNIMPLEMENTED",
    `a server cannot run on Deno ${deno}: its HTTP/2 aborts the process when a client leaves; run the server on Node`,
  );
}
