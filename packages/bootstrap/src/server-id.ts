import { createHash } from "node:crypto";

import { credentialsKey } from "./credentials/credentials-key.ts";
import type { ServerConfig } from "./server-config.ts";

/** Equal for servers that are equal, however they are written: those share a stream (C-AGG-1). What may be secret in it is hashed. */
export function serverId({
  uri,
  credentials,
  features,
  variant,
  aggregated = true,
  metadata = {},
  rate,
  keepRemoved,
}: ServerConfig): string {
  return JSON.stringify([
    uri,
    credentialsKey(credentials),
    [...features].sort(),
    variant,
    aggregated,
    rate === undefined ? null : [rate.burst, rate.perSecond],
    keepRemoved ?? !features.has("fail_on_data_errors"),
    hashOf(metadata),
  ]);
}

function hashOf(metadata: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.length === 0
    ? ""
    : createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
