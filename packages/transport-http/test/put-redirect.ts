import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import { clusters } from "@xdstp/resource-types/envoy";
import { messageFromLocator, parseLocator } from "@xdstp/uri";

import { type Http, nameOf } from "./use-http.ts";

/** Puts a redirect under the name with this id. */
export function putRedirect(http: Http, id: string, target: string): void {
  const locator = parseLocator(target);
  if (!locator.ok) throw new Error(locator.error.message);
  const json = messageFromLocator(locator.value) as JsonValue;
  const message = fromJson(ResourceLocatorSchema, json);
  http.cache.put({
    typeUrl: clusters.typeUrl,
    name: nameOf(id),
    payloadTypeUrl: "type.googleapis.com/xds.core.v3.ResourceLocator",
    value: toBinary(ResourceLocatorSchema, message),
  });
}
