import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../../documents-of.ts";
import type { Backends, BackendProtocol } from "./backends.ts";
import { type GatewayListener, hostnameAt } from "./gateway-listeners.ts";
import {
  booleanOf,
  field,
  integerOf,
  isSet,
  itemsOf,
  notImported,
  type ObjectNode,
  oneOf,
  reportUnread,
  reportWrong,
  requiredText,
  textOf,
} from "./object-node.ts";
import type { RouteMatch } from "./route-matches.ts";

/** The effect of the filters of a rule or of a backend. */
export interface RouteFilters {
  /** Fields of a route or of a weighted cluster that change headers. */
  readonly headers: JsonObject;
  /** Returns fields of the action that forwards requests. */
  forward(match: RouteMatch): JsonObject;
  /** Settings of HTTP filters for the route. */
  readonly perFilter: JsonObject;
  /** Returns the redirect that replaces forwarding. undefined: there is no redirect. */
  readonly redirect: ((match: RouteMatch) => JsonObject) | undefined;
  /** True if a filter cannot be applied. The requests are then rejected, since no filter may be skipped. */
  readonly isBroken: boolean;
}

/** The rule that the filters belong to. */
export interface FilterContext {
  readonly listener: GatewayListener;
  readonly backends: Backends;
  readonly protocol: BackendProtocol;
  /** True if they are the filters of one backend. */
  readonly isBackend: boolean;
}

/** Reads the list `filters` of a rule or a backendRef. */
export function filtersOf(list: ObjectNode, context: FilterContext): RouteFilters {
  reportRepeated(list);
  const read = itemsOf(list).map((node) => filterAt(node, context));
  const known = read.filter((one) => one !== undefined);
  const mirrors = known.flatMap(({ mirrors: own = [] }) => own);
  const redirect = known.find((one) => one.redirect !== undefined)?.redirect;
  if (redirect !== undefined && known.some(changesForwarding))
    notImported(
      list,
      "the rule redirects all requests, so that its RequestMirror and URLRewrite do nothing",
      "remove them, or the RequestRedirect",
    );
  return {
    headers: mergeLists(known.map(({ headers = {} }) => headers)),
    perFilter: Object.assign({}, ...known.map(({ perFilter = {} }) => perFilter)) as JsonObject,
    redirect,
    isBroken: known.length < read.length,
    forward: (match) => ({
      ...(Object.assign({}, ...known.map(({ rewrite }) => rewrite?.(match) ?? {})) as JsonObject),
      ...(mirrors.length > 0 && { request_mirror_policies: mirrors }),
    }),
  };
}

/** Kubernetes accepts a filter of each type once, except for these. */
const repeatable: ReadonlySet<string> = new Set(["RequestMirror", "ExtensionRef"]);

function reportRepeated(list: ObjectNode): void {
  const seen = new Set<string>();
  for (const node of itemsOf(list)) {
    const type = requiredText(field(node, "type"));
    if (type !== "" && seen.has(type) && !repeatable.has(type))
      reportWrong(node, `the only ${type} in its list; join it with the one before`);
    seen.add(type);
  }
}

interface Filter {
  readonly headers?: JsonObject;
  readonly perFilter?: JsonObject;
  readonly mirrors?: readonly JsonObject[];
  readonly redirect?: (match: RouteMatch) => JsonObject;
  readonly rewrite?: (match: RouteMatch) => JsonObject;
}

/** Returns true if a filter affects only requests that are forwarded. */
function changesForwarding({ mirrors, rewrite }: Filter): boolean {
  return mirrors !== undefined || rewrite !== undefined;
}

/** The field with the settings of each filter type. */
const settings: Readonly<Record<string, string>> = {
  RequestHeaderModifier: "requestHeaderModifier",
  ResponseHeaderModifier: "responseHeaderModifier",
  RequestRedirect: "requestRedirect",
  URLRewrite: "urlRewrite",
  RequestMirror: "requestMirror",
  CORS: "cors",
};
const ofBackends = ["RequestHeaderModifier", "ResponseHeaderModifier"];
const ofGrpc = [...ofBackends, "RequestMirror"];

/** Reads a filter. undefined: it cannot be applied, which is reported. */
function filterAt(node: ObjectNode, context: FilterContext): Filter | undefined {
  const type = requiredText(field(node, "type"));
  const name = settings[type];
  const known = context.isBackend
    ? ofBackends
    : context.protocol === "grpc"
      ? ofGrpc
      : Object.keys(settings);
  if (name === undefined || !known.includes(type)) {
    notImported(
      node,
      `the filter ${JSON.stringify(type)} is not supported ${context.isBackend ? "for one backend" : "here"}, so these requests are answered with an error`,
      `use ${known.join(", ")}, or write the filter into the files`,
    );
    return undefined;
  }
  reportUnread(node, ["type", name]);
  const own = field(node, name);
  if (!isSet(own)) {
    reportWrong(own, "set, and the type of the filter needs it");
    return undefined;
  }
  switch (type) {
    case "RequestHeaderModifier":
      return headersBy(own, "request");
    case "ResponseHeaderModifier":
      return headersBy(own, "response");
    case "RequestRedirect":
      return redirectBy(own, context);
    case "URLRewrite":
      return rewriteBy(own);
    case "RequestMirror":
      return mirrorBy(own, context);
    default:
      return corsBy(own);
  }
}

/** Joins the lists that have the same name. */
function mergeLists(parts: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = {};
  for (const [key, value] of parts.flatMap((part) => Object.entries(part)))
    merged[key] = [merged[key] ?? [], value].flat();
  return merged;
}

/** Returns the header changes of one filter followed by those of another one. Envoy removes headers before it adds those of the same list, so a header that the second filter removes is not added by the first. */
export function headersAfter(first: JsonObject, second: JsonObject): JsonObject {
  const kept = { ...first };
  for (const side of ["request", "response"] as const) {
    const added = `${side}_headers_to_add`;
    const isRemoved = new Set([second[`${side}_headers_to_remove`] ?? []].flat().map(lowerCase));
    kept[added] = [first[added] ?? []]
      .flat()
      .filter((change) => !isRemoved.has(lowerCase(changedHeader(change))));
  }
  return Object.fromEntries(
    Object.entries(mergeLists([kept, second])).filter(([, list]) => [list].flat().length > 0),
  );
}

/** Returns the header name in a HeaderValueOption. */
function changedHeader(change: JsonValue): JsonValue {
  const header = isObject(change) ? change.header : undefined;
  return isObject(header) ? (header.key ?? "") : "";
}

function lowerCase(name: JsonValue): string {
  return typeof name === "string" ? name.toLowerCase() : "";
}

const token = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;

function headersBy(node: ObjectNode, side: "request" | "response"): Filter | undefined {
  reportUnread(node, ["set", "add", "remove"]);
  const changes = (["set", "add"] as const).flatMap((key) =>
    firstOfEachName(field(node, key)).map((item) => ({
      at: field(item, "name"),
      key: headerName(field(item, "name")),
      // Envoy reads a percent sign as the start of an operator.
      value: headerValue(field(item, "value")).replaceAll("%", "%%"),
      append_action: key === "set" ? "OVERWRITE_IF_EXISTS_OR_ADD" : "APPEND_IF_EXISTS_OR_ADD",
    })),
  );
  const removed = itemsOf(field(node, "remove")).map((at) => ({ at, key: headerName(at) }));
  const fixed = [...changes, ...removed].filter(({ key }) => key.toLowerCase() === "host");
  for (const { at } of fixed)
    notImported(
      at,
      "Envoy does not change the header Host so, and these requests are answered with an error",
      "use the filter URLRewrite with hostname",
    );
  if (fixed.length > 0) return undefined;
  return {
    headers: {
      ...(changes.length > 0 && {
        [`${side}_headers_to_add`]: changes.map(({ key, value, append_action }) => ({
          header: { key, value },
          append_action,
          keep_empty_value: true,
        })),
      }),
      ...(removed.length > 0 && { [`${side}_headers_to_remove`]: removed.map(({ key }) => key) }),
    },
  };
}

/** Returns the first of several entries for the same header. */
function firstOfEachName(list: ObjectNode): readonly ObjectNode[] {
  const seen = new Set<string>();
  return itemsOf(list).filter((item) => {
    const name = (textOf(field(item, "name")) ?? "").toLowerCase();
    const isFirst = !seen.has(name);
    seen.add(name);
    return isFirst;
  });
}

function headerName(node: ObjectNode): string {
  const name = requiredText(node);
  if (name !== "" && !token.test(name)) reportWrong(node, "the name of a header");
  return name;
}

function headerValue(node: ObjectNode): string {
  const value = textOf(node) ?? "";
  if (/[\0\r\n]/.test(value)) reportWrong(node, "the value of a header: it has more than one line");
  return value;
}

const redirectCodes: Readonly<Record<number, string>> = {
  301: "MOVED_PERMANENTLY",
  302: "FOUND",
  303: "SEE_OTHER",
  307: "TEMPORARY_REDIRECT",
  308: "PERMANENT_REDIRECT",
};

function redirectBy(node: ObjectNode, { listener }: FilterContext): Filter {
  reportUnread(node, ["scheme", "hostname", "path", "port", "statusCode"]);
  const scheme = isSet(field(node, "scheme"))
    ? oneOf(field(node, "scheme"), ["http", "https"], "http")
    : undefined;
  const hostname = preciseHostname(field(node, "hostname"));
  const status = integerOf(field(node, "statusCode"), 301, 308) ?? 302;
  const code = redirectCodes[status];
  if (code === undefined) reportWrong(field(node, "statusCode"), "301, 302, 303, 307 or 308");
  const port = redirectPort(integerOf(field(node, "port"), 1, 65_535), {
    scheme,
    hostname,
    listener,
  });
  const path = pathModifier(field(node, "path"));
  return {
    redirect: (match) => ({
      ...(scheme !== undefined && { scheme_redirect: scheme }),
      ...(hostname !== undefined && { host_redirect: hostname }),
      ...(port !== undefined && { port_redirect: port }),
      ...pathChange(path, match, "path_redirect"),
      response_code: code ?? "FOUND",
    }),
  };
}

/** Returns a hostname without a wildcard. undefined: it is not set. */
function preciseHostname(node: ObjectNode): string | undefined {
  const hostname = isSet(node) ? hostnameAt(node) : undefined;
  if (hostname?.startsWith("*") !== true) return hostname;
  reportWrong(node, 'a hostname such as "shop.example", without a wildcard');
  return undefined;
}

const usualPorts = { http: 80, https: 443 } as const;

/** Returns the port of a redirect: the one that is set, otherwise the default of its scheme, otherwise that of the listener. undefined: the location has no port. */
function redirectPort(
  written: number | undefined,
  {
    scheme,
    hostname,
    listener,
  }: {
    readonly scheme: "http" | "https" | undefined;
    readonly hostname: string | undefined;
    readonly listener: GatewayListener;
  },
): number | undefined {
  const own = listener.protocol === "HTTPS" ? "https" : "http";
  const usual = usualPorts[scheme ?? own];
  const port = written ?? (scheme === undefined ? listener.port : usual);
  // Without a port and a hostname, Envoy keeps the port of the Host header. That header has a port if the port of the listener is not the default of its scheme.
  const isKept = hostname === undefined && listener.port !== usualPorts[own];
  return port === usual && !isKept ? undefined : port;
}

function rewriteBy(node: ObjectNode): Filter {
  reportUnread(node, ["hostname", "path"]);
  const hostname = preciseHostname(field(node, "hostname"));
  const path = pathModifier(field(node, "path"));
  return {
    rewrite: (match) => ({
      ...(hostname !== undefined && { host_rewrite_literal: hostname }),
      ...pathChange(path, match, "regex_rewrite"),
    }),
  };
}

/** The replacement of a path. */
interface PathModifier {
  readonly node: ObjectNode;
  readonly type: "ReplaceFullPath" | "ReplacePrefixMatch";
  readonly to: string;
}

const modifierFields = {
  ReplaceFullPath: "replaceFullPath",
  ReplacePrefixMatch: "replacePrefixMatch",
} as const;

/** Reads a path modifier. undefined: the path does not change. */
function pathModifier(node: ObjectNode): PathModifier | undefined {
  if (!isSet(node)) return undefined;
  const fields = Object.values(modifierFields);
  reportUnread(node, ["type", ...fields]);
  const types = ["ReplaceFullPath", "ReplacePrefixMatch"] as const;
  const type = oneOf(field(node, "type"), types, "ReplaceFullPath");
  if (type === undefined) return undefined;
  for (const name of fields) {
    const value = field(node, name);
    if (name === modifierFields[type] && !isSet(value))
      reportWrong(value, "set, and the type needs it");
    if (name !== modifierFields[type] && isSet(value)) reportWrong(value, "for this type");
  }
  return { node, type, to: textOf(field(node, modifierFields[type])) ?? "" };
}

/** Returns the fields of an action that replaces the path. `whole` is the name of the field that replaces all of it. */
function pathChange(
  modifier: PathModifier | undefined,
  match: RouteMatch,
  whole: "path_redirect" | "regex_rewrite",
): JsonObject {
  if (modifier === undefined) return {};
  const { node, type } = modifier;
  const path = modifier.to.startsWith("/") ? modifier.to : `/${modifier.to}`;
  if (type === "ReplacePrefixMatch") {
    if (match.prefix !== undefined) return prefixChange(match.prefix, path.replace(/\/+$/, ""));
    reportWrong(
      field(node, "type"),
      "possible: the rule matches by something else than PathPrefix",
    );
    return {};
  }
  return whole === "path_redirect" ? { path_redirect: path } : rewriteAll("^/.*$", path);
}

/** Both without a slash at the end. */
function prefixChange(from: string, to: string): JsonObject {
  if (from === to) return {};
  if (from === "") return { prefix_rewrite: `${to}/` };
  return to === "" ? rewriteAll(`^${escaped(from)}/*`, "/") : { prefix_rewrite: to };
}

function rewriteAll(regex: string, to: string): JsonObject {
  return {
    regex_rewrite: { pattern: { regex }, substitution: to.replaceAll("\\", "\\\\") },
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Reads a mirror. One without a usable backend is reported, and requests are still forwarded. */
function mirrorBy(node: ObjectNode, { backends, protocol }: FilterContext): Filter {
  reportUnread(node, ["backendRef", "percent", "fraction"]);
  const reference = field(node, "backendRef");
  reportUnread(reference, ["group", "kind", "namespace", "name", "port"]);
  const name = backends.clusterOf(reference, protocol);
  if (name === undefined) return {};
  const percent = integerOf(field(node, "percent"), 0, 100);
  const numerator = integerOf(field(node, "fraction", "numerator"), 0, 2 ** 31);
  const denominator = integerOf(field(node, "fraction", "denominator"), 1, 2 ** 31) ?? 100;
  const share = numerator === undefined ? (percent ?? 100) / 100 : numerator / denominator;
  return {
    mirrors: [
      {
        cluster: name,
        ...(share < 1 && { runtime_fraction: { default_value: millionth(share) } }),
      },
    ],
  };
}

/** Returns a share from 0 to 1 in the form of Envoy. */
export function millionth(share: number): JsonObject {
  return { numerator: Math.round(share * 1_000_000), denominator: "MILLION" };
}

function corsBy(node: ObjectNode): Filter {
  reportUnread(node, [
    "allowOrigins",
    "allowCredentials",
    "allowMethods",
    "allowHeaders",
    "exposeHeaders",
    "maxAge",
  ]);
  const texts = (key: string): string =>
    itemsOf(field(node, key))
      .map((item) => requiredText(item))
      .join(",");
  const listed = (key: string, to: string): JsonObject =>
    texts(key) === "" ? {} : { [to]: texts(key) };
  const maxAge = integerOf(field(node, "maxAge"), 1, 2 ** 31 - 1);
  return {
    perFilter: {
      "envoy.filters.http.cors": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy",
        allow_origin_string_match: itemsOf(field(node, "allowOrigins")).map((item) =>
          originMatch(requiredText(item)),
        ),
        ...listed("allowMethods", "allow_methods"),
        ...listed("allowHeaders", "allow_headers"),
        ...listed("exposeHeaders", "expose_headers"),
        max_age: String(maxAge ?? 5),
        ...(booleanOf(field(node, "allowCredentials")) === true && { allow_credentials: true }),
      },
    },
  };
}

/** In an origin, `*` matches any number of characters, also across labels. */
function originMatch(origin: string): JsonObject {
  if (!origin.includes("*")) return { exact: origin };
  return { safe_regex: { regex: origin.split("*").map(escaped).join(".*") } };
}
