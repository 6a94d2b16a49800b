import { fromBinary, type JsonObject, type Registry } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { PathStep } from "@xdstp/validate";
import { anyFromJson } from "@xdstp/protos/envoy";
import { asEnvoyReads } from "../as-envoy-reads.ts";

/** The types of a configuration that is written as a Struct, together with the name of its own type. */
export const typedStructs: ReadonlySet<string> = new Set([
  "xds.type.v3.TypedStruct",
  "udpa.type.v1.TypedStruct",
]);

/** A generated `TypedStruct`. */
export interface TypedStruct {
  readonly typeUrl: string;
  readonly value?: JsonObject;
}

/** The step from a `TypedStruct` to its Struct. */
export const structStep: PathStep = { kind: "field", name: "value", jsonName: "value" };

/**
 * Returns true if Envoy reads the `TypedStruct` at a path as the message that it names, which it does in the configuration of an extension.
 * Elsewhere, such as in `configuration` of Wasm, the extension itself reads it.
 */
export function isReadAsMessage(path: readonly PathStep[]): boolean {
  const fields = path.filter((step) => step.kind === "field");
  const last = fields.at(-1)?.name;
  return last !== undefined && extensionFields.has(last);
}

/** The fields with the configuration of an extension. */
const extensionFields: ReadonlySet<string> = new Set([
  "typed_config",
  "typed_extension_protocol_options",
  "typed_per_filter_config",
]);

/** Returns the name of the type of a `TypedStruct`. */
export function typeOfStruct({ typeUrl }: TypedStruct): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

/** Decodes the message that a `TypedStruct` holds. undefined: the registry does not have its type. Throws a fault or an error of the JSON reader. */
export function decodeStruct(struct: TypedStruct, registry: Registry): ReflectMessage | undefined {
  const desc = registry.getMessage(typeOfStruct(struct));
  if (desc === undefined) return undefined;
  const json = asEnvoyReads(struct.value ?? {}, desc, registry);
  const { value } = anyFromJson(
    { ...json, "@type": `type.googleapis.com/${desc.typeName}` },
    registry,
  );
  return reflect(desc, fromBinary(desc, value));
}
