import { nameKey } from "./name-key.ts";

/** Whether two names as received are equal: by their parts for xdstp names, byte for byte for opaque ones (N-40, N-43, N-44). */
export function sameName(a: string, b: string): boolean {
  return a === b || nameKey(a) === nameKey(b);
}
