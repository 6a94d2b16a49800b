import { createHash } from "node:crypto";

/** What has been followed on the way to a resource: the name, and the version of what stood there. */
export interface Step {
  readonly name: string;
  readonly version: string;
}

/** The version of what is answered under another name than its own: over the chain of names and versions and its own version, so that a redirect that moves to a resource of equal version is seen (S-VER-4). */
export function linkVersion(steps: readonly Step[], name: string, version: string): string {
  const chain = [...steps, { name, version }].map((step) => [step.name, step.version]);
  return createHash("sha256").update(JSON.stringify(chain)).digest("base64url").slice(0, 22);
}
