import { fault, type UriFault } from "./uri-error.ts";

/**
 * Checks what holds for any URI after its scheme: the authority marker (N-02), no control
 * characters (N-04), no unpaired surrogates (N-06).
 */
export function checkText(text: string, schemeEnd: number): UriFault | undefined {
  if (!text.startsWith("//", schemeEnd))
    return fault("authority-marker", "authority", text, schemeEnd);
  if (!/[^ -~]/.test(text)) return undefined;
  const control = findControl(text);
  if (control !== -1) return fault("control-character", "text", text, control);
  const unpaired = findSurrogate(text);
  return unpaired === -1 ? undefined : fault("utf8", "text", text, unpaired);
}

function findControl(text: string): number {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x7f) return index;
  }
  return -1;
}

/** Returns the index of the first unpaired surrogate; -1: there is none. */
export function findSurrogate(text: string): number {
  return text.search(/\p{Surrogate}/u);
}

/**
 * Checks keys and values that do not come from a parser: none may have an unpaired surrogate, which
 * would be printed as another character (N-06).
 */
export function checkParams(params: ReadonlyMap<string, string>): UriFault | undefined {
  for (const text of [...params].flat()) {
    const unpaired = findSurrogate(text);
    if (unpaired !== -1) return fault("utf8", "context", text, unpaired);
  }
  return undefined;
}
