import { XdsError, type Interest } from "@xdstp/core";
import { collectionTypeOf, composeName, isGlob, parseLocator, printName, typeFromTypeUrl } from "@xdstp/uri";

import type { NameOptions } from "./name-options.ts";

/** How a client makes the names that it asks for. */
export interface NamingOptions {
  /** Authorities that the bootstrap configures with servers of their own. */
  readonly foreign: ReadonlySet<string>;
  /** Authorities of the servers of this client. Absent: any. */
  readonly own?: ReadonlySet<string>;
  /** Layer 1: parameters of the node (C-CTX-3), added to globs and, if `everywhere`, to every xdstp name. */
  readonly node?: ReadonlyMap<string, string>;
  /** Dynamic parameters (C-DYN-1): of opaque names, and of xdstp names by authority. */
  readonly dynamic?: { readonly opaque?: ReadonlyMap<string, string>; readonly byAuthority?: ReadonlyMap<string, ReadonlyMap<string, string>> };
}

/** Makes of a name that a program gives what is asked for. Throws an XdsError that says why nothing can be. */
export function createNaming(options: NamingOptions): (typeUrl: string, name: string, own: NameOptions) => Interest {
  return (typeUrl, name, { attributes }) => {
    if (!name.startsWith("xdstp:")) return opaque(typeUrl, name, options, attributes);
    const parsed = parseLocator(name);
    if (!parsed.ok) throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)} is no xdstp name: ${parsed.error.message}`, { typeUrl, resource: name });
    const locator = parsed.value;
    if (locator.scheme !== "xdstp") throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)} is not of the scheme xdstp`, { typeUrl, resource: name });
    if (locator.directives.length > 0) throw new XdsError("UNIMPLEMENTED", `${JSON.stringify(name)} has a directive, which this client does not follow; ask for the name before the #`, { typeUrl, resource: name });
    checkType(typeUrl, name, locator.resourceType);
    checkAuthority(typeUrl, name, locator.authority, options);
    const composed = composeName(locator, {
      ...(options.node !== undefined && isGlob(name) ? { node: options.node } : {}),
      ...(attributes === undefined ? {} : { attributes: new Map(Object.entries(attributes)) }),
    });
    if (!composed.ok) throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)}: ${composed.error.message}`, { typeUrl, resource: name });
    return withParameters(printName(composed.value), options.dynamic?.byAuthority?.get(locator.authority));
  };
}

function opaque(typeUrl: string, name: string, { dynamic }: NamingOptions, attributes: NameOptions["attributes"]): Interest {
  if (name === "") throw new XdsError("INVALID_ARGUMENT", "a name is empty; nothing can have it (S-SUB-6)", { typeUrl, resource: name });
  if (/\p{Surrogate}/u.test(name)) throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)} has half a character (a lone surrogate), which no server can read`, { typeUrl, resource: name });
  if (attributes !== undefined && Object.keys(attributes).length > 0) throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)} is no xdstp name, so it has no attributes`, { typeUrl, resource: name });
  return withParameters(name, dynamic?.opaque);
}

function withParameters(name: string, parameters: ReadonlyMap<string, string> | undefined): Interest {
  return parameters === undefined || parameters.size === 0 ? { name } : { name, parameters };
}

/** A list has a type of its own, which is asked for under that of its members (B-TYPE-5). */
function checkType(typeUrl: string, name: string, type: string): void {
  const own = typeFromTypeUrl(typeUrl);
  if (own !== undefined && (type === own || type === collectionTypeOf(own))) return;
  throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)} has another type than ${own ?? JSON.stringify(typeUrl)}, as which it is asked for: ${type} (B-TYPE-5)`, { typeUrl, resource: name });
}

/** Until there is federation, the servers of the bootstrap are all there is. */
function checkAuthority(typeUrl: string, name: string, authority: string, { foreign, own }: NamingOptions): void {
  if (foreign.has(authority)) throw new XdsError("UNIMPLEMENTED", `${JSON.stringify(name)}: the authority ${JSON.stringify(authority)} has servers of its own in the bootstrap, which this client does not ask yet; ask them with a client of their own`, { typeUrl, resource: name });
  if (own === undefined || own.has(authority)) return;
  const known = [...own].map((one) => JSON.stringify(one)).join(", ");
  throw new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)}: the bootstrap has no authority ${JSON.stringify(authority)}, only ${known} (C-AUTH-5); add it under authorities`, { typeUrl, resource: name });
}
