import type { Registry } from "@bufbuild/protobuf";
import type { ProblemCode } from "../problem-codes.ts";
import type { PathStep } from "@xdstp/validate";
import type { VisitedMessage } from "./visit-messages.ts";

/** What Envoy rejects in a message. */
export interface EnvoyFinding {
  /** The way from the message: names of fields as in the `.proto` file, indexes, keys of maps. */
  readonly at: readonly (string | number)[];
  /** What is wrong, as the predicate of a sentence about the field. */
  readonly message: string;
  /** The way out, where the message does not say it. */
  readonly hint?: string;
}

/** Files by the paths of a configuration. */
export interface EnvoyFiles {
  readonly exists: (path: string) => boolean;
  /** The text of a small file, such as one of certificates; undefined: it is not there, or large. */
  readonly read: (path: string) => string | undefined;
}

/** Where a check looks, in addition to its message. */
export interface CheckScene {
  readonly visited: VisitedMessage;
  readonly registry: Registry;
  /** The files that Envoy reads when it starts; undefined where they are on another machine. */
  readonly files?: EnvoyFiles | undefined;
}

/** One thing that Envoy's code rejects though the rules of the message allow it. */
export interface EnvoyCheck {
  readonly code: ProblemCode;
  /** The full name of the message. */
  readonly type: string;
  readonly find: (message: object, scene: CheckScene) => Iterable<EnvoyFinding>;
}

/** A check of a message, whose generated fields the parameter of `find` lists as far as they are read. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- The one place where a message is taken for what its type name says.
export function envoyCheck<Message extends object>(
  code: ProblemCode,
  type: string,
  find: (message: Message, scene: CheckScene) => Iterable<EnvoyFinding>,
): EnvoyCheck {
  return { code, type, find: find as EnvoyCheck["find"] };
}

/** A finding. */
export function finding(at: EnvoyFinding["at"], message: string, hint?: string): EnvoyFinding {
  return { at, message, ...(hint !== undefined && { hint }) };
}

/** The path of a finding, from the root of what is checked. */
export function pathOfFinding(visited: VisitedMessage, { at }: EnvoyFinding): readonly PathStep[] {
  return [...visited.path, ...at.map(stepOf)];
}

function stepOf(step: string | number): PathStep {
  if (typeof step === "number") return { kind: "index", index: step };
  if (step.startsWith("[")) return { kind: "key", key: step.slice(1, -1) };
  const jsonName = step.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return { kind: "field", name: step, jsonName };
}

/** The step to a key of a map. */
export function keyStep(key: string): string {
  return `[${key}]`;
}

/** A oneof of a generated message. */
export interface Oneof<Value = unknown> {
  readonly case: string | undefined;
  readonly value?: Value;
}

/** A generated `DataSource`. */
export interface DataSource {
  readonly specifier: Oneof<string | Uint8Array>;
}

/** A generated `TypedExtensionConfig`, or one of the older forms of it. */
export interface Extension {
  readonly name: string;
  readonly typedConfig?: { readonly typeUrl: string; readonly value: Uint8Array } | undefined;
  readonly configType?: Oneof<{ readonly typeUrl: string; readonly value: Uint8Array }>;
}

/** The name of the type of an extension; undefined: it has no configuration. */
export function typeOfExtension({ typedConfig, configType }: Extension): string | undefined {
  const any = typedConfig ?? (configType?.case === "typedConfig" ? configType.value : undefined);
  return any === undefined ? undefined : any.typeUrl.slice(any.typeUrl.lastIndexOf("/") + 1);
}
