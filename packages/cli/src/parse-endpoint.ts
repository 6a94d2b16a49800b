import { isIP } from "node:net";
import { CliError } from "./cli-error.ts";

/** A host and a port. */
export interface Endpoint {
  /** Without brackets. */
  readonly host: string;
  /** From 0, a port that the system chooses, to 65535. */
  readonly port: number;
}

/**
 * Reads `HOST:PORT`; an IPv6 address is in brackets.
 * Throws a CliError that names the option.
 * @param lowest - 0 where the system may choose the port, else 1
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
 * Reads where to listen: `HOST:PORT`, or `PORT` alone on 127.0.0.1. Port 0 is one that the system chooses.
 * Throws a CliError that names the option.
 */
export function parseListen(option: string, text: string): Endpoint {
  return parseEndpoint(option, /^\d+$/.test(text) ? `127.0.0.1:${text}` : text, 0);
}

/** Whether one port would have to do for both. A port that the system chooses is never the same. */
export function clash(one: Endpoint, other: Endpoint): boolean {
  const isAll = ({ host }: Endpoint): boolean => host === "0.0.0.0" || host === "::";
  return (
    one.port === other.port &&
    one.port !== 0 &&
    (one.host === other.host || isAll(one) || isAll(other))
  );
}

/** The endpoint as text, as {@link parseEndpoint} reads it. */
export function formatEndpoint({ host, port }: Endpoint): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
