import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { StatusCode, type XdsError } from "@xdstp/core";
import { cutText } from "../text/cut-text.ts";

/** Field numbers of `ResourceError`. */
const RESOURCE_NAME = 1;
const ERROR_DETAIL = 2;
/** Field number of `ResourceName`. */
const NAME = 1;
/** Field numbers of `google.rpc.Status`. */
const CODE = 1;
const MESSAGE = 2;

/** The greatest length of a text that is sent, in UTF-16 units. */
const TEXT = 1_024;

/**
 * Encodes a `ResourceError`: why a resource, or a glob as a whole, is not available (S-ERR-1,
 * S-ERR-5). An error of another server keeps the text of that server.
 */
export function encodeResourceError(
  name: string,
  { code, text, context }: Pick<XdsError, "code" | "text"> & Partial<Pick<XdsError, "context">>,
): Uint8Array {
  const status = concatBytes([
    Uint8Array.of(CODE << 3, StatusCode[code]),
    lengthDelimited(MESSAGE, cutText(context?.said ?? text, TEXT)),
  ]);
  return concatBytes([
    lengthDelimited(RESOURCE_NAME, lengthDelimited(NAME, name)),
    lengthDelimited(ERROR_DETAIL, status),
  ]);
}

/**
 * Returns the error of a resource that is larger than a response may be, for a client that is known
 * to read errors (S-SIZE-4).
 * @param bytes - The size of the resource in a response
 * @param most - The size that would fit
 */
export function tooLarge(bytes: number, most: number): Pick<XdsError, "code" | "text"> {
  return {
    code: "RESOURCE_EXHAUSTED",
    text: `the resource has ${bytes} bytes, and a response of this server has room for ${most}; make the resource smaller, or raise the limit "responseBytes" of the server`,
  };
}
