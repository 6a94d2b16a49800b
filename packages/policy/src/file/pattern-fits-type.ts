import { collectionTypeOf, typeFromTypeUrl } from "@xdstp/uri";

/** Authority and type of a name in canonical spelling, or of its beginning, and what ends the type. */
const typeIn = /^xdstp:\/\/[^/]*\/([^/?*]*)([/?*]?)/;

/** Whether a pattern, as `namePattern` gives it, can match a name that is requested under a type: one of that type, or a list collection of it (B-TYPE-5, B-TYPE-6). Opaque names may have any. */
export function patternFitsType(pattern: string, typeUrl: string): boolean {
  const [, type, end] = typeIn.exec(pattern) ?? [];
  if (type === undefined) return true;
  const own = typeFromTypeUrl(typeUrl);
  if (own === undefined) return false;
  return [own, collectionTypeOf(own)].some((fitting) =>
    end === "*" ? fitting.startsWith(type) : fitting === type,
  );
}
