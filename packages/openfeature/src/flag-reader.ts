import { type DescMessage, fromBinary, type MessageShape, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { XdsError } from "@xdstp/core";
import { typeUrlFromType } from "@xdstp/uri";

/** A value of JSON. */
export type FlagJson =
  null | boolean | number | string | readonly FlagJson[] | { readonly [key: string]: FlagJson };

/** One flag, as flagd defines it. */
export interface FlagDefinition {
  /** `DISABLED`: the default in the code of the caller is used. */
  readonly state: "ENABLED" | "DISABLED";
  /** The values, by the names of the variants; all of one type. */
  readonly variants: Readonly<Record<string, FlagJson>>;
  /** Absent or null: the default in the code of the caller is used. */
  readonly defaultVariant?: string | null;
  /** A rule of JSONLogic that returns the name of a variant. Absent: always `defaultVariant`. */
  readonly targeting?: FlagJson;
  /** Values about the flag, which are sent with each evaluation. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>;
}

/** Reads flags from the resources of one type. */
export interface FlagReader {
  /** The type URL of the resources. */
  readonly typeUrl: string;
  /**
   * Returns the definitions in a resource, by key. `key` is the last part of the name of the
   * resource. Throws for a resource that is not valid; its last valid definitions then stay.
   */
  read(value: Uint8Array, key: string): ReadonlyMap<string, unknown>;
}

/**
 * Reads flags from messages of your own. `define` translates one message to the definition of one
 * flag, whose key is the last part of the name of the resource.
 */
export function typedFlags<Schema extends DescMessage>(
  schema: Schema,
  define: (message: MessageShape<Schema>, key: string) => FlagDefinition,
): FlagReader {
  return {
    typeUrl: typeUrlFromType(schema.typeName),
    read: (value, key) => new Map([[key, define(fromBinary(schema, value), key)]]),
  };
}

/**
 * Reads flags from resources of the type `google.protobuf.Struct`, whose content is JSON of flagd:
 * one definition, or an object with `flags` and, optionally, `$evaluators` and `metadata`.
 */
export const structFlags: FlagReader = {
  typeUrl: typeUrlFromType("google.protobuf.Struct"),
  read(value, key) {
    const json = toJson(StructSchema, fromBinary(StructSchema, value));
    if (!isObject(json)) throw invalid("the content is not an object");
    const { flags, $evaluators: evaluators = {}, metadata = {} } = json;
    if (flags === undefined) return new Map([[key, json]]);
    if (!isObject(flags)) throw invalid("flags is not an object with a definition for each key");
    if (!isObject(evaluators)) throw invalid("$evaluators is not an object");
    if (!isObject(metadata)) throw invalid("metadata is not an object");
    return new Map(
      Object.entries(flags).map(([one, definition]) => {
        if (!isObject(definition)) throw invalid(`flags.${one} is not an object`);
        const { metadata: own } = definition;
        const whole = { ...definition, metadata: { ...metadata, ...(isObject(own) ? own : {}) } };
        return [one, withEvaluators(whole, evaluators)];
      }),
    );
  },
};

type JsonObject = Readonly<Record<string, FlagJson>>;

/**
 * Replaces `{ "$ref": NAME }` by the evaluator of this name, so that equal names in other resources
 * do not collide. An evaluator does not refer to others.
 */
function withEvaluators(json: FlagJson, evaluators: JsonObject): FlagJson {
  if (Array.isArray(json)) return json.map((one: FlagJson) => withEvaluators(one, evaluators));
  if (!isObject(json)) return json;
  const { $ref: ref } = json;
  if (typeof ref === "string") {
    const found = Object.hasOwn(evaluators, ref) ? evaluators[ref] : undefined;
    if (found === undefined)
      throw invalid(`$ref "${ref}" is not in the $evaluators of the same resource`);
    return found;
  }
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key, withEvaluators(value, evaluators)]),
  );
}

function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function invalid(text: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", text);
}
