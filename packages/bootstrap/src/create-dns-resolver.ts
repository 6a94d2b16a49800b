import type { SrvRecord } from "node:dns";
import { Resolver } from "node:dns/promises";
import { XdsError } from "@xdstp/core";
import type { BootstrapCredentials } from "./grpc/bootstrap.ts";
import type { ServerConfig, SourceConfig } from "./server-config.ts";

/** The maximum number of targets of SRV records that become servers. */
const maxTargets = 16;

/**
 * Returns a function that finds the source of an authority in DNS: the targets of its SRV records,
 * or else the host of that name if it has an address. For an authority with a port, only the host.
 * Use it as `resolveAuthority` of `createClient`; for a federation, pass its result through
 * `createSources`. It does not cache results.
 *
 * The client connects to any host and port that DNS returns. The certificate of that server has to
 * match the authority, not the name in DNS (RFC 6125). With credentials other than TLS, the server
 * is not authenticated.
 *
 * The returned function throws an XdsError with the queries that were made: INVALID_ARGUMENT for an
 * authority that is not a host name, NOT_FOUND if DNS has no record for it (C-AUTH-5), UNAVAILABLE
 * if DNS did not answer.
 */
export function createDnsResolver({
  credentials,
  service = "_xds._tcp",
  port: usual = 443,
  queries = new Resolver({ timeout: 2_000, tries: 2 }),
  random = Math.random,
}: {
  /**
   * The credentials for the servers that are found. Default: TLS with the authorities that Node
   * trusts. A `servername` in it applies to all servers.
   */
  readonly credentials?: BootstrapCredentials;
  /** The prefix of SRV records, before the authority. Default: `_xds._tcp`. */
  readonly service?: string;
  /** The port if there is no SRV record, and the authority has no port. Default: 443. */
  readonly port?: number;
  /** Sends the queries. Default: the DNS servers of the system, with two tries of 2 s each. */
  readonly queries?: DnsQueries;
  /**
   * Selects among SRV records of equal priority. Returns a number from 0 up to 1. Default:
   * `Math.random`.
   */
  readonly random?: () => number;
} = {}): (authority: string) => Promise<SourceConfig> {
  return async (authority) => {
    const { host, port } = hostOfAuthority(authority);
    const serverAt = (target: string): ServerConfig => ({
      uri: target,
      credentials: credentialsFor(host, credentials),
      features: new Set(),
    });
    const name = `${service}.${host}`;
    const records =
      port === undefined ? await recordsOf(`SRV ${name}`, () => queries.resolveSrv(name)) : [];
    if (records.length > 0)
      return {
        servers: targetsOf(records, name, random).map(serverAt),
        authorities: [authority],
        place: `DNS (SRV ${name})`,
      };
    if (await hasAddress(queries, host))
      return {
        servers: [serverAt(`${host}:${port ?? usual}`)],
        authorities: [authority],
        place: `DNS (${host})`,
      };
    throw new XdsError(
      "NOT_FOUND",
      `DNS has ${port === undefined ? `no SRV ${name} and ` : ""}no address of ${host}`,
    );
  };
}

function credentialsFor(
  host: string,
  credentials: BootstrapCredentials = { type: "tls", refreshIntervalMs: 600_000 },
): BootstrapCredentials {
  return credentials.type === "tls" ? { servername: host, ...credentials } : credentials;
}

/**
 * Returns the targets of SRV records. A record with the target `.` means that the service does not
 * exist.
 */
function targetsOf(
  records: readonly SrvRecord[],
  name: string,
  random: () => number,
): readonly string[] {
  const usable = records
    .map((record) => ({ ...record, name: record.name.replace(/\.$/, "") }))
    .filter(({ name: target, port }) => isHostName(target) && port > 0);
  if (usable.length === 0) throw new XdsError("NOT_FOUND", `DNS has no target in SRV ${name}`);
  return orderTargets(usable, random)
    .slice(0, maxTargets)
    .map(({ name: target, port }) => `${target}:${port}`);
}

/**
 * Returns true if a host has an IPv4 or IPv6 address, even if the query for the other family fails.
 */
async function hasAddress(queries: DnsQueries, host: string): Promise<boolean> {
  const families = await Promise.allSettled([
    recordsOf(`A ${host}`, () => queries.resolve4(host)),
    recordsOf(`AAAA ${host}`, () => queries.resolve6(host)),
  ]);
  if (families.some((family) => family.status === "fulfilled" && family.value.length > 0))
    return true;
  for (const family of families) if (family.status === "rejected") throw family.reason;
  return false;
}

/** The host and the port of an authority, for DNS queries. */
interface AuthorityHost {
  readonly host: string;
  /** Absent: the authority does not have a port. */
  readonly port?: number;
}

/**
 * Throws an XdsError, INVALID_ARGUMENT, for an authority that is not `name.example` or
 * `name.example:port`. A name of one label is invalid: the resolver of the system may append its
 * search domains to it.
 */
function hostOfAuthority(authority: string): AuthorityHost {
  const [, host = "", digits] = /^([^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (!host.includes(".") || !isHostName(host))
    throw rejected(authority, "is not a host name with a dot, such as xds.example.com");
  if (port === undefined) return { host };
  if (port < 1 || port > 65_535) throw rejected(authority, "has no port from 1 to 65535");
  return { host, port };
}

function rejected(authority: string, why: string): XdsError {
  return new XdsError(
    "INVALID_ARGUMENT",
    `DNS is not queried: ${JSON.stringify(authority)} ${why}`,
  );
}

/** Sorts SRV records as RFC 2782 requires: by priority, and at random within a priority. A target with weight 2 comes first twice as often as one with weight 1. */
function orderTargets(records: readonly SrvRecord[], random: () => number): readonly SrvRecord[] {
  const drawn = records.map((record) => ({
    record,
    lot: record.weight === 0 ? Infinity : -Math.log(1 - random()) / record.weight,
  }));
  return drawn
    .sort((a, b) => a.record.priority - b.record.priority || (a.lot === b.lot ? 0 : a.lot - b.lot))
    .map(({ record }) => record);
}

const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;

/**
 * Returns true for a host name (RFC 1123) without a dot at its end, such as `xds.example.com` or
 * `localhost`. IP addresses, and international names that are not encoded, are not host names.
 */
function isHostName(text: string): boolean {
  const labels = text.split(".");
  return (
    text.length <= 253 &&
    labels.every((one) => label.test(one)) &&
    !/^\d+$/.test(labels.at(-1) ?? "")
  );
}

/**
 * The DNS queries that are used. A `Resolver` of `node:dns/promises` has them. Each rejects with a
 * `code` as in Node.
 */
export interface DnsQueries {
  /** SRV records. */
  resolveSrv(name: string): Promise<readonly SrvRecord[]>;
  /** IPv4 addresses. */
  resolve4(name: string): Promise<readonly string[]>;
  /** IPv6 addresses. */
  resolve6(name: string): Promise<readonly string[]>;
}

/**
 * Returns the records of a query, or none if DNS reports that there are none. Throws an XdsError,
 * UNAVAILABLE, if DNS did not answer.
 */
async function recordsOf<Record>(
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
