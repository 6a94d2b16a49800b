import { isIP } from "node:net";
import { X509Certificate } from "node:crypto";
import { CliError } from "./cli-error.ts";

/** A host and a port. */
export interface Endpoint {
  /** Without brackets. */
  readonly host: string;
  /** From 0, a port that the system chooses, to 65535. */
  readonly port: number;
}

/**
 * Reads `HOST:PORT`, where an IPv6 address is in brackets. Throws a CliError that names the option.
 * @param lowest - The smallest port that is accepted: 0 if the system may choose the port, else 1
 */
export function parseEndpoint(option: string, text: string, lowest: 0 | 1): Endpoint {
  const { six, name, digits } =
    /^(?:\[(?<six>[^\]]*)\]|(?<name>[^:[\]]+)):(?<digits>\d{1,5})$/.exec(text)?.groups ?? {};
  const host = six ?? name ?? "";
  const port = Number(digits ?? -1);
  const isHost = six === undefined ? /^[\w.-]+$/.test(host) : isIP(six) === 6;
  if (isHost && port >= lowest && port <= 65_535) return { host, port };
  throw new CliError(
    2,
    `${option} ${JSON.stringify(text)}: give HOST:PORT with a port from ${lowest} to 65535, for instance 127.0.0.1:18000 or [::1]:18000`,
  );
}

/**
 * Reads an address to listen on: `HOST:PORT`, or `PORT` alone for 127.0.0.1. With port 0 the system chooses a port.
 * Throws a CliError that names the option.
 */
export function parseListen(option: string, text: string): Endpoint {
  return parseEndpoint(option, /^\d+$/.test(text) ? `127.0.0.1:${text}` : text, 0);
}

/** Returns true if two servers cannot listen on these endpoints at the same time. Port 0 never clashes, since the system chooses a free port. */
export function clash(one: Endpoint, other: Endpoint): boolean {
  const isAll = ({ host }: Endpoint): boolean => host === "0.0.0.0" || host === "::";
  return (
    one.port === other.port &&
    one.port !== 0 &&
    (one.host === other.host || isAll(one) || isAll(other))
  );
}

/** Returns the endpoint as text that {@link parseEndpoint} reads. */
export function formatEndpoint({ host, port }: Endpoint): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** The TLS of a server. */
export interface ServedTls {
  /** The name that clients connect to; see {@link serverName}. */
  readonly name: string;
  /** true: clients have to show a certificate. */
  readonly clients: boolean;
}

/** Returns the commands that connect an Envoy and a gRPC client to a server that listens here. With TLS, they contain placeholders for the files, since the server does not know the files of its clients. */
export function connectCommands(
  { host, port }: Endpoint,
  tls?: ServedTls,
): { readonly envoy: string; readonly grpc: string } {
  const server = formatEndpoint({ host: tls?.name ?? reachable(host), port });
  const files =
    tls === undefined
      ? ""
      : ` --tls-ca CA.pem${tls.clients ? " --tls-cert CLIENT.pem --tls-key CLIENT-KEY.pem" : ""}`;
  return {
    envoy: `xdstp bootstrap envoy --server ${server}${files} > envoy.yaml && envoy -c envoy.yaml`,
    grpc: `xdstp bootstrap grpc --server ${server}${files}`,
  };
}

/** Returns the host that a client on the same machine connects to. A wildcard address such as 0.0.0.0 is replaced by the address of loopback. */
export function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

/** Returns the name under which clients can verify a server that listens on this host: the host itself if the certificate is valid for it, else the first DNS name in the certificate that is not a wildcard. */
export function serverName(certificate: string | Buffer, host: string): string {
  const parsed = new X509Certificate(certificate);
  if ((isIP(host) === 0 ? parsed.checkHost(host) : parsed.checkIP(host)) !== undefined) return host;
  const names = [...(parsed.subjectAltName ?? "").matchAll(/DNS:([\w.-]+)/g)].map(
    ([, name = ""]) => name,
  );
  return names[0] ?? host;
}

/**
 * Returns a warning if programs of other machines may reach this host without a login, else `undefined`.
 * A host name other than `localhost` may resolve to any address, so it counts as reachable.
 * @param protection - `none`: no TLS. `tls`: TLS without client certificates. `mtls`: clients have to show a certificate
 */
export function exposureWarning(
  host: string,
  protection: "none" | "tls" | "mtls",
): string | undefined {
  if (protection === "mtls") return undefined;
  if (host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127.")))
    return undefined;
  return `${host} may be reached from other machines, and there is ${protection === "tls" ? "" : "no TLS and "}no login: whoever reaches it reads everything, secrets too`;
}
