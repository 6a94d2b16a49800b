import type {
  CookieMatcher,
  HeaderMatcher,
  QueryParameterMatcher,
  RouteMatch,
} from "@xdstp/protos/envoy/route";
import {
  describeText,
  matchExpression,
  matchText,
  quote,
  type StringMatcher,
  type TextMatch,
} from "./match-text.ts";
import type { ReadRequest } from "./route-request.ts";
import { matchTemplateOf, readUriTemplate } from "./uri-template.ts";

/** A condition of a route that the request does not meet, or may not meet. */
export interface Finding {
  /**
   * `no` if the request does not meet the condition. `maybe` if the request alone does not decide.
   */
  readonly verdict: "no" | "maybe";
  /** The reason, as one clause: `the path "/x" does not begin with "/api"`. */
  readonly reason: string;
}

type PathPolicy = Extract<RouteMatch["pathSpecifier"], { case: "pathMatchPolicy" }>["value"];

/** The settings of a route configuration that apply to the matches of all its routes. */
export interface MatchSettings {
  readonly ignorePathParametersInPathMatching: boolean;
}

/**
 * Returns the conditions of a match that the request does not meet or may not meet. An empty list
 * means that the route matches.
 */
export function checkMatch(
  match: RouteMatch | undefined,
  request: ReadRequest,
  settings: MatchSettings,
): readonly Finding[] {
  if (match === undefined) return [{ verdict: "no", reason: "the route has no match" }];
  return [
    checkPath(match, request, settings),
    checkShare(match),
    checkGrpc(match, request),
    checkCertificate(match, request),
    ...match.headers.map((matcher) => checkHeader(matcher, request)),
    ...match.queryParameters.map((matcher) => checkParameter(matcher, request)),
    ...match.cookies.map((matcher) => checkCookie(matcher, request)),
    ...match.dynamicMetadata.map(({ filter }) =>
      maybe(`the metadata ${quote(filter)} of the request decides`),
    ),
    ...match.filterState.map(({ key }) =>
      maybe(`the filter state ${quote(key)} of the request decides`),
    ),
  ].filter((finding) => finding !== undefined);
}

function no(reason: string): Finding {
  return { verdict: "no", reason };
}

function maybe(reason: string): Finding {
  return { verdict: "maybe", reason };
}

/**
 * Turns the result of a text comparison into a finding. Returns undefined if the condition is met.
 */
function findingOf(match: TextMatch, isInverted: boolean, reason: string): Finding | undefined {
  if (match === "unknown") return maybe(`${reason} (it cannot be evaluated here)`);
  return (match === "yes") === isInverted ? no(reason) : undefined;
}

function checkPath(
  { pathSpecifier, caseSensitive }: RouteMatch,
  request: ReadRequest,
  settings: MatchSettings,
): Finding | undefined {
  if (pathSpecifier.case === "connectMatcher")
    return request.method === "CONNECT" ? undefined : no("the method is not CONNECT");
  if (request.path === "") return no("the request has no path");
  const path = settings.ignorePathParametersInPathMatching
    ? request.barePath.replace(/;[^/]*/g, "")
    : request.barePath;
  switch (pathSpecifier.case) {
    case undefined:
      return no("the match has no path");
    case "pathMatchPolicy":
      // Templates see the parameters of the path, whatever the configuration ignores.
      return checkTemplate(pathSpecifier.value, request.barePath);
    case "safeRegex":
      return findingOf(
        matchExpression(pathSpecifier.value.regex, path),
        false,
        `the path ${quote(path)} does not match the expression ${quote(pathSpecifier.value.regex)}`,
      );
    default:
      return checkPathText(pathSpecifier.case, pathSpecifier.value, path, caseSensitive ?? true);
  }
}

function checkTemplate({ name, typedConfig }: PathPolicy, path: string): Finding | undefined {
  const template = matchTemplateOf(typedConfig);
  if (template === undefined) return maybe(`the extension ${quote(name)} decides by the path`);
  try {
    if (readUriTemplate(template).expression.matches(path)) return undefined;
  } catch (error) {
    const fault = error instanceof RangeError ? error.message : "cannot be read";
    return maybe(`Envoy rejects the template ${quote(template)}, which ${fault}`);
  }
  return no(`the path ${quote(path)} does not match the template ${quote(template)}`);
}

function checkPathText(
  kind: "prefix" | "path" | "pathSeparatedPrefix",
  wanted: string,
  path: string,
  caseSensitive: boolean,
): Finding | undefined {
  const [a, b] = caseSensitive ? [path, wanted] : [path.toLowerCase(), wanted.toLowerCase()];
  const { matches, words } = pathTexts[kind];
  return matches(a, b) ? undefined : no(`the path ${quote(path)} ${words} ${quote(wanted)}`);
}

const pathTexts = {
  prefix: {
    matches: (path: string, wanted: string) => path.startsWith(wanted),
    words: "does not begin with",
  },
  path: { matches: (path: string, wanted: string) => path === wanted, words: "is not" },
  pathSeparatedPrefix: {
    matches: (path: string, wanted: string) => path === wanted || path.startsWith(`${wanted}/`),
    words: "is not in or below",
  },
} as const;

const denominators = [100, 10_000, 1_000_000] as const;

function checkShare({ runtimeFraction }: RouteMatch): Finding | undefined {
  if (runtimeFraction?.defaultValue === undefined) return undefined;
  const { defaultValue, runtimeKey } = runtimeFraction;
  const share = (100 * defaultValue.numerator) / (denominators[defaultValue.denominator] ?? 100);
  if (runtimeKey === "" && share >= 100) return undefined;
  if (runtimeKey === "" && share <= 0) return no("its share of the requests is 0 %");
  const key =
    runtimeKey === "" ? "" : `, unless the runtime key ${quote(runtimeKey)} says otherwise`;
  return maybe(`its share of the requests is ${share} %${key}`);
}

function checkGrpc({ grpc }: RouteMatch, { headers }: ReadRequest): Finding | undefined {
  if (grpc === undefined) return undefined;
  const type = headers.get("content-type")?.[0] ?? "";
  return /^application\/grpc($|\+)/.test(type) ? undefined : no("the request is not gRPC");
}

function checkCertificate(
  { tlsContext }: RouteMatch,
  { clientCertificate }: ReadRequest,
): Finding | undefined {
  const wanted = [
    ["presented", tlsContext?.presented, clientCertificate !== "none"],
    ["validated", tlsContext?.validated, clientCertificate === "validated"],
  ] as const;
  for (const [word, value, is] of wanted) {
    if (value === undefined) continue;
    if (clientCertificate === "unknown") return maybe("the certificate of the client decides");
    if (value !== is) return no(`the certificate of the client is ${value ? "not " : ""}${word}`);
  }
  return undefined;
}

function checkHeader(matcher: HeaderMatcher, { headers }: ReadRequest): Finding | undefined {
  const { name, headerMatchSpecifier: specifier, invertMatch: isInverted } = matcher;
  const sent = headers.get(name.toLowerCase());
  const isPresence = specifier.case === "presentMatch" || specifier.case === undefined;
  if (isPresence) {
    const isWanted = (specifier.value ?? true) !== isInverted;
    const isPresent = sent !== undefined || matcher.treatMissingHeaderAsEmpty;
    if (isPresent === isWanted) return undefined;
    return no(`the header ${quote(name)} is ${isWanted ? "missing" : "present"}`);
  }
  if (sent === undefined && !matcher.treatMissingHeaderAsEmpty)
    return no(`the header ${quote(name)} is missing`);
  const values = sent ?? [""];
  const is = isInverted ? "is" : "is not";
  const words =
    specifier.case === "rangeMatch"
      ? `from ${specifier.value.start} to below ${specifier.value.end}`
      : describeText(textMatcherOf(specifier));
  return findingOf(
    anyOf(values.map((value) => matchHeaderValue(specifier, value))),
    isInverted,
    `the header ${quote(name)} is ${values.map(quote).join(" and ")}, which ${is} ${words}`,
  );
}

/**
 * Combines the results for the values of one header. A header with several values matches if any
 * value matches; an inverted matcher matches if none does.
 */
function anyOf(matches: readonly TextMatch[]): TextMatch {
  if (matches.includes("yes")) return "yes";
  return matches.includes("unknown") ? "unknown" : "no";
}

type HeaderSpecifier = Exclude<
  HeaderMatcher["headerMatchSpecifier"],
  { case: undefined } | { case: "presentMatch" }
>;

function matchHeaderValue(specifier: HeaderSpecifier, value: string): TextMatch {
  if (specifier.case !== "rangeMatch") {
    const matcher = textMatcherOf(specifier);
    // The older form of an exact match accepts any value if its own text is empty.
    if (specifier.case === "exactMatch" && matcher.matchPattern.value === "") return "yes";
    return matchText(matcher, value);
  }
  const { start, end } = specifier.value;
  if (!/^[+-]?\d{1,19}$/.test(value)) return "no";
  return BigInt(value) >= start && BigInt(value) < end ? "yes" : "no";
}

const deprecatedKinds = {
  exactMatch: "exact",
  prefixMatch: "prefix",
  suffixMatch: "suffix",
  containsMatch: "contains",
} as const;

/** Returns a header matcher, also one in an older form, as a `StringMatcher`. */
function textMatcherOf(specifier: Exclude<HeaderSpecifier, { case: "rangeMatch" }>): StringMatcher {
  if (specifier.case === "stringMatch") return specifier.value;
  return {
    $typeName: "envoy.type.matcher.v3.StringMatcher",
    ignoreCase: false,
    matchPattern:
      specifier.case === "safeRegexMatch"
        ? // eslint-disable-next-line @typescript-eslint/no-deprecated -- Envoy's API deprecates the field, but existing routes still set it
          { case: "safeRegex", value: specifier.value }
        : // eslint-disable-next-line @typescript-eslint/no-deprecated -- an older form that existing routes still have
          { case: deprecatedKinds[specifier.case], value: specifier.value },
  };
}

function checkParameter(
  { name, queryParameterMatchSpecifier: specifier }: QueryParameterMatcher,
  { query }: ReadRequest,
): Finding | undefined {
  const value = query.get(name);
  if (specifier.case === "presentMatch" || specifier.case === undefined) {
    const isWanted = specifier.value ?? true;
    if ((value !== undefined) === isWanted) return undefined;
    return no(`the query parameter ${quote(name)} is ${isWanted ? "missing" : "present"}`);
  }
  if (value === undefined) return no(`the query parameter ${quote(name)} is missing`);
  return findingOf(
    matchText(specifier.value, value),
    false,
    `the query parameter ${quote(name)} is ${quote(value)}, which is not ${describeText(specifier.value)}`,
  );
}

function checkCookie(
  { name, stringMatch, invertMatch: isInverted }: CookieMatcher,
  { cookies }: ReadRequest,
): Finding | undefined {
  const value = cookies.get(name);
  if (value === undefined)
    return isInverted ? undefined : no(`the cookie ${quote(name)} is missing`);
  return findingOf(
    matchText(stringMatch, value),
    isInverted,
    `the cookie ${quote(name)} is ${quote(value)}, which ${isInverted ? "is" : "is not"} ${describeText(stringMatch)}`,
  );
}
