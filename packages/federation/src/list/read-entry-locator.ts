import { fromBinary } from "@bufbuild/protobuf";
import { ResourceLocatorSchema, type Located } from "@xdstp/protos/xds";
import type { Locator } from "@xdstp/uri";

import { locatorOf } from "../links/locator-of.ts";

const schemes = ["xdstp:", "http:", "file:"];

/** The locator of an entry of a list, in either of its forms; or what is wrong with it, as a text. */
export function readEntryLocator(bytes: Uint8Array): Locator | string {
  try {
    return locatorOf(located(bytes));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** No message begins with the bytes of a scheme (N-82). */
function located(bytes: Uint8Array): Located {
  const start = String.fromCharCode(...bytes.subarray(0, 6));
  const isText = schemes.some((scheme) => start.startsWith(scheme));
  if (!isText) return { form: "message", message: fromBinary(ResourceLocatorSchema, bytes) };
  return { form: "text", text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
}
