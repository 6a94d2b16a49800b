import { isIP } from "node:net";

/**
 * One line for people if programs of other machines may reach this host and need not say who they are; undefined if not.
 * A name other than `localhost` may lead anywhere.
 * @param protection - What the server asks of whoever comes
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
