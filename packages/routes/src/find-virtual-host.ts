import type { RouteConfiguration, VirtualHost } from "@xdstp/protos/envoy/route";
import { firstValue, type ReadRequest } from "./route-request.ts";

/** A virtual host, and the domain of it that the host of a request has. */
export interface FoundVirtualHost {
  readonly virtualHost: VirtualHost;
  readonly domain: string;
}

/**
 * Returns the virtual host of a request: an exact domain before the longest `*.suffix`, before the longest `prefix.*`, before `*`. Domains are compared in lower case.
 */
export function findVirtualHost(
  config: RouteConfiguration,
  request: ReadRequest,
): FoundVirtualHost | undefined {
  const sent = (hostOf(config, request) ?? missingHost(config))?.toLowerCase();
  if (sent === undefined) return undefined;
  const host = config.ignorePortInHostMatching ? withoutPort(sent) : sent;
  const found = config.virtualHosts
    .flatMap((virtualHost) => virtualHost.domains.map((domain) => ({ virtualHost, domain })))
    .map((candidate) => ({ candidate, rank: rankOf(candidate.domain.toLowerCase(), host) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((a, b) => compareRanks(a.rank ?? [], b.rank ?? []));
  return found[0]?.candidate;
}

function hostOf({ vhostHeader }: RouteConfiguration, request: ReadRequest): string | undefined {
  return vhostHeader === "" ? request.authority : firstValue(request, vhostHeader);
}

/** Without another domain than `*`, Envoy does not look at the host. */
function missingHost({ virtualHosts }: RouteConfiguration): string | undefined {
  const isPlain = virtualHosts.every(({ domains }) => domains.every((domain) => domain === "*"));
  return isPlain ? "" : undefined;
}

/** Returns how close a domain is to a host, the smallest first; undefined where it does not match. A wildcard needs one character at least. */
function rankOf(domain: string, host: string): readonly number[] | undefined {
  if (domain === "*") return [3, 0];
  if (domain.startsWith("*"))
    return host.length >= domain.length && host.endsWith(domain.slice(1))
      ? [1, -domain.length]
      : undefined;
  if (domain.endsWith("*"))
    return host.length >= domain.length && host.startsWith(domain.slice(0, -1))
      ? [2, -domain.length]
      : undefined;
  return domain === host ? [0, 0] : undefined;
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  return (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0);
}

/** Returns a host without its port: `shop.example:8080` and `[::1]:8080`. */
export function withoutPort(host: string): string {
  return /^(.*):\d+$/.exec(host)?.[1] ?? host;
}
