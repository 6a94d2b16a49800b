import type { Registry } from "@bufbuild/protobuf";
import { typeNameFromUrl, typeUrlFromName } from "../type-url.ts";

/** The type URL of every message in a registry, sorted. */
export function typeUrlsOf(registry: Registry): readonly string[] {
  const messages = [...registry].filter((type) => type.kind === "message");
  return messages.map((message) => typeUrlFromName(message.typeName)).toSorted();
}

/**
 * Those of the types that a registry does not have, each once, in the order given. For a check of what a client announces in `Node.extensions`.
 *
 * @param types - Type URLs or names of messages; Envoy announces names.
 */
export function unknownTypes(types: Iterable<string>, registry: Registry): readonly string[] {
  return [...new Set(types)].filter(
    (type) => registry.getMessage(typeNameFromUrl(type)) === undefined,
  );
}
