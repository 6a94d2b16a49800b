import { findSurrogate } from "./check-text.ts";
import { fault } from "./fault.ts";
import type { UriError } from "./uri-error.ts";

/** Keys and values that no parser gave: none may have an unpaired surrogate, which would be printed as another character (N-06). */
export function checkParams(params: ReadonlyMap<string, string>): UriError | undefined {
  for (const text of [...params].flat()) {
    const unpaired = findSurrogate(text);
    if (unpaired !== -1) return fault("utf8", "context", text, unpaired);
  }
  return undefined;
}
