import type { SrvRecord } from "node:dns";
import { Resolver } from "node:dns/promises";
import { XdsError } from "@xdstp/core";
import type { BootstrapCredentials } from "./grpc/bootstrap.ts";
import type { ServerConfig, SourceConfig } from "./server-config.ts";

/** Up to this number of targets of SRV records become servers. */
const maxTargets = 16;

/**
 * Finds the source of an authority in DNS: what SRV records say, else the host of that name if it has an address; with a port, only that. For `resolveAuthority` of `createClient`; a federation takes it through `createSources`. Nothing is kept: whoever asks keeps what is found while it runs.
 *
 * Whoever a name leads to by this is asked, on any host and port that DNS says. That server has a certificate for the authority, whatever DNS says it is called (RFC 6125); with credentials that are not TLS it can be anybody.
 *
 * The function that it gives throws an XdsError: INVALID_ARGUMENT for an authority that is not a host name, NOT_FOUND where DNS has nothing of it (C-AUTH-5), both with what was tried; UNAVAILABLE where DNS did not answer.
 */
export function createDnsResolver({
  credentials,
  service = "_xds._tcp",
  port: usual = 443,
  queries = new Resolver({ timeout: 2_000, tries: 2 }),
  random = Math.random,
}: {
  /** How the servers that are found are spoken to. Default: TLS, by whom Node trusts. A `servername` in it goes for all. */
  readonly credentials?: BootstrapCredentials;
  /** What SRV records stand under, before the authority. Default: `_xds._tcp`. */
  readonly service?: string;
  /** The port where there is no SRV record, and the authority has none. Default: 443. */
  readonly port?: number;
  /** Who is asked. Default: the DNS servers of the machine, twice, with 2 s for each answer. */
  readonly queries?: DnsQueries;
  /** Draws lots among SRV records of equal priority: from 0 to below 1. Default: `Math.random`. */
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

/** A record of the root says that there is no such service. */
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

/** Also where DNS does not answer for one of its families. */
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

/** The host and port of an authority, for queries to DNS. */
interface AuthorityHost {
  readonly host: string;
  /** Absent: the authority does not have a port. */
  readonly port?: number;
}

/** Throws an XdsError, INVALID_ARGUMENT, for an authority that is not `name.example` or `name.example:port`. A name of one label is invalid: the resolver of the machine may append its search domains to it. */
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

/** Whether a text is a host name (RFC 1123) without a dot at its end, such as `xds.example.com` or `localhost`. IP addresses and international names that are not encoded are not host names. */
function isHostName(text: string): boolean {
  const labels = text.split(".");
  return (
    text.length <= 253 &&
    labels.every((one) => label.test(one)) &&
    !/^\d+$/.test(labels.at(-1) ?? "")
  );
}

/** The queries to DNS. A `Resolver` of `node:dns/promises` has them. Each rejects with a `code` as those of Node do. */
export interface DnsQueries {
  /** SRV records. */
  resolveSrv(name: string): Promise<readonly SrvRecord[]>;
  /** IPv4 addresses. */
  resolve4(name: string): Promise<readonly string[]>;
  /** IPv6 addresses. */
  resolve6(name: string): Promise<readonly string[]>;
}

/** The records of a query; none where DNS says that there are none. Throws an XdsError, UNAVAILABLE, where it does not say. */
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
