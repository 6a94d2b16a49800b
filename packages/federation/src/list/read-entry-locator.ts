import { fromBinary } from "@bufbuild/protobuf";
import { ResourceLocatorSchema, type Located } from "@xdstp/protos/xds";
import { locatorFromMessage, type Locator } from "@xdstp/uri";

import { locatorOf } from "../links/locator-of.ts";
import { readPlainLocator } from "./read-plain-locator.ts";

const schemes = ["xdstp:", "http:", "file:"].map((scheme) => [...Buffer.from(scheme)]);

/** The locator of an entry of a list, in either of its forms; or what is wrong with it, as a text. */
export function readEntryLocator(bytes: Uint8Array): Locator | string {
  try {
    const plain = isText(bytes) ? undefined : readPlainLocator(bytes);
    const read = plain === undefined ? undefined : locatorFromMessage(plain);
    return read === undefined
      ? locatorOf(located(bytes))
      : read.ok
        ? read.value
        : read.error.message;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** No message begins with the bytes of a scheme (N-82). */
function isText(bytes: Uint8Array): boolean {
  return schemes.some((scheme) => scheme.every((byte, at) => bytes[at] === byte));
}

function located(bytes: Uint8Array): Located {
  if (!isText(bytes)) return { form: "message", message: fromBinary(ResourceLocatorSchema, bytes) };
  return {
    form: "text",
    text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
  };
}
