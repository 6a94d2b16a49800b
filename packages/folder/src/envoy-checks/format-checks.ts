import {
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
  keyStep,
  type Oneof,
} from "./envoy-check.ts";
import { formatOperators, operatorsWithArgument } from "./format-operators.ts";

interface FormatString {
  readonly format: Oneof;
  readonly formatters: readonly object[];
}

/** What Envoy rejects in the formats of access logs and headers. */
export const formatChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-format", "envoy.config.core.v3.SubstitutionFormatString", formatString),
  envoyCheck("bad-format", "envoy.config.core.v3.HeaderValueOption", headerValue),
  envoyCheck("bad-format", "envoy.extensions.access_loggers.file.v3.FileAccessLog", fileLog),
];

function* formatString({ format, formatters }: FormatString): Iterable<EnvoyFinding> {
  const hasMore = formatters.length > 0;
  if (format.case === "textFormat" && typeof format.value === "string")
    yield* inText(format.value, ["text_format"], hasMore);
  if (format.case === "textFormatSource") {
    const { specifier } = format.value as { readonly specifier: Oneof };
    if (specifier.case === "inlineString" && typeof specifier.value === "string")
      yield* inText(specifier.value, ["text_format_source", "inline_string"], hasMore);
  }
  if (format.case === "jsonFormat") yield* inJson(format.value, ["json_format"], hasMore);
}

function* fileLog({ accessLogFormat: format }: { accessLogFormat: Oneof }): Iterable<EnvoyFinding> {
  if (format.case === "format" && typeof format.value === "string")
    yield* inText(format.value, ["format"], false);
}

function* headerValue({ header }: { header?: { readonly value: string } }): Iterable<EnvoyFinding> {
  yield* inText(header?.value ?? "", ["header", "value"], false);
}

/** The texts of a Struct, which is JSON. */
function* inJson(
  value: unknown,
  at: readonly (string | number)[],
  hasMore: boolean,
): Iterable<EnvoyFinding> {
  if (typeof value === "string") yield* inText(value, at, hasMore);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* inJson(item, [...at, index], hasMore);
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value))
      yield* inJson(item, [...at, keyStep(key)], hasMore);
}

/** An operator from its percent sign on: `%NAME(argument):length%`. */
const operator = /%([A-Z0-9_]+)(?:\(([^%]*?|[^]*?)\))?(?::\d+)?%/y;

/** What is wrong with a format. */
function* inText(
  text: string,
  at: readonly (string | number)[],
  hasMore: boolean,
): Iterable<EnvoyFinding> {
  let from = text.indexOf("%");
  while (from !== -1) {
    if (text[from + 1] === "%") {
      from = text.indexOf("%", from + 2);
      continue;
    }
    operator.lastIndex = from;
    const [whole, name = "", argument] = operator.exec(text) ?? [];
    if (whole === undefined) {
      yield finding(
        at,
        `has a "%" at character ${from + 1} that begins no operator`,
        'write "%%" for a percent sign, and an operator as %NAME% or %NAME(argument):length%',
      );
      return;
    }
    if (!hasMore && !formatOperators.has(name))
      yield finding(at, `has the operator %${name}%, which Envoy does not know`);
    else if (argument === undefined && operatorsWithArgument.has(name))
      yield finding(at, `has the operator %${name}% without its argument`, `write %${name}(...)%`);
    from = text.indexOf("%", from + whole.length);
  }
}
