import type { ResourceType } from "@xdstp/core";
import { collectionTypeOf, isGlob, parseLocator, typeFromTypeUrl } from "@xdstp/uri";

import type { JsonValue } from "../grpc/bootstrap.ts";
import { wrongAt, type Place, type Placed } from "../grpc/place.ts";

/** A locator of `dynamic_resources` under a key, or nothing. Throws an XdsError for one that leads to no collection of the type. */
export function readLocator<const Key extends string>(
  key: Key,
  found: Placed<JsonValue> | undefined,
  { typeUrl }: ResourceType,
): Partial<Record<Key, string>> {
  if (found === undefined || found.value === "") return {};
  const { value, place } = found;
  const own = typeFromTypeUrl(typeUrl) ?? "";
  if (typeof value !== "string" || !isCollection(value, own, place))
    throw wrongAt(
      place,
      `is ${JSON.stringify(value)}; give a collection like "xdstp://authority/${own}/*"`,
    );
  return { [key]: value } as Partial<Record<Key, string>>;
}

/** A glob, or a list; it may have directives. */
function isCollection(text: string, type: string, place: Place): boolean {
  const parsed = parseLocator(text);
  if (!parsed.ok)
    throw wrongAt(place, `is not a locator: ${parsed.error.message}`, parsed.error.rule);
  const { value: locator } = parsed;
  return (
    locator.scheme === "xdstp" &&
    (locator.resourceType === collectionTypeOf(type) ||
      (locator.resourceType === type && isGlob(text.replace(/#.*/s, ""))))
  );
}
