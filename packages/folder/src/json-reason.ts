import {
  type DescMessage,
  fromBinary,
  type JsonObject,
  type MessageShape,
  type Registry,
} from "@bufbuild/protobuf";
import { anyFromJson, ResourceJsonError } from "@xdstp/protos/envoy";
import { typeUrlOf } from "@xdstp/resource-types";
import { enumHint } from "./closest.ts";
import { Fault, type FaultPlace, type JsonPath, reasonOf, shownKey } from "./folder-problem.ts";
import { keyHint, typeHint } from "./key-hint.ts";
import type { ProblemCode } from "./problem-codes.ts";

/** An error of the JSON reader in a form for people. */
export interface JsonReason {
  readonly code: ProblemCode;
  readonly message: string;
  /** The value that is expected. Absent: the message says it. */
  readonly hint?: string | undefined;
  /** The type that the message is about, if the field does not exist. Absent: the message is about the field that is being read. */
  readonly owner?: string;
}

/** The kind of file that is read. */
interface ReasonSubject {
  /** true: the file is a bootstrap, so keys of a bootstrap are not a hint at a misplaced one. Default: false. */
  readonly isBootstrap?: boolean;
}

/** Explains an error of the JSON reader: the value that was found, and the one that is expected. An unknown error is returned as it is. */
export function jsonReason(
  reason: string,
  registry: Registry,
  subject: ReasonSubject = {},
): JsonReason {
  for (const [pattern, explain] of explanations) {
    const match = pattern.exec(reason);
    if (match !== null) return explain(match[1] ?? "", match[2] ?? "", registry, subject);
  }
  return { code: "wrong-value", message: reason };
}

/** Explains an error. `name`: the enum, message or field. `rest`: the error about it. */
type Explain = (
  name: string,
  rest: string,
  registry: Registry,
  subject: ReasonSubject,
) => JsonReason;

const explanations: readonly (readonly [RegExp, Explain])[] = [
  [
    /^cannot decode enum (\S+) from JSON: (.*)$/s,
    (name, rest, registry) => ({
      code: "wrong-enum-value",
      message: `${found(rest) ?? rest} is not a valid ${name}`,
      hint: enumHint(name, rest.replaceAll('"', ""), registry),
    }),
  ],
  [/^cannot decode message (\S+) from JSON: key "(.*)" is unknown$/s, unknownKey],
  [
    /^(the type \S+ is not known)(?:; (.*))?$/s,
    (message, hint, registry) => ({
      code: "unknown-type",
      message,
      hint: typeHint(typeOf(message), registry) ?? (hint === "" ? undefined : hint),
    }),
  ],
  [/^cannot decode (?:message )?(\S+) from JSON:? (.*)$/s, message],
  [/^cannot decode field (\S+) from JSON: (.*)$/s, field],
  [
    /^cannot decode oneof (\S+) from JSON: oneof set multiple times by (.*)$/s,
    (name, rest) => ({
      code: "oneof-conflict",
      message: `${rest} are both set, but only one of ${name.slice(name.lastIndexOf(".") + 1)} can be`,
      hint: "keep one of them",
    }),
  ],
];

/** Returns the type in `the type type.googleapis.com/a.B is not known`. */
function typeOf(message: string): string {
  const [, , url = ""] = message.split(" ");
  return url.slice(url.lastIndexOf("/") + 1);
}

function unknownKey(
  name: string,
  key: string,
  registry: Registry,
  { isBootstrap = false }: ReasonSubject,
): JsonReason {
  if (!isBootstrap && bootstrapKeys.has(key))
    return {
      code: "unknown-field",
      owner: name,
      message: `key "${key}" is unknown`,
      hint: bootstrapHint,
    };
  return {
    code: "unknown-field",
    owner: name,
    message: `key "${shownKey(key)}" is unknown`,
    hint: keyHint(key, registry.getMessage(name)),
  };
}

/** The first keys of a static configuration of Envoy. */
const bootstrapKeys: ReadonlySet<string> = new Set([
  "admin",
  "static_resources",
  "staticResources",
  "dynamic_resources",
  "dynamicResources",
]);
const bootstrapHint =
  "this looks like an Envoy bootstrap: xdstp import envoy FILE DIR moves its static resources into a folder";

/** Messages that have a form of their own in JSON. */
const forms: Readonly<Record<string, string>> = {
  "google.protobuf.Duration": 'write seconds, such as "1.5s"',
  "google.protobuf.Timestamp": 'write it as "2026-11-21T12:00:00Z"',
  "google.protobuf.FieldMask": 'write paths, such as "a.b,c"',
  "google.protobuf.Any": 'write an object with "@type"',
  "google.protobuf.ListValue": "write a list",
};

function message(name: string, rest: string): JsonReason {
  const value = found(rest.replace(/^expected object but got /, ""));
  return {
    code: "wrong-value",
    message: value === undefined ? rest : `${value} is not a valid ${name}`,
    hint: forms[name] ?? (value === undefined ? undefined : "write its fields as keys"),
  };
}

/** Explains an error about a field. The reader reports a wrapped number as the field `value` of its wrapper, but the number is written directly. */
function field(
  name: string,
  rest: string,
  _: Registry,
  { isBootstrap = false }: ReasonSubject,
): JsonReason {
  const [, expected = "", got = ""] = /^expected (.*?), got (.*)$/s.exec(rest) ?? [];
  const value = found(got);
  const code = "wrong-value";
  const message =
    value === undefined
      ? rest
      : `expected ${expected === "Array" ? "a list" : expected}, got ${value}`;
  if (got === "object" && name.startsWith("google.protobuf."))
    return { code, message, hint: "write the value itself" };
  const words = isBootstrap && expected === "string" ? booleanWords[got] : undefined;
  if (words !== undefined)
    return { code, message, hint: `put it in quotes; without them Envoy reads ${words} as ${got}` };
  if (expected === "string" && /^(-?[\d.]+|true|false)$/.test(got))
    return { code, message, hint: `put it in quotes: "${got}"` };
  if (expected === "string" && /^a (number|boolean)$/.test(got))
    return { code, message, hint: "put it in quotes" };
  if (expected === "boolean") return { code, message, hint: "write true or false" };
  return { code, message };
}

/** The texts that YAML 1.1, which Envoy reads, has for a boolean. */
const booleanWords: Readonly<Record<string, string | undefined>> = {
  true: "y, yes, on and true",
  false: "n, no, off and false",
};

/** Returns a value of a reader's error in words; for a secret, only its kind. Returns `undefined` if the text is not a value. */
function found(text: string): string | undefined {
  if (text === "object") return "an object";
  if (/^Array\(\d+\)$/.test(text)) return "a list";
  return /^(".*"|-?[\d.e+]+|true|false|null|a text|a number|a boolean)$/s.test(text)
    ? text
    : undefined;
}

/** Matches the error about two fields of a oneof that are both set. */
const twoOfOneof = /oneof set multiple times by (.*)$/s;

/** The number of steps at the end of a path that are shown. Line and column locate the rest. */
const mostSteps = 12;

/** Returns an error of the JSON reader as a fault with its path: the field, the value that was found, and the expected value as a hint. */
export function explainJsonError(
  error: unknown,
  place: FaultPlace,
  registry: Registry,
  subject: ReasonSubject = {},
): Fault {
  if (!(error instanceof ResourceJsonError))
    return new Fault({ ...place, code: "wrong-value", message: reasonOf(error) });
  const { code, message, hint, owner } = jsonReason(error.reason, registry, subject);
  const path = [...place.path, ...error.path];
  const about = owner ?? (error.path.length === 0 ? undefined : fieldOf(path));
  const [, second] = / and (\S+)$/.exec(twoOfOneof.exec(error.reason)?.[1] ?? "") ?? [];
  return new Fault({
    ...place,
    path: second === undefined ? path : [...path, second],
    code,
    message: `${about === undefined ? "" : `${about}: `}${message}`,
    ...(hint !== undefined && { hint }),
  });
}

/** Decodes a message from JSON whose keys are fields. Throws a fault with a path below `path`. */
export function messageFrom<Desc extends DescMessage>(
  desc: Desc,
  json: JsonObject,
  path: JsonPath,
  { registry }: { readonly registry: Registry },
): MessageShape<Desc> {
  try {
    return fromBinary(
      desc,
      anyFromJson({ ...json, "@type": typeUrlOf(desc.typeName) }, registry).value,
    );
  } catch (error) {
    throw explainJsonError(error, { path }, registry);
  }
}

/** Returns a path as text, such as `virtual_hosts[0].routes[2].route.cluster`. */
export function fieldOf(path: JsonPath): string {
  const steps = path
    .slice(-mostSteps)
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${shownKey(step)}`));
  return `${path.length > mostSteps ? "..." : ""}${steps.join("").replace(/^\./, "")}`;
}
