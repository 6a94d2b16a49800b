import { BinaryReader } from "@bufbuild/protobuf/wire";
import { RE2JS } from "re2js";

/**
 * A template of paths, as Envoy's `uri_template` extensions use it: `/videos/{id}/*.m4s`.
 * `*` matches one segment and `**` any number of segments. `{name=...}` stores the matched text for a rewrite.
 */
export interface UriTemplate {
  /** Matches whole paths. Each variable is a group with its name. */
  readonly expression: RE2JS;
  /** The variables in order. */
  readonly variables: readonly string[];
}

/** A part of a rewrite: a text, or the value of a variable. */
type RewritePart = { readonly text: string } | { readonly variable: string };

/** The characters that a segment of a path may have (`pchar` of RFC 3986). */
const SEGMENT = "a-zA-Z0-9\\-._~%!$&'()*+,;=:@";
const literalPattern = new RegExp(`^[${SEGMENT}]+$`);
const rewritePattern = new RegExp(`^[${SEGMENT}/]+$`);
const variablePattern = /^[a-zA-Z]\w*$/;
const MAX_VARIABLES = 5;
const MAX_NAME_LENGTH = 16;

/** Reads a template. Throws a RangeError for a template that Envoy does not accept. Its text is a clause: `has the variable "a" twice`. */
export function readUriTemplate(template: string): UriTemplate {
  if (!/^\/[!-~]*$/.test(template))
    throw new RangeError(`is not a path of printable ASCII that begins with "/"`);
  const variables: string[] = [];
  const globs: string[] = [];
  let rest = template.slice(1);
  let expression = "/";
  while (rest !== "") {
    const part = readPart(rest);
    expression += part.expression;
    globs.push(...part.globs);
    if (part.variable !== undefined) variables.push(part.variable);
    rest = rest.slice(part.length);
    if (rest.startsWith("/")) {
      expression += "/";
      rest = rest.slice(1);
    } else if (rest !== "") {
      expression += escaped(literal(rest));
      rest = "";
    }
  }
  checkVariables(variables);
  const textGlob = globs.indexOf("**");
  if (textGlob >= 0 && textGlob < globs.length - 1)
    throw new RangeError(`has "${globs[textGlob + 1] ?? ""}" after "**"`);
  return { expression: RE2JS.compile(expression), variables };
}

/**
 * Reads the template of a rewrite, such as `/new/{id}`. Throws a RangeError for a template that Envoy does not accept. Its text is a clause.
 * @param variables - The variables of the template that matches the path
 */
function readRewrite(template: string, variables: readonly string[]): readonly RewritePart[] {
  if (!template.startsWith("/")) throw new RangeError(`does not begin with "/"`);
  if (template.includes("//")) throw new RangeError(`has "//"`);
  return template
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== "")
    .map((part) => {
      const variable = /^\{(.*)\}$/.exec(part)?.[1];
      if (variable !== undefined && variables.includes(variable)) return { variable };
      if (variable !== undefined)
        throw new RangeError(
          `has the variable "${variable}", which the matched template does not have`,
        );
      if (!rewritePattern.test(part)) throw new RangeError(`has "${part}", which is not a path`);
      return { text: part };
    });
}

/**
 * Rewrites a path without its query.
 * @returns The new path, or `undefined` if the path does not match or Envoy does not accept one of the templates
 */
export function rewriteByTemplate(
  template: string,
  rewrite: string,
  path: string,
): string | undefined {
  try {
    const { expression, variables } = readUriTemplate(template);
    const parts = readRewrite(rewrite, variables);
    const matcher = expression.matcher(path);
    if (!matcher.matches()) return undefined;
    return parts
      .map((part) => ("text" in part ? part.text : (matcher.group(part.variable) ?? "")))
      .join("");
  } catch {
    return undefined;
  }
}

/** Returns the template of `path_match_policy`, or `undefined` if it is another extension. */
export function matchTemplateOf(config: ExtensionConfig): string | undefined {
  return templateOf(config, "match.uri_template.v3.UriTemplateMatchConfig");
}

/** Returns the template of `path_rewrite_policy`, or `undefined` if it is another extension. */
export function rewriteTemplateOf(config: ExtensionConfig): string | undefined {
  return templateOf(config, "rewrite.uri_template.v3.UriTemplateRewriteConfig");
}

/** The `typed_config` of an extension. */
type ExtensionConfig = { readonly typeUrl: string; readonly value: Uint8Array } | undefined;

function templateOf(config: ExtensionConfig, type: string): string | undefined {
  const isIt = config?.typeUrl.endsWith(`/envoy.extensions.path.${type}`);
  return isIt === true && config !== undefined ? templateIn(config.value) : undefined;
}

/** Reads the template, which is the only field of `UriTemplateMatchConfig` and of `UriTemplateRewriteConfig`. */
function templateIn(config: Uint8Array): string {
  const reader = new BinaryReader(config);
  let template = "";
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) template = reader.string();
    else reader.skip(wireType, field); // A later version of the API may add fields, which do not change the template.
  }
  return template;
}

interface TemplatePart {
  /** The number of characters of the template. */
  readonly length: number;
  readonly expression: string;
  /** The globs in this part. */
  readonly globs: readonly string[];
  readonly variable?: string;
}

/** Reads the beginning of a segment: a glob, a variable or a text. */
function readPart(rest: string): TemplatePart {
  const glob = globAt(rest);
  if (glob !== undefined)
    return { length: glob.length, expression: globExpressions[glob], globs: [glob] };
  if (rest.startsWith("{")) return readVariable(rest);
  const text = literal(rest.split("/", 1)[0] ?? "");
  return { length: text.length, expression: escaped(text), globs: [] };
}

function readVariable(rest: string): TemplatePart {
  const end = rest.indexOf("}");
  if (end < 0) throw new RangeError(`has a "{" without a "}"`);
  const [name = "", pattern = "*"] = rest.slice(1, end).split(/=(.*)/s, 2);
  if (!variablePattern.test(name)) throw new RangeError(`has the variable name "${name}"`);
  const globs: string[] = [];
  const segments = pattern.split("/").map((segment) => {
    const glob = globAt(segment);
    if (glob === undefined) return escaped(literal(segment));
    if (segment !== glob) throw new RangeError(`has "${segment}" in the variable "${name}"`);
    globs.push(glob);
    return globExpressions[glob];
  });
  return {
    length: end + 1,
    expression: `(?P<${name}>${segments.join("/")})`,
    globs,
    variable: name,
  };
}

const globExpressions = { "*": `(?:[${SEGMENT}]+)`, "**": `(?:[${SEGMENT}/]*)` } as const;

function globAt(text: string): keyof typeof globExpressions | undefined {
  if (text.startsWith("**")) return "**";
  return text.startsWith("*") ? "*" : undefined;
}

function literal(text: string): string {
  if (!literalPattern.test(text))
    throw new RangeError(
      text === "" ? "has an empty segment" : `has "${text}", which is not a segment of a path`,
    );
  return text;
}

/** Returns a text as a part of a regular expression. Like Envoy, it does not escape `*`: `/a*` matches `/aa` and `/`. */
function escaped(text: string): string {
  return text.replaceAll(/[$()+.]/g, "\\$&").replaceAll(/\*+/g, "*");
}

function checkVariables(variables: readonly string[]): void {
  if (variables.length > MAX_VARIABLES)
    throw new RangeError(`has ${variables.length} variables, and ${MAX_VARIABLES} are allowed`);
  const long = variables.find((name) => name.length > MAX_NAME_LENGTH);
  if (long !== undefined)
    throw new RangeError(
      `has the variable "${long}", whose name is longer than ${MAX_NAME_LENGTH} characters`,
    );
  const twice = variables.find((name, index) => variables.indexOf(name) < index);
  if (twice !== undefined) throw new RangeError(`has the variable "${twice}" twice`);
}
