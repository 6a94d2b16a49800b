import { XdsError } from "@xdstp/core";

import { isHostName } from "./is-host-name.ts";

/** What DNS can be asked of an authority. */
export interface AuthorityHost {
  readonly host: string;
  /** Absent: the authority has none. */
  readonly port?: number;
}

/** Throws an XdsError, INVALID_ARGUMENT, for an authority that is not `name.example` or `name.example:port`. Names of one label are none, as a machine may put domains of its own behind them. */
export function hostOfAuthority(authority: string): AuthorityHost {
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
    `DNS is not asked, as ${JSON.stringify(authority)} ${why}`,
  );
}
