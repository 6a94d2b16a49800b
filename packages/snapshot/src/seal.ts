import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

import { XdsError } from "@xdstp/core";

/** Encrypts and opens secrets. */
export interface Seal {
  /** Identifies the key without disclosing it. */
  readonly keyId: string;
  /**
   * @param about - The text that the bytes are bound to, so that they cannot be moved to another
   * name
   */
  seal(bytes: Uint8Array, about: string): Buffer;
  /** Returns `undefined` if the bytes were encrypted with another key, or for another name. */
  open(bytes: Uint8Array, about: string): Buffer | undefined;
}

const NONCE = 12;
const TAG = 16;

/**
 * Creates a seal: AES-256-GCM with a random nonce for each record. Throws INVALID_ARGUMENT if the
 * key does not have 32 bytes.
 */
export function createSeal(key: Uint8Array): Seal {
  if (key.length !== 32)
    throw new XdsError(
      "INVALID_ARGUMENT",
      `the secretKey of a snapshot has ${key.length} bytes; give 32, as randomBytes(32) makes them`,
    );
  return {
    keyId: createHash("sha256")
      .update("xdstp snapshot key\n")
      .update(key)
      .digest("hex")
      .slice(0, 16),
    seal(bytes, about) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(about));
      const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    open(bytes, about) {
      if (bytes.length < NONCE + TAG) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE))
        .setAAD(Buffer.from(about))
        .setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}
