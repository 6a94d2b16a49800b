import type { Registry } from "@bufbuild/protobuf";
import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  type Oneof,
} from "./envoy-check.ts";
import { unpackAny } from "./visit-messages.ts";

const matchType = "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig";
const rewriteType = "envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig";

/** Checks of templates of paths, and of the routes that have one. */
export const pathTemplateChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-value", matchType, template),
  envoyCheck("bad-value", rewriteType, rewriteTemplate),
  envoyCheck("bad-route", "envoy.config.route.v3.Route", routeOfTemplate),
];

/** The fault of a template, as the predicate of a sentence about it. */
interface TemplateFault {
  readonly message: string;
  readonly hint?: string;
}

function* template({ pathTemplate }: { pathTemplate: string }): Iterable<EnvoyFinding> {
  const fault = pathTemplate === "" ? undefined : templateFault(pathTemplate);
  if (fault !== undefined) yield finding(["path_template"], fault.message, fault.hint);
}

function* rewriteTemplate({
  pathTemplateRewrite: text,
}: {
  pathTemplateRewrite: string;
}): Iterable<EnvoyFinding> {
  const fault = text === "" ? undefined : rewriteFault(text);
  if (fault !== undefined) yield finding(["path_template_rewrite"], fault.message, fault.hint);
}

/** A variable, and the pattern of what it matches. */
const variable = /\{([^{}=]*)(?:=([^{}]*))?\}/g;
const maxVariables = 5;
const nameHint =
  'a name has a letter and up to 15 letters, digits and "_" behind it; write a variable as "{name}"';

function templateFault(path: string): TemplateFault | undefined {
  const names = new Set<string>();
  const fault = textFault(path);
  if (fault !== undefined) return fault;
  for (const [, name = "", pattern] of path.matchAll(variable)) {
    if (!isName(name) || name.length > 16)
      return { message: `has a variable ${quote(name)}, which is not a name`, hint: nameHint };
    if (names.has(name)) return { message: `has the variable ${quote(name)} twice` };
    if (pattern !== undefined && !pattern.split("/").every(isPatternOfVariable))
      return { message: `has a bad pattern for the variable ${quote(name)}` };
    names.add(name);
  }
  if (path.includes("}{")) return { message: "has two variables with nothing between them" };
  if (names.size > maxVariables)
    return { message: `has ${names.size} variables, and the limit is ${maxVariables}` };
  return globsFault(path.replaceAll(variable, (_, __, pattern = "*") => String(pattern)));
}

function rewriteFault(text: string): TemplateFault | undefined {
  const bad = Array.from(text.matchAll(variable), ([all]) => all.slice(1, -1)).find(
    (name) => !isName(name),
  );
  return (
    textFault(text) ??
    (bad === undefined
      ? undefined
      : { message: `has a variable ${quote(bad)}, which is not a name`, hint: nameHint })
  );
}

/** Returns the fault of the text around the variables. undefined: it is valid. */
function textFault(text: string): TemplateFault | undefined {
  const rest = text.replaceAll(/\{[^{}]+\}/g, "x");
  if (/[{}]/.test(rest))
    return {
      message: "has a bracket without its counterpart",
      hint: 'write a variable as "{name}"',
    };
  if (!text.startsWith("/")) return { message: 'must begin with "/"' };
  if (rest.includes("//")) return { message: 'has "//", which has no name between its slashes' };
  const stray = /[^A-Za-z0-9\-._~%!$&'()*+,;:=@/]/u.exec(rest)?.[0];
  return stray === undefined
    ? undefined
    : { message: `has ${quote(stray)}, which a template cannot have` };
}

function isName(text: string): boolean {
  return /^[A-Za-z]\w*$/.test(text);
}

function isPatternOfVariable(segment: string): boolean {
  return /^(?:\*{1,2}|[A-Za-z0-9\-._~%!$&'()+,;:=@][A-Za-z0-9\-._~%!$&'()*+,;:=@]*)$/.test(segment);
}

/** `**` takes what comes, so that no star can begin a later segment. */
function globsFault(path: string): TemplateFault | undefined {
  const globs = path.split("/").filter((segment) => segment.startsWith("*"));
  const at = globs.findIndex((segment) => segment.startsWith("**"));
  return at === -1 || at === globs.length - 1
    ? undefined
    : { message: 'has "*" or a variable behind "**"' };
}

interface Route {
  readonly match?: { readonly pathSpecifier: Oneof<Extension> };
  readonly action: Oneof<{
    readonly prefixRewrite?: string;
    readonly pathRewritePolicy?: Extension;
    readonly pathRewriteSpecifier?: Oneof<string>;
  }>;
}

function* routeOfTemplate(
  { match, action }: Route,
  { registry }: CheckScene,
): Iterable<EnvoyFinding> {
  const { case: form, value: policy } = match?.pathSpecifier ?? { case: undefined };
  const path =
    form === "pathMatchPolicy" ? textOf(policy, matchType, "pathTemplate", registry) : undefined;
  if (form === "pathMatchPolicy" && path === undefined) return;
  const { value: settings } = action;
  const rewrite =
    action.case === "route"
      ? textOf(settings?.pathRewritePolicy, rewriteType, "pathTemplateRewrite", registry)
      : undefined;
  const redirect = action.case === "redirect" ? settings?.pathRewriteSpecifier : undefined;
  if (path !== undefined && redirect?.case === "prefixRewrite")
    yield finding(
      ["redirect", "prefix_rewrite"],
      "needs a match by prefix, and this one is a template",
      "use path_redirect or regex_rewrite",
    );
  if (path !== undefined && action.case === "route" && (settings?.prefixRewrite ?? "") !== "")
    yield finding(
      ["route", "prefix_rewrite"],
      "needs a match by prefix, and this one is a template",
      "use path_rewrite_policy",
    );
  if (rewrite === undefined) return;
  const at = ["route", "path_rewrite_policy", "typed_config", "path_template_rewrite"];
  if (path === undefined) {
    yield finding(at.slice(0, 2), "needs a match by template", "set path_match_policy");
    return;
  }
  if (templateFault(path) !== undefined || rewriteFault(rewrite) !== undefined) return;
  const names = new Set(Array.from(path.matchAll(variable), ([, name]) => name));
  for (const [, name = ""] of rewrite.matchAll(variable))
    if (!names.has(name))
      yield finding(at, `has the variable ${quote(name)}, which path_match_policy does not have`);
}

/** A text of an extension of this type; undefined: it has another type. */
function textOf(
  extension: Extension | undefined,
  type: string,
  field: string,
  registry: Registry,
): string | undefined {
  const message = extension?.typedConfig && unpackAny(extension.typedConfig, registry);
  if (message?.desc.typeName !== type) return undefined;
  return (message.message as unknown as Readonly<Record<string, string>>)[field];
}
