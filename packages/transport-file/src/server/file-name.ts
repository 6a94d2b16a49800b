import { createHash } from "node:crypto";

/** The number of characters of the longest name of a resource in a file name. File systems allow 255 bytes, and there is an extension. */
const maxLength = 200;

/**
 * Returns the file name of a resource, without extension: its name with each byte that is not a letter of ASCII, a digit, `-`, `_` or `.` written as `%HH`, and a dot at the beginning too.
 * A name that is longer than 200 characters then is cut, and ends with a hash of the whole name. Different names have different file names on a file system that distinguishes upper and lower case.
 */
export function fileNameOf(name: string): string {
  const escaped = encodeURIComponent(name.replaceAll(/\p{Surrogate}/gu, "\uFFFD"))
    .replaceAll(/[!'()*~]/g, escape)
    .replace(/^\./, "%2E");
  if (escaped === "") return "%";
  if (escaped.length <= maxLength) return escaped;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return `${escaped.slice(0, maxLength - digest.length - 1)}%${digest}`;
}

function escape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
