import type { Registry } from "@bufbuild/protobuf";
import { ResourceJsonError } from "@xdstp/protos/envoy";
import type { PathStep } from "@xdstp/validate";
import { Fault, quote } from "../folder-problem.ts";
import { explainJsonError, jsonReason } from "../json-reason.ts";
import { typeHint } from "../key-hint.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
} from "./envoy-check.ts";
import { isForeignType } from "./extension-checks.ts";
import {
  decodeStruct,
  isReadAsMessage,
  type TypedStruct,
  typedStructs,
  typeOfStruct,
} from "./typed-structs.ts";

/** Content of a `TypedStruct` that is not a message of the type that it names. */
export const typedStructChecks: readonly EnvoyCheck[] = Array.from(typedStructs, (type) =>
  envoyCheck("wrong-value", type, contentOfStruct),
);

function* contentOfStruct(
  struct: TypedStruct,
  { visited, registry }: CheckScene,
): Iterable<EnvoyFinding> {
  if (!isReadAsMessage(visited.path) || isOptional(visited.above?.message.message)) return;
  const type = typeOfStruct(struct);
  const [field, above] = fieldsAround(visited.path);
  if (field !== undefined && isForeignType(type, field, above)) {
    const message = `${type} is not a type for ${field}`;
    yield { ...finding(["type_url"], message), code: "wrong-extension" };
    return;
  }
  try {
    const isKnown = decodeStruct(struct, registry) !== undefined;
    if (isKnown || !type.startsWith("envoy.")) return;
    const message = `the type ${quote(type)} is not known`;
    yield { ...finding(["type_url"], message, typeHint(type, registry)), code: "unknown-type" };
  } catch (error) {
    yield faultOfStruct(error, registry);
  }
}

/** Returns an error of the content as a finding about its field. */
function faultOfStruct(error: unknown, registry: Registry): EnvoyFinding {
  if (error instanceof ResourceJsonError) {
    const { code, message, hint, owner } = jsonReason(error.reason, registry);
    const text = owner === undefined ? message : `${owner}: ${message}`;
    return { ...finding(["value", ...error.path], text, hint), code };
  }
  const {
    code,
    message,
    hint,
    path = [],
  } = (error instanceof Fault ? error : explainJsonError(error, { path: [] }, registry)).details;
  return { ...finding(["value", ...path], message, hint), code };
}

/** Returns true if Envoy leaves out a filter that it cannot create. */
function isOptional(holder: object | undefined): boolean {
  return (holder as { readonly isOptional?: boolean } | undefined)?.isOptional === true;
}

/** Returns the field of an extension, and the field around it: `http_filters` of `http_filters[1].typed_config`. */
function fieldsAround(path: readonly PathStep[]): readonly (string | undefined)[] {
  const names = path.flatMap((step) =>
    step.kind === "field" ? [step.name] : step.kind === "key" ? [step.key] : [],
  );
  return [names.at(-2), names.at(-3)];
}
