import type { Registry } from "@bufbuild/protobuf";
import { typeUrlFromName } from "../type-url.ts";

/** The type URL of every message in a registry, sorted. */
export function typeUrlsOf(registry: Registry): readonly string[] {
  const messages = [...registry].filter((type) => type.kind === "message");
  return messages.map((message) => typeUrlFromName(message.typeName)).toSorted();
}
