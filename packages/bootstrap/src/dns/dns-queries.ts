import type { SrvRecord } from "node:dns";

import { XdsError } from "@xdstp/core";

/** What is asked of DNS: a `Resolver` of `node:dns/promises` is one. Each rejects with a `code` as those of Node do. */
export interface DnsQueries {
  /** SRV records. */
  resolveSrv(name: string): Promise<readonly SrvRecord[]>;
  /** IPv4 addresses. */
  resolve4(name: string): Promise<readonly string[]>;
  /** IPv6 addresses. */
  resolve6(name: string): Promise<readonly string[]>;
}

/** The records of a query; none where DNS says that there are none. Throws an XdsError, UNAVAILABLE, where it does not say. */
export async function recordsOf<Record>(
  what: string,
  query: () => Promise<readonly Record[]>,
): Promise<readonly Record[]> {
  try {
    return await query();
  } catch (error) {
    const { code = String(error) } = error as { readonly code?: string };
    if (code === "ENOTFOUND" || code === "ENODATA") return [];
    throw new XdsError("UNAVAILABLE", `DNS did not answer for ${what}: ${code}`, { cause: error });
  }
}
