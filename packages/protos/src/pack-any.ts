import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, type Any } from "@bufbuild/protobuf/wkt";

/**
 * Returns a message as an `Any`, for fields such as `typedConfig`: `packAny(RouterSchema, {})`.
 * The message is what `create()` returns, or its fields.
 */
export function packAny<Desc extends DescMessage>(
  schema: Desc,
  message: MessageInitShape<Desc>,
): Any {
  return anyPack(schema, create(schema, message));
}
