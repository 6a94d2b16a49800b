import { type Constraints, type Fault, readConstraints, textOfConstraints } from "@xdstp/core";
import {
  authorityOf,
  type Directive,
  globOf,
  isGlob,
  memberTypeOf,
  nameFromLocator,
  nameKey,
  parseLocator,
  parseName,
  printLocator,
  printName,
  typeOf,
  type XdstpLocator,
} from "@xdstp/uri";

/** One variant of a name, by its constraints (TP2). */
export interface Variant {
  readonly constraints: Constraints;
  /** The constraints as a text. Equal constraints have equal texts, however they were encoded. */
  readonly text: string;
}

/** The parts of a name that the cache uses. */
export interface ReadName {
  /**
   * `invalid`: begins with `xdstp:` and is not a valid name (N-18 and others), so no resource can
   * have it.
   */
  readonly kind: "opaque" | "name" | "glob" | "invalid";
  /** The canonical key: equal for equal names (N-40, N-43). */
  readonly key: string;
  /** The key of the one glob that may cover the name (N-54). */
  readonly parent?: string | undefined;
  readonly authority?: string | undefined;
  /** The type in the name, without `type.googleapis.com/`. */
  readonly type?: string;
  /**
   * Why the name is invalid; for a name with directives, why it is invalid where directives are not
   * allowed.
   */
  readonly fault?: Fault;
  /** True if the name has directives. */
  readonly directed?: boolean;
  /** The variant, if the name has several (TP2). */
  readonly variant?: Variant;
}

/** Reads a name of a request, a resource or a removal. */
export function readName(text: string): ReadName {
  const key = nameKey(text);
  if (!key.startsWith("xdstp:"))
    return key.startsWith("file:///") ? readFileName(key) : { kind: "opaque", key };
  const type = typeOf(key);
  if (type === undefined) return readDirected(text, faultOf(text));
  const parent = globOf(key);
  return {
    kind: parent === undefined && isGlobKey(key) ? "glob" : "name",
    key,
    parent,
    authority: authorityOf(key),
    type,
  };
}

/** Reads the name of a file, which has neither a type nor an authority (C-NFILE-1). */
function readFileName(key: string): ReadName {
  const parent = globOf(key);
  return { kind: parent === undefined && isGlob(key) ? "glob" : "name", key, parent };
}

/** A map key for a type, and the key of a name or of one of its variants. */
export function typedKey(typeUrl: string, key: string): string {
  return `${typeUrl} ${key}`;
}

/** Returns the map key for a type and a name in any spelling. */
export function typedNameKey(typeUrl: string, name: string): string {
  return typedKey(typeUrl, readName(name).key);
}

/** Returns true if a name has context parameters. */
export function hasParameters({ key }: ReadName): boolean {
  return key.includes("?");
}

/**
 * Returns true if a canonical name is a glob. A `?` in it can only begin the query, so a glob ends
 * in `/*`, or has `/*` before the first `?` (N-33, N-50).
 */
function isGlobKey(key: string): boolean {
  const query = key.indexOf("?");
  return key.endsWith("/*", query === -1 ? key.length : query);
}

function faultOf(text: string): Fault {
  const parsed = parseName(text);
  return parsed.ok ? { text: "" } : { text: parsed.error.message, rule: parsed.error.rule };
}

/** Reads a name with directives, as a client requests it to use one of several alternatives (C-ALT-1). Returns `invalid` for a name without directives. */
function readDirected(text: string, fault: Fault): ReadName {
  const parsed = text.includes("#") ? parseLocator(text) : undefined;
  if (parsed?.ok !== true || parsed.value.scheme !== "xdstp")
    return { kind: "invalid", key: text, fault };
  const locator = parsed.value;
  return {
    kind: isGlob(locator) ? "glob" : "name",
    key: printLocator(locator),
    parent: parentOf(locator),
    authority: locator.authority,
    type: typeIn(locator),
    fault,
    directed: true,
  };
}

/**
 * Returns the type of the named resource. The name of an entry of a list has the type of the
 * members of the list (C-LIST-7).
 */
function typeIn({ resourceType, directives }: XdstpLocator): string {
  return (
    (directives.some(({ kind }) => kind === "entry") ? memberTypeOf(resourceType) : undefined) ??
    resourceType
  );
}

/**
 * Returns the glob of a member, with the same directives and parameters. The directives belong to
 * the glob: the member comes from the alternative that the glob uses (C-ALT-7). undefined: the
 * alternative of the name is a name, so it is not a member of a glob.
 */
function parentOf(locator: XdstpLocator): string | undefined {
  if (isGlob(locator) || !locator.directives.every(leadsToGlob)) return undefined;
  const glob = globOf(printName(nameFromLocator(locator)));
  const parsed = glob === undefined ? undefined : parseLocator(glob);
  return parsed?.ok === true
    ? printLocator({ ...parsed.value, directives: locator.directives })
    : undefined;
}

function leadsToGlob(directive: Directive): boolean {
  return directive.kind === "alt" && isGlob(directive.locator);
}

/** Constraints that no client matches, in place of those that cannot be read. */
const NO_CLIENT: Constraints = { kind: "or", of: [] };

/**
 * Returns the name with the constraints of its variant (S-DYN-2). Constraints of zero bytes mean
 * the same as none.
 */
export function variantOf(name: ReadName, constraints: Uint8Array | undefined): ReadName {
  if (constraints === undefined || constraints.length === 0) return name;
  const read = readConstraints(constraints);
  return {
    ...name,
    variant:
      read.fault === undefined
        ? { constraints: read.constraints, text: textOfConstraints(read.constraints) }
        : { constraints: NO_CLIENT, text: "" },
  };
}

/** Returns the map key for a name and its variant; without a variant, the key of the name. */
export function idOf({ key, variant }: Pick<ReadName, "key" | "variant">): string {
  return variant === undefined ? key : `${key}\n${variant.text}`;
}
