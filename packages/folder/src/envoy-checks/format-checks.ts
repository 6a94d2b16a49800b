import {
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  keyStep,
  type Oneof,
  typeOfExtension,
} from "./envoy-check.ts";
import { celFault } from "./cel-expression.ts";
import { isOperator, operatorFault } from "./format-operators.ts";

interface FormatString {
  readonly format: Oneof;
  readonly formatters: readonly Extension[];
}

/** The operators that configured formatters add. */
const operatorsOfFormatters: Readonly<Record<string, readonly string[]>> = {
  "cel.v3.Cel": ["CEL", "TYPED_CEL"],
  "metadata.v3.Metadata": ["METADATA"],
  "req_without_query.v3.ReqWithoutQuery": ["REQ_WITHOUT_QUERY"],
};

/** undefined: there may be any. */
function operatorsOf(formatters: readonly Extension[]): readonly string[] | undefined {
  const lists = formatters.map(
    (one) =>
      operatorsOfFormatters[
        (typeOfExtension(one) ?? "").replace("envoy.extensions.formatter.", "")
      ],
  );
  return lists.some((list) => list === undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

/** Checks of the formats of access logs and headers. */
export const formatChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-format", "envoy.config.core.v3.SubstitutionFormatString", formatString),
  envoyCheck("bad-format", "envoy.config.core.v3.HeaderValueOption", headerValue),
  envoyCheck("bad-format", "envoy.extensions.access_loggers.file.v3.FileAccessLog", fileLog),
  envoyCheck(
    "bad-format",
    "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig",
    telemetryLog,
  ),
  envoyCheck(
    "bad-format",
    "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter",
    expression,
  ),
  envoyCheck("bad-format", "xds.type.matcher.v3.CelMatcher", matcher),
  envoyCheck(
    "bad-format",
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig",
    tunnel,
  ),
];

function* formatString({ format, formatters }: FormatString): Iterable<EnvoyFinding> {
  const kind = { more: operatorsOf(formatters) };
  if (format.case === "textFormat" && typeof format.value === "string")
    yield* inText(format.value, ["text_format"], kind);
  if (format.case === "textFormatSource") {
    const { specifier } = format.value as { readonly specifier: Oneof };
    if (specifier.case === "inlineString" && typeof specifier.value === "string")
      yield* inText(specifier.value, ["text_format_source", "inline_string"], kind);
  }
  if (format.case === "jsonFormat") yield* inJson(format.value, ["json_format"], kind);
}

function* fileLog({ accessLogFormat: format }: { accessLogFormat: Oneof }): Iterable<EnvoyFinding> {
  if (format.case === "format" && typeof format.value === "string")
    yield* inText(format.value, ["format"]);
  if (format.case === "jsonFormat") yield* inJson(format.value, ["json_format"], { more: [] });
  if (format.case === "typedJsonFormat")
    yield* inJson(format.value, ["typed_json_format"], { more: [] });
}

/** A generated `AnyValue` of OpenTelemetry. */
interface AnyValue {
  readonly value: Oneof;
}

interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}

interface Values<Value> {
  readonly values: readonly Value[];
}

/** The texts of resource_attributes are not formats. */
function* telemetryLog({
  body,
  attributes,
  formatters,
}: {
  body?: AnyValue;
  attributes?: Values<KeyValue>;
  formatters: readonly Extension[];
}): Iterable<EnvoyFinding> {
  const kind = { more: operatorsOf(formatters) };
  if (body !== undefined) yield* inValue(body, ["body"], kind);
  if (attributes !== undefined) yield* inPairs(attributes, ["attributes"], kind);
}

function* inPairs(
  { values }: Values<KeyValue>,
  at: readonly (string | number)[],
  kind: TextKind,
): Iterable<EnvoyFinding> {
  for (const [index, { value }] of values.entries())
    if (value !== undefined) yield* inValue(value, [...at, "values", index, "value"], kind);
}

function* inValue(
  { value: { case: form, value } }: AnyValue,
  at: readonly (string | number)[],
  kind: TextKind,
): Iterable<EnvoyFinding> {
  switch (form) {
    case "stringValue":
      yield* inText(String(value), [...at, "string_value"], kind);
      break;
    case "arrayValue":
      for (const [index, one] of (value as Values<AnyValue>).values.entries())
        yield* inValue(one, [...at, "array_value", "values", index], kind);
      break;
    case "kvlistValue":
      yield* inPairs(value as Values<KeyValue>, [...at, "kvlist_value"], kind);
      break;
    default:
      yield finding(at, "must be a string_value, an array_value or a kvlist_value");
  }
}

function* headerValue({ header }: { header?: { readonly value: string } }): Iterable<EnvoyFinding> {
  yield* inText(header?.value ?? "", ["header", "value"], { more: [], isOfHeader: true });
}

/** The texts of a Struct, which is JSON. */
function* inJson(
  value: unknown,
  at: readonly (string | number)[],
  kind: TextKind,
): Iterable<EnvoyFinding> {
  if (typeof value === "string") yield* inText(value, at, kind);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* inJson(item, [...at, index], kind);
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value))
      yield* inJson(item, [...at, keyStep(key)], kind);
}

/** An operator from its percent sign on: `%NAME(argument):length%`. */
const operator = /%([A-Z0-9_]+)(?:\(([^\n]*?)\))?(?::(\d+))?%/y;

/** Lengths are numbers of 64 bits. */
const maxLength = 18_446_744_073_709_551_615n;

interface TextKind {
  /** Operators of formatters that are configured; undefined: they are not known. */
  readonly more?: readonly string[] | undefined;
  readonly isOfHeader?: boolean;
}

/** Finds the faults of a format. */
function* inText(
  text: string,
  at: readonly (string | number)[],
  { more, isOfHeader = false }: TextKind = { more: [] },
): Iterable<EnvoyFinding> {
  let from = text.indexOf("%");
  while (from !== -1) {
    if (text[from + 1] === "%") {
      from = text.indexOf("%", from + 2);
      continue;
    }
    operator.lastIndex = from;
    const [whole, name = "", argument, length] = operator.exec(text) ?? [];
    if (whole === undefined || (length !== undefined && BigInt(length) > maxLength)) {
      yield finding(
        at,
        `has a "%" at character ${from + 1} that begins no operator`,
        'write "%%" for a percent sign, and an operator as %NAME% or %NAME(argument):length%',
      );
      return;
    }
    const hasLength = length !== undefined;
    const fault = operatorFault({ name, argument, hasLength, isOfHeader });
    const isAdded = !isOperator(name) && (more === undefined || more.includes(name));
    if (fault !== undefined && !isAdded) yield finding(at, fault);
    from = text.indexOf("%", from + whole.length);
  }
}

function* expression({ expression: text }: { expression: string }): Iterable<EnvoyFinding> {
  const fault = celFault(text);
  if (fault !== undefined) yield finding(["expression"], fault);
}

/** Matchers have parsed expressions only. */
function* matcher({
  exprMatch,
}: {
  exprMatch?: {
    readonly exprSpecifier: Oneof;
    readonly celExprParsed?: object;
    readonly celExprChecked?: object;
  };
}): Iterable<EnvoyFinding> {
  if (exprMatch === undefined || exprMatch.exprSpecifier.case !== undefined) return;
  if (exprMatch.celExprParsed === undefined && exprMatch.celExprChecked === undefined)
    yield finding(
      ["expr_match"],
      "has no parsed expression",
      "set cel_expr_parsed; Envoy does not parse cel_expr_string",
    );
}

function* tunnel({
  hostname,
  formatters,
}: {
  hostname: string;
  formatters: readonly Extension[];
}): Iterable<EnvoyFinding> {
  yield* inText(hostname, ["hostname"], { more: operatorsOf(formatters) });
}
