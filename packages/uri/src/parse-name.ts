import { checkText } from "./check-text.ts";
import { fault } from "./fault.ts";
import { parseResourceParts } from "./parse-resource-parts.ts";
import type { ParseResult, UriError } from "./uri-error.ts";
import type { XdstpName } from "./xdstp-name.ts";

/**
 * Parses an `xdstp://` name (xdstp-names.md section 3).
 *
 * Never throws. Any other text is an opaque name, which is not an error of the protocol: the result then has the code `scheme` (N-01).
 * There is no limit of length (N-21); the time is linear in it.
 */
export function parseName(text: string): ParseResult<XdstpName> {
  if (!text.startsWith("xdstp:")) return reject(fault("scheme", "scheme", text, 0));
  const bad = checkText(text, 6);
  if (bad !== undefined) return reject(bad);
  const hash = text.indexOf("#");
  if (hash !== -1) return reject(fault("fragment-in-name", "directives", text, hash));
  const parts = parseResourceParts(text, 8, text.length);
  if ("code" in parts) return reject(parts);
  const { authority, resourceType, id, contextParams } = parts;
  return { ok: true, value: { scheme: "xdstp", authority, resourceType, id, contextParams } };
}

function reject(error: UriError): ParseResult<never> {
  return { ok: false, error };
}
