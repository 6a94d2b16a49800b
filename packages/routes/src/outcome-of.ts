import type { RedirectAction, Route, RouteAction } from "@xdstp/protos/envoy/route";
import { withoutPort } from "./find-virtual-host.ts";
import { replaceExpression } from "./match-text.ts";
import { matchTemplateOf, rewriteByTemplate, rewriteTemplateOf } from "./uri-template.ts";
import { firstValue, type ReadRequest, withoutQuery } from "./route-request.ts";

/** The action of a route for a request. */
export type RouteOutcome =
  | ForwardedOutcome
  | {
      readonly kind: "redirect";
      readonly status: number;
      /**
       * The `Location` header. Undefined if only Envoy can compute it, such as with a formatter.
       */
      readonly location: string | undefined;
    }
  | { readonly kind: "direct-response"; readonly status: number }
  /** The route is meant for a client such as gRPC, or a filter sends the response. */
  | { readonly kind: "other"; readonly action: string };

/** The request is forwarded to a cluster. */
export interface ForwardedOutcome {
  /** Distinguishes this outcome from the others. */
  readonly kind: "cluster";
  /**
   * The clusters, with their weights; one of them gets the request. Empty if an extension chooses
   * the cluster, or if the request does not have the header that names the cluster.
   */
  readonly clusters: readonly { readonly name: string; readonly weight: number }[];
  /** The setting that chooses the cluster. */
  readonly chosenBy: "name" | "weights" | "header" | "extension";
  /** The path that the cluster gets. Undefined if only Envoy can compute it. */
  readonly path: string | undefined;
  /**
   * The host that the cluster gets. Undefined if only Envoy can compute it, such as from the name
   * of the endpoint.
   */
  readonly host: string | undefined;
}

/** Returns the action of a matching route for a request. */
export function outcomeOf(route: Route, request: ReadRequest): RouteOutcome {
  const { action } = route;
  switch (action.case) {
    case "route":
      return forwarded(route, action.value, request);
    case "redirect":
      return {
        kind: "redirect",
        status: redirectCodes[action.value.responseCode] ?? 301,
        location: locationOf(route, action.value, request),
      };
    case "directResponse":
      return { kind: "direct-response", status: action.value.status };
    default:
      return { kind: "other", action: action.case ?? "none" };
  }
}

const redirectCodes: Readonly<Record<number, number>> = { 1: 302, 2: 303, 3: 307, 4: 308 };

function forwarded(route: Route, action: RouteAction, request: ReadRequest): ForwardedOutcome {
  return {
    kind: "cluster",
    ...clustersOf(action, request),
    path: rewrittenPath(route, action, request),
    host: rewrittenHost(action, request),
  };
}

function clustersOf(
  { clusterSpecifier: specifier }: RouteAction,
  request: ReadRequest,
): Pick<ForwardedOutcome, "clusters" | "chosenBy"> {
  const one = (name: string) => ({ name, weight: 1 });
  switch (specifier.case) {
    case "cluster":
      return { chosenBy: "name", clusters: [one(specifier.value)] };
    case "clusterHeader": {
      const name = firstValue(request, specifier.value);
      return { chosenBy: "header", clusters: name === undefined ? [] : [one(name)] };
    }
    case "weightedClusters":
      return {
        chosenBy: "weights",
        clusters: specifier.value.clusters
          .map(({ name, clusterHeader, weight }) => ({
            name: name === "" ? (firstValue(request, clusterHeader) ?? "") : name,
            weight: weight ?? 0,
          }))
          .filter(({ weight }) => weight > 0),
      };
    default:
      return { chosenBy: "extension", clusters: [] };
  }
}

/** The settings with which a route or a redirect changes the path. */
type PathRewrite = Pick<RouteAction, "prefixRewrite" | "regexRewrite" | "pathRewrite"> & {
  readonly pathRewritePolicy?: RouteAction["pathRewritePolicy"];
};

function rewrittenPath(
  { match }: Route,
  { prefixRewrite, regexRewrite, pathRewrite, pathRewritePolicy }: PathRewrite,
  { path }: ReadRequest,
): string | undefined {
  if (pathRewrite !== "") return undefined;
  if (pathRewritePolicy !== undefined) return templatedPath(match, pathRewritePolicy, path);
  if (prefixRewrite !== "")
    return prefixRewrite + path.slice(matchedLength(match?.pathSpecifier, path));
  if (regexRewrite?.pattern === undefined) return path;
  const bare = withoutQuery(path);
  const replaced = replaceExpression(regexRewrite.pattern.regex, bare, regexRewrite.substitution);
  return replaced === undefined ? undefined : replaced + path.slice(bare.length);
}

/** Returns the path of `path_rewrite_policy`, with the query of the request. Returns `undefined` if another extension decides, or if Envoy does not accept a template. */
function templatedPath(
  match: Route["match"],
  { typedConfig }: NonNullable<PathRewrite["pathRewritePolicy"]>,
  path: string,
): string | undefined {
  const specifier = match?.pathSpecifier;
  const template =
    specifier?.case === "pathMatchPolicy"
      ? matchTemplateOf(specifier.value.typedConfig)
      : undefined;
  const rewrite = rewriteTemplateOf(typedConfig);
  if (template === undefined || rewrite === undefined) return undefined;
  const bare = withoutQuery(path);
  const rewritten = rewriteByTemplate(template, rewrite, bare);
  return rewritten === undefined ? undefined : rewritten + path.slice(bare.length);
}

/**
 * Returns the length of the text that `prefix_rewrite` replaces: the prefix or path of the match,
 * or the whole path if the match is a regular expression.
 */
function matchedLength(
  specifier: NonNullable<Route["match"]>["pathSpecifier"] | undefined,
  path: string,
): number {
  return typeof specifier?.value === "string" ? specifier.value.length : withoutQuery(path).length;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function rewrittenHost(
  { hostRewriteSpecifier: specifier }: RouteAction,
  request: ReadRequest,
): string | undefined {
  const { authority, barePath } = request;
  switch (specifier.case) {
    case undefined:
      return authority;
    case "hostRewriteLiteral":
      return specifier.value;
    case "hostRewriteHeader":
      return nonEmpty(firstValue(request, specifier.value)) ?? authority;
    case "hostRewritePathRegex":
      return replaceExpression(
        specifier.value.pattern?.regex ?? "",
        barePath,
        specifier.value.substitution,
      );
    case "autoHostRewrite":
      return specifier.value.value ? undefined : authority;
    default:
      return undefined;
  }
}

function locationOf(
  route: Route,
  redirect: RedirectAction,
  request: ReadRequest,
): string | undefined {
  const { schemeRewriteSpecifier: scheme, hostRedirect, portRedirect } = redirect;
  const newScheme =
    scheme.case === "schemeRedirect" && scheme.value !== ""
      ? scheme.value
      : scheme.case === "httpsRedirect" && scheme.value
        ? "https"
        : request.scheme;
  const port = portRedirect === 0 ? "" : `:${portRedirect}`;
  const host = hostRedirect === "" ? redirectedHost(request, newScheme, port) : hostRedirect;
  const path = redirectedPath(route, redirect, request);
  if (path === undefined) return undefined;
  return `${newScheme}://${host}${port}${path.startsWith("/") ? "" : "/"}${path}`;
}

/**
 * Returns the host of the request. It removes a port that the redirect replaces, and a port that
 * was the default of the old scheme.
 */
function redirectedHost(
  { authority, scheme }: ReadRequest,
  newScheme: string,
  newPort: string,
): string {
  const host = withoutPort(authority);
  const isDefault = authority.slice(host.length) === (scheme === "https" ? ":443" : ":80");
  return newPort !== "" || (newScheme !== scheme && isDefault) ? host : authority;
}

function redirectedPath(
  route: Route,
  { pathRewriteSpecifier: specifier, stripQuery }: RedirectAction,
  request: ReadRequest,
): string | undefined {
  const query = request.path.slice(withoutQuery(request.path).length);
  const kept = (path: string | undefined): string | undefined =>
    stripQuery && path !== undefined ? withoutQuery(path) : path;
  switch (specifier.case) {
    case undefined:
      return kept(request.path);
    case "pathRedirect":
      return specifier.value.includes("?") || stripQuery
        ? specifier.value
        : specifier.value + query;
    case "prefixRewrite":
      return kept(rewrittenPath(route, { ...noRewrite, prefixRewrite: specifier.value }, request));
    case "regexRewrite":
      return kept(rewrittenPath(route, { ...noRewrite, regexRewrite: specifier.value }, request));
    case "pathRewrite":
      return undefined;
  }
}

const noRewrite: PathRewrite = { prefixRewrite: "", pathRewrite: "" };
