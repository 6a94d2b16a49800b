import { XdsError } from "@xdstp/core";

/** The server that a channel connects to. */
export interface Target {
  /** The target as it was given, for display. */
  readonly text: string;
  /** The value of `:authority`: `host:port`, or `localhost` for a socket in the file system. */
  readonly authority: string;
  /** The default name that the certificate of the server has to match. */
  readonly host: string;
  /** The address of the socket. */
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string };
}

/** The port of a target without one, as in gRPC. */
const defaultPort = 443;
const scheme = /^([a-z][a-z0-9+.-]*):(?!\d+$)(.*)$/i;
const hostAndPort = /^(?:\[([0-9a-f:.%a-z]+)\]|([^:/?#@\s[\]]+))(?::(\d{1,5}))?$/i;

/**
 * Parses a target as gRPC names it: `host:port`, `[::1]:port`, `dns:///host:port`, `unix:path`,
 * `unix:///path`.
 * Throws an XdsError, INVALID_ARGUMENT, that names the target and the expected form.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/naming.md
 */
export function parseTarget(text: string): Target {
  const [, name, rest = ""] = scheme.exec(text) ?? [];
  switch (name?.toLowerCase()) {
    case undefined:
      return hostTarget(text, text);
    case "unix":
      return unixTarget(text, rest.startsWith("//") ? rest.slice(2) : rest);
    case "dns":
    case "passthrough":
      return hostTarget(text, withoutResolver(text, rest));
    case "ipv4":
    case "ipv6":
      return hostTarget(text, rest.replace(/^\/\/\//, ""));
    case "http":
    case "https":
      throw bad(text, "is a URL; give host:port, and TLS as an option");
    default:
      throw bad(text, `has the scheme ${name ?? ""}; this client knows dns and unix`);
  }
}

/** `dns://resolver/name` names a DNS server, which is not supported. */
function withoutResolver(text: string, rest: string): string {
  if (!rest.startsWith("//")) return rest;
  if (!rest.startsWith("///"))
    throw bad(text, "names a DNS server of its own; write dns:///host:port");
  return rest.slice(3);
}

function hostTarget(text: string, rest: string): Target {
  const [, v6, plain, digits] = hostAndPort.exec(rest) ?? [];
  const host = v6 ?? plain;
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined) throw bad(text, "is not HOST:PORT; an IPv6 address is in brackets");
  if (port < 1 || port > 65_535) throw bad(text, "has no port from 1 to 65535");
  return {
    text,
    host,
    authority: `${v6 === undefined ? host : `[${host}]`}:${port}`,
    address: { host, port },
  };
}

function unixTarget(text: string, path: string): Target {
  if (path === "" || path.includes("\0"))
    throw bad(text, "names no socket; write unix:PATH or unix:///PATH");
  return { text, host: "localhost", authority: "localhost", address: { path } };
}

function bad(text: string, problem: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", `the target ${JSON.stringify(text)} ${problem}`);
}
