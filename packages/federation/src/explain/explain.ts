import { XdsError } from "@xdstp/core";
import {
  memberTypeOf,
  nameFromLocator,
  parseLocator,
  printLocator,
  printName,
  typeUrlFromType,
  type ContextLayers,
  type XdstpLocator,
  composeName,
  isGlob,
  type Directive,
  type ParseResult,
} from "@xdstp/uri";

import type { FederationServer, FederationSource } from "../federation-source.ts";
import { locatorFault } from "../links/locator-of.ts";
import { FILES } from "../routes/authority-finder.ts";
import { isHasty, serversOf, sourcesFor, unknownAuthority } from "../routes/routes.ts";

/** One name that would be requested, its servers, and the reason for this choice. */
export interface ExplainedPlace {
  /** The locator as it is written, including directives. */
  readonly locator: string;
  /** The name as it is sent: with context parameters, without directives (C-CTX-1, C-ALT-1). */
  readonly name: string;
  /** The context parameters that the locator itself does not have. */
  readonly added: ReadonlyMap<string, string>;
  /**
   * The entry that is read from the list of this name (C-LIST-7). Absent: the whole resource is
   * used.
   */
  readonly entry?: string;
  /** `null`: the name is opaque, or that of a file. */
  readonly authority: string | null;
  /**
   * The reason for these sources: they are next to the reference, they list the authority, they are
   * the default, or there are none (C-AUTH-1).
   */
  readonly by: "reference" | "authority" | "default" | "none";
  /** The sources in order. */
  readonly sources: readonly FederationSource[];
  /** All servers of these sources, each once, in the order in which they are used (C-AUTH-3). */
  readonly servers: readonly FederationServer[];
  /**
   * True if the next server is used as soon as one is unreachable (C-GRPC-7). If false, it is used
   * only if a resource is missing too (C-GRPC-6).
   */
  readonly reachabilityOnly: boolean;
  /** The reason why there are no servers (C-AUTH-5). */
  readonly error?: XdsError;
}

/**
 * Returns the servers that a federation would use for a name, in which order and why. It makes the
 * same choice as a federation, and sends no request, so it does not know about redirects.
 * The first place is the name itself. The others are its alternatives in order (C-ALT-5). A place
 * without servers is the last one.
 *
 * Throws an XdsError, INVALID_ARGUMENT, for an invalid name, alternatives of another type, and
 * reserved keys.
 */
export function explain(
  sources: readonly FederationSource[],
  name: string,
  {
    layers = {},
    ownSource,
  }: {
    /**
     * Context parameters that are not in the name. Those of `node` are added to globs only, as a
     * client does. Default: none.
     */
    readonly layers?: ContextLayers;
    /** The ConfigSource next to the reference (C-AUTH-1, C-AUTH-6). Default: none. */
    readonly ownSource?: FederationSource;
  } = {},
): readonly ExplainedPlace[] {
  const choose = (authority: string | null): Choice => choiceOf(sources, authority, ownSource);
  if (!name.startsWith("xdstp:")) {
    const choice = name.startsWith(`${FILES}/`) ? choiceOfFiles(sources) : choose(null);
    return [{ locator: name, name, added: new Map(), ...choice }];
  }
  const written = checked(name);
  const composed = composeLocator(written, layers);
  if (!composed.ok) throw rejected(name, `: ${composed.error.message}`, composed.error.rule);
  return [...placesOf(written, composed.value, choose)];
}

type Choice = Pick<
  ExplainedPlace,
  "authority" | "by" | "sources" | "servers" | "reachabilityOnly" | "error"
>;

function choiceOf(
  all: readonly FederationSource[],
  authority: string | null,
  ownSource: FederationSource | undefined,
): Choice {
  const sources = sourcesFor(all, authority, ownSource);
  return {
    authority,
    by: reasonOf(sources, ownSource),
    sources,
    servers: serversOf(sources),
    reachabilityOnly: isHasty(sources),
    ...(sources.length === 0 && { error: unknownAuthority(all, authority) }),
  };
}

/** Names of files are never requested from a server, so the default source does not count (C-NFILE-7). */
function choiceOfFiles(all: readonly FederationSource[]): Choice {
  const own = all.filter(({ authorities }) => authorities?.includes(FILES));
  return {
    ...choiceOf(own, FILES, undefined),
    authority: null,
    ...(own.length === 0 && { error: unknownAuthority(all, FILES) }),
  };
}

function reasonOf(
  [first]: readonly FederationSource[],
  ownSource: FederationSource | undefined,
): ExplainedPlace["by"] {
  if (first === undefined) return "none";
  if (first === ownSource) return "reference";
  return first.authorities === undefined ? "default" : "authority";
}

function* placesOf(
  written: XdstpLocator,
  composed: XdstpLocator,
  choose: (authority: string) => Choice,
): Generator<ExplainedPlace> {
  const entry = written.directives.find(({ kind }) => kind === "entry");
  const choice = choose(written.authority);
  yield {
    locator: printLocator(written),
    name: printName(nameFromLocator(composed)),
    added: new Map([...composed.contextParams].filter(([key]) => !written.contextParams.has(key))),
    ...(entry?.kind === "entry" && { entry: entry.entry }),
    ...choice,
  };
  const [alt, composedAlt] = [altOf(written), altOf(composed)];
  if (alt !== undefined && composedAlt !== undefined && choice.error === undefined)
    yield* placesOf(alt, composedAlt, choose);
}

function altOf({ directives }: XdstpLocator): XdstpLocator | undefined {
  const alt = directives.find(({ kind }) => kind === "alt");
  return alt?.kind === "alt" && alt.locator.scheme === "xdstp" ? alt.locator : undefined;
}

function checked(name: string): XdstpLocator {
  const parsed = parseLocator(name);
  if (!parsed.ok)
    throw rejected(name, ` is not an xdstp name: ${parsed.error.message}`, parsed.error.rule);
  const locator = parsed.value as XdstpLocator;
  const isEntry = locator.directives.some(({ kind }) => kind === "entry");
  const fault = locatorFault(
    typeUrlFromType(
      (isEntry ? memberTypeOf(locator.resourceType) : undefined) ?? locator.resourceType,
    ),
    locator,
  );
  if (fault !== undefined) throw rejected(name, `: ${fault.text}`, fault.rule);
  return locator;
}

function rejected(name: string, why: string, rule?: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", `${JSON.stringify(name)}${why}`, {
    resource: name,
    rule,
  });
}

/**
 * Adds context parameters that a locator does not have (C-CTX-1). Those of the node are added to
 * globs only (C-CTX-3). The alternatives get the same parameters, since they may replace the
 * locator.
 */
export function composeLocator(
  locator: XdstpLocator,
  layers: ContextLayers,
): ParseResult<XdstpLocator> {
  const composed = composeName(locator, isGlob(locator) ? layers : { ...layers, node: new Map() });
  if (!composed.ok) return composed;
  const directives: Directive[] = [];
  for (const directive of locator.directives) {
    const alt =
      directive.kind === "alt" && directive.locator.scheme === "xdstp"
        ? composeLocator(directive.locator, layers)
        : undefined;
    if (alt?.ok === false) return alt;
    directives.push(alt === undefined ? directive : { kind: "alt", locator: alt.value });
  }
  return { ok: true, value: { ...composed.value, directives } };
}
