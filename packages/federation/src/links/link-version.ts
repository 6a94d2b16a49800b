import { createHash } from "node:crypto";

import type { Resource } from "@xdstp/core";

/** What has been followed on the way to a resource: the name, and the version of what was there. */
export interface Step {
  readonly name: string;
  readonly version: string;
}

/**
 * The version of what is answered under another name than its own: over the chain of names and versions and its own version, so that a redirect that moves to a resource of equal version is seen (S-VER-4).
 * A resource without a version has its content in its place.
 */
export function linkVersion(
  steps: readonly Step[],
  name: string,
  { version, payload }: Resource,
): string {
  const content =
    version === ""
      ? digest([payload.typeUrl, Buffer.from(payload.value).toString("base64")])
      : version;
  return digest([...steps.map((step) => [step.name, step.version]), [name, content]]);
}

function digest(content: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 22);
}
