import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { StatusCode, type XdsError } from "@xdstp/core";
import { cutText } from "../text/cut-text.ts";

/** Of `ResourceError`. */
const RESOURCE_NAME = 1;
const ERROR_DETAIL = 2;
/** Of `ResourceName`. */
const NAME = 1;
/** Of `google.rpc.Status`. */
const CODE = 1;
const MESSAGE = 2;

/** Characters of a text that are sent. */
const TEXT = 1_024;

/** A `ResourceError`: why the resource of a name, or a glob as a whole, cannot be given (S-ERR-1, S-ERR-5). What another server said goes on in its words. */
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
 * The error of a resource that is larger than a response may be, for a client that is known to read errors (S-SIZE-4).
 * @param bytes - The size of the resource in a response
 * @param most - The size that would fit
 */
export function tooLarge(bytes: number, most: number): Pick<XdsError, "code" | "text"> {
  return {
    code: "RESOURCE_EXHAUSTED",
    text: `the resource has ${bytes} bytes, and a response of this server has room for ${most}; make the resource smaller, or raise the limit "responseBytes" of the server`,
  };
}
