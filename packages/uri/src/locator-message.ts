import { inType, skip } from "./percent-encoding.ts";
import { findSurrogate } from "./check-text.ts";
import { fault, type ParseResult, resultOf, type UriFault, type UriPart } from "./uri-error.ts";
import type { Directive, Locator, ResourceParts, XdstpName } from "./locator.ts";
import { maxAltDepth, parseLocator } from "./parse-locator.ts";

/**
 * The context parameters and directives of most names. Lists have many names, so these share them.
 */
const NO_PARAMS: ReadonlyMap<string, string> = new Map();
const NO_DIRECTIVES: readonly Directive[] = [];

/**
 * Returns the name in an `xds.core.v3.ResourceName` (N-80). It also checks parts of any other
 * origin before they are printed.
 */
export function nameFromMessage({
  context,
  ...fields
}: ResourceNameMessage): ParseResult<XdstpName> {
  const parts = readParts({ ...fields, exactContext: context ?? {} });
  return resultOf("code" in parts ? parts : { scheme: "xdstp", ...parts });
}

/**
 * Returns the locator in an `xds.core.v3.ResourceLocator`, or in the string that TP1 shows in its
 * place (N-80, N-82).
 *
 * The error codes are those of the parser, with position 0. A `file` locator needs no resource
 * type, and one that is given is dropped (N-83).
 */
export function locatorFromMessage(message: ResourceLocatorMessage | string): ParseResult<Locator> {
  if (typeof message === "string") return parseLocator(message);
  return resultOf(readLocator(message, 0));
}

function readLocator(message: ResourceLocatorMessage, depth: number): Locator | UriFault {
  if (depth > maxAltDepth) return fault("too-deep", "directives", message.id ?? "", 0);
  const directives =
    message.directives === undefined ? NO_DIRECTIVES : readDirectives(message.directives, depth);
  if ("code" in directives) return directives;
  const { scheme = "XDSTP" } = message;
  if (scheme === "FILE" || scheme === 2) return readFile(message, directives);
  const isHttp = scheme === "HTTP" || scheme === 1;
  // A sender may use schemes that this type does not have.
  if (!isHttp && scheme !== "XDSTP" && (scheme as number) !== 0)
    return fault("scheme", "scheme", String(scheme), 0);
  const parts = readParts(message);
  if ("code" in parts) return parts;
  if (isHttp && parts.authority === "") return fault("authority", "authority", parts.id, 0);
  return { scheme: isHttp ? "http" : "xdstp", ...parts, directives };
}

function readFile(
  { id = "", authority = "", exactContext }: ResourceLocatorMessage,
  directives: readonly Directive[],
): Locator | UriFault {
  if (authority !== "") return fault("authority", "authority", authority, 0, { rule: "N-19" });
  if (Object.keys(exactContext?.params ?? {}).length > 0)
    return fault("query-in-file", "context", id, 0);
  return findIllFormed("id", id) ?? { scheme: "file", id, directives };
}

function readParts({
  id = "",
  authority = "",
  resourceType = "",
  exactContext,
}: ResourceLocatorMessage): ResourceParts | UriFault {
  if (resourceType === "") return fault("type-missing", "type", id, 0);
  const invalid = skip(resourceType, 0, inType);
  if (invalid < resourceType.length) return fault("type-invalid", "type", resourceType, invalid);
  const contextParams = readContext(exactContext);
  if ("code" in contextParams) return contextParams;
  return (
    findIllFormed("authority", authority) ??
    findIllFormed("id", id) ?? { authority, resourceType, id, contextParams }
  );
}

function readContext({ params }: ContextParamsMessage = {}):
  ReadonlyMap<string, string> | UriFault {
  if (params === undefined) return NO_PARAMS;
  const entries = Object.entries(params);
  return findIllFormed("context", ...entries.flat()) ?? new Map(entries);
}

/** Finds a text with an unpaired surrogate: a proto3 string has to be valid UTF-8 (N-06). */
function findIllFormed(part: UriPart, ...texts: string[]): UriFault | undefined {
  const bad = texts.find((text) => findSurrogate(text) !== -1);
  return bad === undefined ? undefined : fault("utf8", part, bad, findSurrogate(bad));
}

function readDirectives(
  messages: readonly DirectiveMessage[],
  depth: number,
): readonly Directive[] | UriFault {
  const directives: Directive[] = [];
  for (const message of messages) {
    const directive = readDirective(message, depth);
    if ("code" in directive) return directive;
    if (directives.some(({ kind }) => kind === directive.kind))
      return fault("directive-duplicate", "directives", directive.kind, 0);
    directives.push(directive);
  }
  return directives;
}

function readDirective({ alt, entry }: DirectiveMessage, depth: number): Directive | UriFault {
  if ((alt === undefined) === (entry === undefined))
    return fault("directive-unknown", "directives", entry ?? "", 0);
  if (alt === undefined) return readEntry(entry ?? "");
  const locator = readLocator(alt, depth + 1);
  return "code" in locator
    ? fault("directive-value", "directives", alt.id ?? "", 0, { cause: locator })
    : { kind: "alt", locator };
}

function readEntry(entry: string): Directive | UriFault {
  if (entry === "") return fault("directive-empty", "directives", entry, 0);
  return findIllFormed("directives", entry) ?? { kind: "entry", entry };
}

const schemes = { xdstp: "XDSTP", http: "HTTP", file: "FILE" } as const;

/** Returns the `xds.core.v3.ResourceName` of a name (N-80). An empty context is left out. */
export function messageFromName({
  id,
  authority,
  resourceType,
  contextParams,
}: XdstpName): ResourceNameMessage {
  const context = contextMessage(contextParams);
  return { id, authority, resourceType, ...(context && { context }) };
}

/**
 * Returns the `xds.core.v3.ResourceLocator` of a locator, in the form to send (N-80, N-82). An
 * empty context is left out.
 */
export function messageFromLocator(locator: Locator): ResourceLocatorMessage {
  const { id } = locator;
  const scheme = schemes[locator.scheme];
  const directives = locator.directives.map(directiveMessage);
  if (locator.scheme === "file") return { scheme, id, directives };
  const { authority, resourceType } = locator;
  const exactContext = contextMessage(locator.contextParams);
  return { scheme, id, authority, resourceType, ...(exactContext && { exactContext }), directives };
}

/** `Object.fromEntries` makes an own property of any key, even of `__proto__`. */
function contextMessage(params: ReadonlyMap<string, string>): ContextParamsMessage | undefined {
  return params.size === 0 ? undefined : { params: Object.fromEntries(params) };
}

function directiveMessage(directive: Directive): DirectiveMessage {
  return directive.kind === "alt"
    ? { alt: messageFromLocator(directive.locator) }
    : { entry: directive.entry };
}

/** `xds.core.v3.ContextParams` as protobuf JSON. */
export interface ContextParamsMessage {
  /** The parameters by key. Absent: none. */
  readonly params?: Readonly<Record<string, string>>;
}

/** `xds.core.v3.ResourceName` as protobuf JSON; its strings are decoded (N-80). */
export interface ResourceNameMessage {
  /** `id`. Absent: empty. */
  readonly id?: string;
  /** `authority`. Absent: empty. */
  readonly authority?: string;
  /** `resource_type`: the full name of the message. Absent: empty. */
  readonly resourceType?: string;
  /** `context`: the context parameters. Absent: none. */
  readonly context?: ContextParamsMessage;
}

/** `xds.core.v3.ResourceLocator` as protobuf JSON; its strings are decoded (N-80). */
export interface ResourceLocatorMessage {
  /** The scheme; the number of the enum value is read too. Absent: `XDSTP`. */
  readonly scheme?: "XDSTP" | "HTTP" | "FILE" | 0 | 1 | 2;
  /** `id`. Absent: empty. */
  readonly id?: string;
  /** `authority`. Absent: empty. */
  readonly authority?: string;
  /** `resource_type`: the full name of the message. Absent: empty. */
  readonly resourceType?: string;
  /** `exact_context`: the context parameters. Absent: none. */
  readonly exactContext?: ContextParamsMessage;
  /** `directives`. Absent: none. */
  readonly directives?: readonly DirectiveMessage[];
}

/** `xds.core.v3.ResourceLocator.Directive` as protobuf JSON; exactly one field is set. */
export interface DirectiveMessage {
  /** An alternative locator of the resource. Absent: the directive is an entry. */
  readonly alt?: ResourceLocatorMessage;
  /** The name of an entry of a list collection. Absent: the directive is an alternative. */
  readonly entry?: string;
}
