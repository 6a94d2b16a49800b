import type { JsonValue, Registry } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { reasonOf } from "./reason-of.ts";

/**
 * A resource as canonical JSON with `@type`, to be shown or written. Fields that the registry does not know are left out.
 *
 * Throws an Error where the type, or that of an Any inside, is not in the registry, the bytes are not that type, or Anys are nested thousands deep.
 */
export function anyToJson(any: Any, registry: Registry): JsonValue {
  try {
    return toJson(AnySchema, any, { registry });
  } catch (cause) {
    throw new Error(`cannot write a resource of type ${any.typeUrl} as JSON: ${reasonOf(cause)}`, {
      cause,
    });
  }
}
