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
import { isHasty, serversOf, sourcesFor, unknownAuthority } from "../routes/routes.ts";

/** One place that is asked, and why there. */
export interface ExplainedPlace {
  /** As it is written, directives and all. */
  readonly locator: string;
  /** As it is sent: with context parameters, without directives (C-CTX-1, C-ALT-1). */
  readonly name: string;
  /** Context parameters that are not written in it. */
  readonly added: ReadonlyMap<string, string>;
  /** The entry that is taken out of the list of this name (C-LIST-7). Absent: it is all of it. */
  readonly entry?: string;
  /** null: the name is opaque. */
  readonly authority: string | null;
  /** Why these sources: the one next to the reference, those that list the authority, the default, or none (C-AUTH-1). */
  readonly by: "reference" | "authority" | "default" | "none";
  /** In order. */
  readonly sources: readonly FederationSource[];
  /** All servers of these, in the order in which they are asked, each once (C-AUTH-3). */
  readonly servers: readonly FederationServer[];
  /** The next server is asked as soon as one cannot be reached (C-GRPC-7); else only where something is missing too (C-GRPC-6). */
  readonly reachabilityOnly: boolean;
  /** Why it has no servers (C-AUTH-5). */
  readonly error?: XdsError;
}

/**
 * Who would be asked for a name, in which order and why, by the very choice that a federation makes; nothing is asked, so redirects are not known.
 * The first place is the name itself, the others are its alternatives as they are tried (C-ALT-5). One without servers is the last.
 *
 * Throws an XdsError, INVALID_ARGUMENT, for what no federation would ask for: no name, alternatives of another type, keys that are reserved.
 */
export function explain(
  sources: readonly FederationSource[],
  name: string,
  {
    layers = {},
    ownSource,
  }: {
    /** Context parameters that are not in the name; `node` for globs only, as by a client. Default: none. */
    readonly layers?: ContextLayers;
    /** The ConfigSource that stands next to the reference (C-AUTH-1, C-AUTH-6). Default: there is none. */
    readonly ownSource?: FederationSource;
  } = {},
): readonly ExplainedPlace[] {
  const choose = (authority: string | null): Choice => choiceOf(sources, authority, ownSource);
  if (!name.startsWith("xdstp:"))
    return [{ locator: name, name, added: new Map(), ...choose(null) }];
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

/** Adds the context parameters that a locator does not have (C-CTX-1). Those of the node are added to globs only (C-CTX-3). Its alternatives get the same parameters, since they replace it. */
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
