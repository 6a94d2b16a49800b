/** The path of a problem in an answer of Envoy: field names as in the `.proto` file, indexes, and keys of maps. */
export type ReasonPath = readonly (string | number)[];

/** The reason why Envoy rejects a configuration. */
export interface EnvoyReason {
  /** One line, without the parts of the configuration that Envoy repeats. */
  readonly message: string;
  /** The place of the problem, as far as Envoy reports it. */
  readonly where:
    | { readonly kind: "position"; readonly line: number; readonly column: number }
    /** A path from the root of the configuration. */
    | { readonly kind: "path"; readonly path: ReasonPath }
    /** A path from a message. Only the last part of the name of its type is known, such as `HttpConnectionManager`. */
    | { readonly kind: "message"; readonly type: string; readonly path: ReasonPath }
    /** Texts that may be values of the configuration. The most specific comes first. */
    | { readonly kind: "words"; readonly words: readonly string[] };
}

/** The number of characters of a message. Longer messages are cut. */
const longest = 300;

/** Reads the text that Envoy writes after `error initializing configuration`. */
export function readReason(output: string): EnvoyReason {
  const text = output.replaceAll(/ +/g, " "); // Envoy writes some spaces twice.
  const reason = syntaxReason(text) ?? jsonReason(text) ?? constraintReason(text) ?? plain(text);
  return { ...reason, message: cut(oneLine(reason.message)) };
}

function syntaxReason(text: string): EnvoyReason | undefined {
  const [, line, column, message] =
    /^yaml-cpp: error at line (\d+), column (\d+): (.*)/s.exec(text) ?? [];
  if (line === undefined || column === undefined || message === undefined) return undefined;
  return { message, where: { kind: "position", line: Number(line), column: Number(column) } };
}

/** Reads a text like `invalid JSON in envoy.config.bootstrap.v3.Bootstrap @ static_resources.clusters[0]: message envoy.config.cluster.v3.Cluster, near 1:42 (offset 41): no such field: 'x'`. */
function jsonReason(text: string): EnvoyReason | undefined {
  const [, at, rest] =
    /INVALID_ARGUMENT: invalid\s+JSON\s+in\s+\S+\s+@\s+(\S+):\s+(?:\w+\s+)?[\w.]+,\s+near\s+\S+\s+\(offset\s+\d+\): (.*)/s.exec(
      text,
    ) ?? [];
  if (at === undefined || rest === undefined) {
    const type = /INVALID_ARGUMENT: (could not find @type '([^']*)')/.exec(text);
    return type?.[1] === undefined || type[2] === undefined
      ? undefined
      : { message: type[1], where: { kind: "words", words: [type[2]] } };
  }
  const message = rest.replace(/\)(?: has unknown fields|: \{.*)?$/s, "");
  const unknown = /^no such field: '([^']*)'/.exec(message)?.[1];
  const path = [
    ...stepsOf(at.replaceAll(/\.?<any>/g, "")),
    ...(unknown === undefined ? [] : [unknown]),
  ];
  return { message, where: { kind: "path", path } };
}

function stepsOf(path: string): ReasonPath {
  return Array.from(
    path.matchAll(/([^.[\]]+)|\[(\d+)\]/g),
    ([, name, index]) => name ?? Number(index),
  );
}

/** Reads a text like `(BootstrapValidationError.Admin: embedded message failed validation | caused by AdminValidationError.Address: value is required)`. */
function constraintReason(text: string): EnvoyReason | undefined {
  const chain = /Proto constraint validation failed \((.*)\)\s*$/s.exec(text)?.[1];
  if (chain === undefined) return undefined;
  const path: (string | number)[] = [];
  let root: string | undefined;
  let message = "";
  for (const link of chain.split(" | caused by ")) {
    const [, type, field, key, reason] =
      /^(\w+)ValidationError\.(\w+)(?:\[(.*?)\])?: (.*)$/s.exec(link) ?? [];
    if (type === undefined || field === undefined || reason === undefined) {
      const [, oneof, why] = /^field: "?(\w+)"?, reason: (.*)$/s.exec(link) ?? [];
      message = oneof === undefined || why === undefined ? link : `${oneof} ${why}`;
      continue;
    }
    root ??= type;
    path.push(snakeCase(field));
    if (key !== undefined) path.push(/^\d+$/.test(key) ? Number(key) : key);
    message = `${snakeCase(field)}: ${reason}`;
  }
  if (root === undefined) return { message, where: { kind: "words", words: [] } };
  const where =
    root === "Bootstrap"
      ? ({ kind: "path", path } as const)
      : ({ kind: "message", type: root, path } as const);
  return { message, where };
}

/** Converts the name of a field in generated C++: `ConnectTimeout` becomes `connect_timeout`. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/^_/, "");
}

/** Reads another text, such as `route: unknown cluster 'web'`. Parts of the configuration that Envoy repeats are left out. */
function plain(text: string): EnvoyReason {
  const withoutDump = text
    .replaceAll(/:? ?(?:in )?goo\.gle\/debug\w*.*?(?=: Proto constraint|\. The v2|$)/gs, "")
    .replace(/\): \{.*$/s, ")");
  const message = withoutDump.replace(/^Error: /, "");
  const quoted = Array.from(message.matchAll(/'([^']+)'|"([^"]+)"/g), ([, a, b]) => a ?? b ?? "");
  const afterColon = /: ([^:]+?)(?:\. [A-Z].*)?$/s.exec(message)?.[1] ?? "";
  const script = /\[string "(.*?)(?:\.\.\.)?"\]/s.exec(message)?.[1] ?? "";
  const others = message
    .split(/[\s,;]+/)
    .filter((word) => /[._/:%0-9]/.test(word) || /^[A-Z0-9_]{6,}$/.test(word));
  const words = [script, ...quoted, afterColon, ...others].filter((word) => word.length > 1);
  return { message, where: { kind: "words", words: [...new Set(words)] } };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}...` : text;
}
