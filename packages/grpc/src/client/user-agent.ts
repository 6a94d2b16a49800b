import { readFileSync } from "node:fs";

/** What a client calls itself, as gRPC forms it, behind what its program calls itself. */
export function userAgentOf(program?: string): string {
  return `${program === undefined ? "" : `${program} `}grpc-node-xdstp${version()}`;
}

/** Empty where a bundler has left the manifest behind. */
function version(): string {
  try {
    return `/${(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string }).version}`;
  } catch {
    return "";
  }
}
