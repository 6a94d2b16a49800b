import { fileURLToPath } from "node:url";

/**
 * Returns the path of a file of which an editor has sent the URI. On Windows its drive has a capital letter: editors write both.
 *
 * Other URIs, and those to which no path belongs, stay as they are.
 * @param windows - Whether paths are those of Windows. Default: whether the process runs there
 */
export function fileOf(uri: string, windows: boolean = process.platform === "win32"): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    return fileURLToPath(uri, { windows }).replace(/^[a-z](?=:)/, (drive) => drive.toUpperCase());
  } catch {
    return uri; // Such as file://host/share on other systems than Windows.
  }
}
