import { XdsError, type Interest } from "@xdstp/core";
import { composeLocator, locatorFault } from "@xdstp/federation";
import { parseLocator, printLocator, typeFromTypeUrl, type XdstpLocator } from "@xdstp/uri";

import type { NameOptions } from "./watch.ts";

/** Options of `createNaming`. */
export interface NamingOptions {
  /** Layer 1: context parameters of the node (C-CTX-3), added to globs. */
  readonly node?: ReadonlyMap<string, string>;
  /** Dynamic parameters (C-DYN-1) of opaque names, and of xdstp names by authority. */
  readonly dynamic?: {
    readonly opaque?: ReadonlyMap<string, string>;
    readonly byAuthority?: ReadonlyMap<string, ReadonlyMap<string, string>>;
  };
}

/**
 * Returns a function that turns a name of a program into the interest that is subscribed. It throws
 * an XdsError for an invalid name.
 */
export function createNaming(
  options: NamingOptions,
): (typeUrl: string, name: string, own: NameOptions) => Interest {
  return (typeUrl, name, { attributes }) => {
    if (!name.startsWith("xdstp:")) return opaque(typeUrl, name, options, attributes);
    const parsed = parseLocator(name);
    if (!parsed.ok)
      throw new XdsError(
        "INVALID_ARGUMENT",
        `${JSON.stringify(name)} is not an xdstp name: ${parsed.error.message}`,
        { typeUrl, resource: name, rule: parsed.error.rule },
      );
    const locator = parsed.value;
    if (locator.scheme !== "xdstp")
      throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)} is not of the scheme xdstp`, {
        typeUrl,
        resource: name,
      });
    checkType(typeUrl, name, locator);
    const composed = composeLocator(locator, {
      ...(options.node === undefined ? {} : { node: options.node }),
      ...(attributes === undefined ? {} : { attributes: new Map(Object.entries(attributes)) }),
    });
    if (!composed.ok)
      throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)}: ${composed.error.message}`, {
        typeUrl,
        resource: name,
        rule: composed.error.rule,
      });
    return withParameters(
      printLocator(composed.value),
      options.dynamic?.byAuthority?.get(locator.authority),
    );
  };
}

function opaque(
  typeUrl: string,
  name: string,
  { dynamic }: NamingOptions,
  attributes: NameOptions["attributes"],
): Interest {
  if (name === "")
    throw new XdsError("INVALID_ARGUMENT", "a name is empty; give the name of a resource", {
      rule: "S-SUB-6",
      typeUrl,
      resource: name,
    });
  if (/\p{Surrogate}/u.test(name))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(name)} has half a character (a lone surrogate), which no server can read`,
      { typeUrl, resource: name },
    );
  if (attributes !== undefined && Object.keys(attributes).length > 0)
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(name)} is not an xdstp name, so it has no attributes`,
      { typeUrl, resource: name },
    );
  return withParameters(name, name.startsWith("file://") ? undefined : dynamic?.opaque);
}

function withParameters(
  name: string,
  parameters: ReadonlyMap<string, string> | undefined,
): Interest {
  return parameters === undefined || parameters.size === 0 ? { name } : { name, parameters };
}

/**
 * Throws an XdsError if the type in a name is another one than that of the type URL. A list has a
 * type of its own and is requested under it (B-TYPE-6).
 */
function checkType(typeUrl: string, name: string, locator: XdstpLocator): void {
  const own = typeFromTypeUrl(typeUrl);
  const { resourceType: type, directives } = locator;
  const fault = directives.length > 0 ? locatorFault(typeUrl, locator) : undefined;
  if (fault !== undefined)
    throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)}: ${fault.text}`, {
      typeUrl,
      resource: name,
      rule: fault.rule,
    });
  if (directives.length > 0 || type === own) return;
  throw new XdsError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(name)} has the type ${type}; it has to be ${own ?? JSON.stringify(typeUrl)}`,
    { typeUrl, resource: name, rule: "B-TYPE-5" },
  );
}
