import {
  type DescMessage,
  fromBinary,
  type JsonValue,
  type Registry,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { withoutSecrets } from "@xdstp/protos/envoy";
import { typeUrlOf } from "@xdstp/resource-types";

/** The shortest secret that is redacted. Shorter texts occur in too many words. */
const leastLength = 4;

/** Returns a function that removes the secrets of a message from a text of Envoy. */
export function createRedaction(
  { desc, message }: ReflectMessage,
  registry: Registry,
): (text: string) => string {
  const value = toBinary(desc, message);
  const shown = withoutSecrets({ typeUrl: typeUrlOf(desc.typeName), value }, registry).value;
  if (shown === value) return (text) => text;
  const kept = new Set(textsIn(desc, shown, registry));
  const secrets = textsIn(desc, value, registry).filter(
    (text) => !kept.has(text) && text.length >= leastLength,
  );
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}

/** Returns all texts in a message, and the lines of each. */
function textsIn(desc: DescMessage, value: Uint8Array, registry: Registry): readonly string[] {
  const json = toJson(desc, fromBinary(desc, value), { registry });
  return leavesOf(json).flatMap((text) => [text, ...text.split("\n")]);
}

function leavesOf(json: JsonValue): readonly string[] {
  if (typeof json === "string") return [json];
  if (typeof json !== "object" || json === null) return [];
  return Object.values(json).flatMap((value) => leavesOf(value));
}
