import type { Registry } from "@bufbuild/protobuf";
import type { ProblemCode } from "../problem-codes.ts";
import type { PathStep } from "@xdstp/validate";
import type { VisitedMessage } from "./visit-messages.ts";

/** A problem in a message, because of which Envoy rejects it. */
export interface EnvoyFinding {
  /** The path from the message: field names as in the `.proto` file, indexes, keys of maps. */
  readonly at: readonly (string | number)[];
  /** The problem, as the predicate of a sentence about the field. */
  readonly message: string;
  /** A solution, if the message does not have one. */
  readonly hint?: string;
  /** The code of the problem. Default: that of the check. */
  readonly code?: ProblemCode;
}

/** Files by the paths of a configuration. */
export interface EnvoyFiles {
  readonly exists: (path: string) => boolean;
  /** Returns the text of a small file, such as a certificate. undefined: the file does not exist, or is large. */
  readonly read: (path: string) => string | undefined;
  /** Returns the bytes of a small file, such as a bundle of PKCS#12. undefined: the file does not exist, or is large. Absent: only texts can be read. */
  readonly readBytes?: (path: string) => Uint8Array | undefined;
}

/** The surroundings of a message that a check may read. */
export interface CheckScene {
  readonly visited: VisitedMessage;
  readonly registry: Registry;
  /** The files that Envoy reads when it starts. undefined: they are on another machine. */
  readonly files?: EnvoyFiles | undefined;
}

/** A check for content that the rules of a message allow, but Envoy's code rejects. */
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

/** Creates a finding. */
export function finding(at: EnvoyFinding["at"], message: string, hint?: string): EnvoyFinding {
  return { at, message, ...(hint !== undefined && { hint }) };
}

/** Returns the path of a finding from the root of the checked message. */
export function pathOfFinding(visited: VisitedMessage, { at }: EnvoyFinding): readonly PathStep[] {
  return [...visited.path, ...at.map(stepOf)];
}

function stepOf(step: string | number): PathStep {
  if (typeof step === "number") return { kind: "index", index: step };
  if (step.startsWith("[")) return { kind: "key", key: step.slice(1, -1) };
  const jsonName = step.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return { kind: "field", name: step, jsonName };
}

/** Returns the path step to a key of a map. */
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

/** A generated `TypedExtensionConfig`, or one of its older forms. */
export interface Extension {
  readonly name: string;
  readonly typedConfig?: { readonly typeUrl: string; readonly value: Uint8Array } | undefined;
  readonly configType?: Oneof<{ readonly typeUrl: string; readonly value: Uint8Array }>;
}

/** Returns the type name of an extension. undefined: it has no configuration. */
export function typeOfExtension({ typedConfig, configType }: Extension): string | undefined {
  const any = typedConfig ?? (configType?.case === "typedConfig" ? configType.value : undefined);
  return any === undefined ? undefined : any.typeUrl.slice(any.typeUrl.lastIndexOf("/") + 1);
}
