import { sha256 as digest } from "@noble/hashes/sha2.js";

/**
 * Returns SHA-256 over the bytes, in base64url without padding. Browsers have only a form of it
 * that answers later, and a cache needs the version of a resource at once.
 */
export function sha256(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...digest(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
