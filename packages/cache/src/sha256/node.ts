import { hash } from "node:crypto";

/** Returns SHA-256 over the bytes, in base64url without padding. */
export function sha256(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64url");
}
