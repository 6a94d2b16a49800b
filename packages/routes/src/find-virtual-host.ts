import type { RouteConfiguration, VirtualHost } from "@xdstp/protos/envoy/route";
import { firstValue, type ReadRequest } from "./route-request.ts";

/** A virtual host, and its domain that matches the host of a request. */
export interface FoundVirtualHost {
  readonly virtualHost: VirtualHost;
  readonly domain: string;
}

/**
 * Returns the virtual host of a request. An exact domain wins over the longest `*.suffix`, that
 * over the longest `prefix.*`, and that over `*`. Domains are compared in lower case.
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

/**
 * Returns the host of a request that has none: an empty one if `*` is the only domain, because
 * Envoy then does not look at the host, otherwise undefined.
 */
function missingHost({ virtualHosts }: RouteConfiguration): string | undefined {
  const isPlain = virtualHosts.every(({ domains }) => domains.every((domain) => domain === "*"));
  return isPlain ? "" : undefined;
}

/**
 * Returns the rank of a domain for a host, where the lowest rank wins, or undefined if the domain
 * does not match. A wildcard matches at least one character.
 */
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

/** Returns a host without its port, as in `shop.example:8080` or `[::1]:8080`. */
export function withoutPort(host: string): string {
  return /^(.*):\d+$/.exec(host)?.[1] ?? host;
}
